package probe

import "runtime"

// HostInfo describes the machine that the tool runs on.
type HostInfo struct {
	OS, Arch    string
	Kernel      string // empty where it can't be read
	CPUModel    string // likewise
	CPUs        int    // that this process may use
	MemoryBytes int64  // 0 where it can't be read
}

// DescribeHost reads what the operating system tells about the machine.
func DescribeHost() HostInfo {
	h := HostInfo{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	describeHost(&h)
	return h
}
