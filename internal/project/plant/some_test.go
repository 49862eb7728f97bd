//go:build !full

package plant_test

// some returns the first of the values, which stands for all of them: tier full
// has time for the rest.
func some[T any](values ...T) []T { return values[:1] }
