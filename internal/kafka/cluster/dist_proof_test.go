//go:build proof

package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	home := Home{Dist: t.TempDir()}
	var told []string
	progress := func(s string) { told = append(told, s) }
	dist, err := home.KafkaDist(testContext(t), "", progress)
	if err != nil {
		t.Fatal(err)
	}
	if err := dist.Verify(); err != nil {
		t.Errorf("a fresh copy: %v", err)
	}
	for _, jar := range []string{"log4j-slf4j-impl-2.25.4.jar", "slf4j-api-1.7.36.jar", "log4j-core-2.25.4.jar"} {
		if _, err := os.Stat(filepath.Join(dist.Lib(), jar)); err != nil {
			t.Errorf("the broker would not log: %v", err)
		}
	}
	if inLib, _ := filepath.Glob(filepath.Join(dist.Lib(), "*agent*")); len(inLib) != 0 {
		t.Errorf("the agent is on the broker's classpath: %v", inLib)
	}
	if again, err := home.KafkaDist(testContext(t), "", progress); err != nil || again != dist || len(told) != 1 {
		t.Errorf("the second call: %v, %v; told %q", again, err, told)
	}
}
