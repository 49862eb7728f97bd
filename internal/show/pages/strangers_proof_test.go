//go:build proof

package pages_test

import "testing"

func TestStrangersFiles(t *testing.T) {
	for seed := range uint64(2550) {
		checkStranger(t, seed)
	}
}
