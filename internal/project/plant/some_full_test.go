//go:build full

package plant_test

// some returns the values, all of them.
func some[T any](values ...T) []T { return values }
