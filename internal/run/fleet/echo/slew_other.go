//go:build !linux

package echo

func machineSlew() int64 { return 0 }
