package probe

import "time"

// HostCounts is what the machine's devices have done since it booted, for all processes, and the state of its page
// cache.
type HostCounts struct {
	Disks    map[string]DiskCounts // whole disks, by name
	Networks map[string]NetCounts  // by interface, including loopback
	// PageCacheBytes is the page cache, and DirtyBytes the part of it that is not yet written to disk; nil if unknown.
	PageCacheBytes, DirtyBytes *int64
	// IOStalled is how long at least one task waited for a disk (pressure stall information); nil if unknown.
	IOStalled *time.Duration
}

// DiskCounts is what one disk has done since the machine booted.
type DiskCounts struct {
	ReadBytes, WrittenBytes int64
	BusyMs                  int64 // time with at least one request in progress
	QueuedMs                int64 // sum over requests of their time in progress, weighted as the kernel does
	Requests                int64 // completed requests
	RequestsMs              int64 // sum of their times
	// Physical reports whether the disk is a device of its own, not one built from other disks or from memory. Only the
	// traffic of physical disks can be added up.
	Physical bool
}

// NetCounts is the traffic of one network interface.
type NetCounts struct{ ReceivedBytes, SentBytes int64 }
