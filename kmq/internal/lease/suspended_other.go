//go:build !linux && !darwin

package lease

func suspended() int64 { return 0 }
