//go:build proof

package plant_test

func some[T any](values ...T) []T { return values }
