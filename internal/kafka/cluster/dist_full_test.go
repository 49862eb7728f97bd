//go:build full

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestResolveOnceForAll(t *testing.T) {
	fakeMaven(t, copyJars+`; sleep 0.3; echo x >> "$(dirname $0)/calls"`)
	home := Home{Dist: t.TempDir()}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			dist, err := home.KafkaDist(testContext(t), "", nil)
			if err != nil {
				t.Error(err)
			} else if err := dist.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	path, err := FindMaven()
	if err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(filepath.Join(filepath.Dir(path), "calls"))
	if err != nil || string(calls) != "x\n" {
		t.Errorf("Maven ran %d times, %v", strings.Count(string(calls), "x"), err)
	}
}
