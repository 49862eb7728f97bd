//go:build !linux

package probe

// ReadTuning knows nothing on this operating system.
func ReadTuning() Tuning { return Tuning{} }

// AvailableMemory returns nil on this operating system.
func AvailableMemory() *int64 { return nil }
