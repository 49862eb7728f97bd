package probe

import "time"

// HostCounts is what the machine's devices have done since it booted, and the state of its page cache.
type HostCounts struct {
	Disks    map[string]DiskCounts // whole disks, by name
	Networks map[string]NetCounts  // by interface, including loopback
	// PageCacheBytes is the page cache, and DirtyBytes its part that is not yet written to disk; nil if unknown.
	PageCacheBytes, DirtyBytes *int64
	// IOStalled is how long at least one task waited for a disk (pressure stall information); nil if unknown.
	IOStalled *time.Duration
}

// DiskCounts is what one disk has done since the machine booted.
type DiskCounts struct {
	ReadBytes, WrittenBytes int64
	BusyMs                  int64 // time with at least one request in progress
	QueuedMs                int64 // sum over requests of their time in progress, weighted as the kernel does
	Requests                int64
	RequestsMs              int64 // sum of their times
	// Physical reports whether the disk is not built from other disks or from memory: only then its traffic can be
	// added up.
	Physical bool
}

// NetCounts is the traffic of one network interface.
type NetCounts struct{ ReceivedBytes, SentBytes int64 }
