package probe

import "runtime"

// HostInfo describes the machine that the tool runs on.
type HostInfo struct {
	OS, Arch    string
	Kernel      string // may be empty
	CPUModel    string // may be empty
	CPUs        int    // that this process may use
	MemoryBytes int64  // 0 if unknown
}

// DescribeHost reads what the operating system reports about the machine.
func DescribeHost() HostInfo {
	h := HostInfo{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	describeHost(&h)
	return h
}
