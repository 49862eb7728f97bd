package cluster

import (
	"testing"
)

func TestNames(t *testing.T) {
	home := Home{Clusters: t.TempDir()}
	for _, name := range []string{"", "-x", "../x", "A", "a b", "a/b", "123456789012345678901234567890123"} {
		_, err := home.Find(testContext(t), name)
		wantError(t, err, ErrInput, "lower-case")
		wantError(t, home.Down(testContext(t), name), ErrInput)
	}
	_, err := home.Find(testContext(t), "three-brokers")
	wantError(t, err, ErrNotUp)
}
