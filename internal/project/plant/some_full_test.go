//go:build full

package plant_test

func some[T any](values ...T) []T { return values }
