//go:build !linux

package probe

import "errors"

// ReadHost always fails on this operating system.
func ReadHost() (HostCounts, error) {
	return HostCounts{}, errors.New("the traffic of disks and networks is only read on Linux")
}

// DirtyBytes returns nil on this operating system.
func DirtyBytes() *int64 { return nil }

// DiskOf returns "" on this operating system.
func DiskOf(string) string { return "" }

// NetworkCapacity returns nil on this operating system.
func NetworkCapacity(string) *float64 { return nil }

// AllowedCores returns nil on this operating system.
func AllowedCores(int) *float64 { return nil }
