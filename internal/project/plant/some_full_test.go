//go:build full

package plant_test

// All values.
func some[T any](values ...T) []T { return values }
