//go:build full

package plant_test

// some returns all values.
func some[T any](values ...T) []T { return values }
