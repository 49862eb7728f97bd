package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

func TestNamesOfClustersThatAreUp(t *testing.T) {
	home := Home{Clusters: t.TempDir()}
	for name, state := range map[string]string{"mine": stateUp, "other": stateUp, "owned": stateOwned} {
		dir := filepath.Join(home.Clusters, namedFolder(name))
		text := fmt.Sprintf(`{"version": %d, "name": %q, "state": %q}`, recordVersion, name, state)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, recordName), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(home.Clusters, namedFolder("begun")), 0o755); err != nil {
		t.Fatal(err)
	}
	if names := home.Names(); !slices.Equal(names, []string{"mine", "other"}) {
		t.Errorf("the clusters are %v, want mine and other", names)
	}
}
