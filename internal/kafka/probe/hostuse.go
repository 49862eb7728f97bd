package probe

import "time"

// HostCounts is what the machine's devices have done since it booted, all processes
// together, and how its page cache stands.
type HostCounts struct {
	Disks    map[string]DiskCounts // whole disks, by name
	Networks map[string]NetCounts  // by interface, loopback among them
	// PageCacheBytes is what the kernel keeps of files, DirtyBytes what of it is still to
	// be written to disk; nil where it does not tell.
	PageCacheBytes, DirtyBytes *int64
	// IOStalled is for how long some task or other could not go on for want of a disk
	// (pressure stall information); nil where the kernel does not tell.
	IOStalled *time.Duration
}

// DiskCounts is what one disk has done.
type DiskCounts struct {
	ReadBytes, WrittenBytes int64
	BusyMs                  int64 // in which a request was under way
	QueuedMs                int64 // the same for each request that was, in sum
	Requests                int64 // that were done, in
	RequestsMs              int64 // from their start, in sum
	// Physical is that the disk is a device of its own, and neither made of other disks nor
	// of memory: the traffic of such disks can be added up.
	Physical bool
}

// NetCounts is what one network interface has carried.
type NetCounts struct{ ReceivedBytes, SentBytes int64 }
