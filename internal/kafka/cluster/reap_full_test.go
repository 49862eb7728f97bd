//go:build full

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestReapAfterCrash(t *testing.T) {
	home := testHome(t)
	owner, orphan := startOwner(t, "orphaning owner", home)
	if removed, err := home.Reap(testContext(t), nil); err != nil || len(removed) != 0 {
		t.Fatalf("Reap() removed %v of a living owner, %v", removed, err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if !orphan.running() {
		t.Error("the orphan did not survive; Reap has nothing to prove")
	}
	removed, err := home.Reap(testContext(t), nil)
	if err != nil || len(removed) != 1 {
		t.Errorf("Reap() removed %v, %v; want the folder", removed, err)
	}
	if orphan.running() {
		t.Error("the orphan still runs")
	}
	wantEmpty(t, home)
}

func startOwner(t *testing.T, part string, home Home) (owner *exec.Cmd, broker identity) {
	t.Helper()
	owner, _, stdout := startHelper(t, part, home)
	var dir string
	var pid int
	if _, err := fmt.Fscan(stdout, &dir, &pid); err != nil {
		t.Fatalf("the owner did not start its cluster: %v", err)
	}
	broker, err := readPID(pidPath(dir, 1))
	if err != nil || broker.PID != pid {
		t.Fatalf("pid file: %+v, %v; want PID %d", broker, err, pid)
	}
	t.Cleanup(func() { _ = broker.end(0) })
	return owner, broker
}

func fakeCluster(t *testing.T, home Home, state string, broker identity) string {
	t.Helper()
	dir := filepath.Join(home.Clusters, randomFolder())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := record{Version: recordVersion, State: state, Brokers: []brokerRecord{{ID: 1, Port: 1}}}
	if err := errors.Join(writeJSON(filepath.Join(dir, recordName), r), writeJSON(pidPath(dir, 1), broker)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func bystander(t *testing.T, args ...string) identity {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperVariable+"=bystander:")
	c, err := startChild(cmd, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c.identity
}

func TestReapSparesOthers(t *testing.T) {
	home := Home{Clusters: t.TempDir()}
	process := bystander(t)
	dead := fakeCluster(t, home, stateOwned, process) // a PID that is now another program
	reused := fakeCluster(t, home, stateOwned, identity{PID: process.PID, Started: "1"})
	up := fakeCluster(t, home, stateUp, process)
	kept := fakeCluster(t, home, stateKept, process)
	owned := fakeCluster(t, home, stateOwned, process)
	lock, err := tryLock(filepath.Join(owned, ownerName))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.unlock()
	foreign := filepath.Join(home.Clusters, "notes")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}

	if _, err := home.Reap(testContext(t), nil); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{dead, reused} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of a dead owner: %v", err)
		}
	}
	for _, dir := range []string{up, kept, owned, foreign} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a folder that is not an orphan: %v", err)
		}
	}
	if !process.running() {
		t.Error("Reap killed a process that is no broker")
	}
}

func TestReapKillsWhatRunsInTheFolder(t *testing.T) {
	home := Home{Clusters: t.TempDir()}
	dir := fakeCluster(t, home, stateOwned, identity{})
	broker := bystander(t, filepath.Join(dir, "broker-1.properties"))
	if err := writeJSON(pidPath(dir, 1), broker); err != nil {
		t.Fatal(err)
	}
	// Another cluster's folder whose name begins with the same text.
	neighbour := bystander(t, dir+"0/broker-1.properties")
	if err := writeJSON(pidPath(dir, 2), neighbour); err != nil {
		t.Fatal(err)
	}
	if removed, err := home.Reap(testContext(t), nil); err != nil || len(removed) != 1 {
		t.Errorf("Reap() = %v, %v", removed, err)
	}
	if broker.running() {
		t.Error("the orphan still runs")
	}
	if !neighbour.running() {
		t.Error("Reap killed the broker of another cluster")
	}
}

func TestReapFolderWithoutRecord(t *testing.T) {
	home := Home{Clusters: t.TempDir()}
	dir := filepath.Join(home.Clusters, randomFolder())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if removed, err := home.Reap(testContext(t), nil); err != nil || len(removed) != 1 {
		t.Errorf("Reap() = %v, %v; want the half-made folder", removed, err)
	}
}
