//go:build full

package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestUpStatusDown(t *testing.T) {
	home := testHome(t)
	// Ends the cluster if this process is killed.
	startHelper(t, "watchdog", home)
	t.Cleanup(func() { _ = home.Down(context.Background(), DefaultName) })
	ctx := testContext(t)

	_, err := home.Status(ctx, DefaultName)
	wantError(t, err, ErrNotUp, "cluster up")
	wantError(t, home.Down(ctx, DefaultName), ErrNotUp)

	up, _, stdout := startHelper(t, "up", home)
	line, _ := stdout.ReadString('\n')
	if err := up.Wait(); err != nil {
		t.Fatalf("up: %v: %s", err, line)
	}

	found, err := home.Find(ctx, DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if info := found.Info(); info.Kind != KindKafka || info.Version != KafkaVersion || info.Brokers != 1 || len(info.Settings) == 0 {
		t.Errorf("Info() = %+v", info)
	}
	_, topic := testTopic(t, found, "long-lived", 1, 1)
	produce(t, found, topic.Name, "still here")
	if err := found.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if removed, err := home.Reap(ctx, nil); err != nil || len(removed) != 0 {
		t.Errorf("Reap() = %v, %v; a long-lived cluster has no owner to outlive", removed, err)
	}
	status, err := home.Status(ctx, DefaultName)
	if err != nil || status.Problem != nil || len(status.Brokers) != 1 || !status.Brokers[0].Alive {
		t.Errorf("Status() = %+v, %v", status, err)
	}
	_, err = home.Up(ctx, DefaultName, KafkaOptions{})
	wantError(t, err, ErrAlreadyUp, found.Bootstrap()[0], "cluster down")

	wantDownOnce(t, home, found)
}

func wantDownOnce(t *testing.T, home Home, n *Named) {
	t.Helper()
	processes := n.Processes()
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		wg.Go(func() { errs[i] = home.Down(testContext(t), DefaultName) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !errors.Is(err, ErrNotUp) {
			t.Errorf("Down() = %v", err)
		}
	}
	if done != 1 {
		t.Errorf("%d of %d commands ended the cluster", done, len(errs))
	}
	for _, p := range processes {
		if _, err := identify(p.PID); err == nil {
			t.Errorf("broker %d still runs", p.ID)
		}
	}
	wantEmpty(t, home)
}

func TestNamedClusterThatDied(t *testing.T) {
	home := Home{Clusters: t.TempDir()}
	ctx := testContext(t)
	dir := filepath.Join(home.Clusters, namedFolder("gone"))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	process := bystander(t) // has the PID of a broker that no longer runs
	r := record{Version: recordVersion, Name: "gone", State: stateUp, Brokers: []brokerRecord{{ID: 1, Port: 1}}}
	if err := errors.Join(writeJSON(filepath.Join(dir, recordName), r), writeJSON(pidPath(dir, 1), process)); err != nil {
		t.Fatal(err)
	}

	status, err := home.Status(ctx, "gone")
	if err != nil || status.Brokers[0].Alive {
		t.Errorf("Status() = %+v, %v", status, err)
	}
	wantError(t, status.Problem, ErrUnreachable, "broker 1", "has died", "cluster down")
	_, err = home.Find(ctx, "gone")
	wantError(t, err, ErrUnreachable, "has died")
	if err := home.Down(ctx, "gone"); err != nil {
		t.Errorf("Down() = %v", err)
	}
	if !process.running() {
		t.Error("Down killed a process that is no broker")
	}
	wantEmpty(t, home)
}
