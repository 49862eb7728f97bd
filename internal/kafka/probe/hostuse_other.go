//go:build !linux

package probe

import "errors"

// ReadHost is not offered by this operating system.
func ReadHost() (HostCounts, error) {
	return HostCounts{}, errors.New("the traffic of disks and networks is only read on Linux")
}

// DirtyBytes is not offered by this operating system.
func DirtyBytes() *int64 { return nil }

// DiskOf is not offered by this operating system.
func DiskOf(string) string { return "" }

// NetworkCapacity is not offered by this operating system.
func NetworkCapacity(string) *float64 { return nil }

// AllowedCores is not offered by this operating system.
func AllowedCores(int) *float64 { return nil }
