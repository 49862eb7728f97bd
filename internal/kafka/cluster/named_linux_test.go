package cluster

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// An interrupt while the brokers end must leave the record of a kept cluster: Up removes the data of one that only died.
func TestKeptIsRecordedBeforeItsBrokersEnd(t *testing.T) {
	home := testHome(t)
	dir, seen := filepath.Join(home.Clusters, namedFolder("a")), filepath.Join(t.TempDir(), "seen")
	path := layout{dir: dir}.recordPath()
	broker := exec.Command("sh", "-c", `trap 'cp "$0" "$1"; exit' TERM; echo ready; while :; do sleep 0.02; done`, path, seen)
	out, err := broker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := broker.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	t.Cleanup(func() { _ = broker.Process.Kill(); <-ended })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // the trap is set
		t.Error(err)
	}
	go func() { ended <- broker.Wait() }()
	id, err := identify(broker.Process.Pid)
	r := record{
		Version: recordVersion, Name: "a", State: stateUp, Brokers: []brokerRecord{{ID: 1}},
		Options: &recordOptions{Brokers: 1},
	}
	if err := errors.Join(err, os.MkdirAll(dir, 0o755), writeJSON(path, r), writeJSON(pidPath(dir, 1), id)); err != nil {
		t.Fatal(err)
	}
	if err := home.Keep(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	var then record
	if err := readJSON(seen, &then); err != nil || then.State != stateKept {
		t.Errorf("when its broker was told to end, the cluster was recorded as %q, %v", then.State, err)
	}
}
