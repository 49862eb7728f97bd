//go:build !proof

package plant_test

// some returns only the first value; tier proof has time for all.
func some[T any](values ...T) []T { return values[:1] }
