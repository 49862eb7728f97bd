//go:build proof

package cluster

import (
	"testing"
	"time"
)

func TestBrokerEndsWithItsOwner(t *testing.T) {
	home := testHome(t)
	owner, broker := startOwner(t, "owner", home)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if !broker.waitGone(time.Minute) {
		t.Error("a broker outlived its owner")
	}
	if removed, err := home.Reap(testContext(t), nil); err != nil || len(removed) != 1 {
		t.Errorf("Reap() removed %v, %v; want the folder", removed, err)
	}
	wantEmpty(t, home)
}
