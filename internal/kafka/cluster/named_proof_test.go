//go:build proof

package cluster

import (
	"context"
	"os"
	"testing"
)

func TestKeepAndUpAgain(t *testing.T) {
	home, ctx, disks := testHome(t), testContext(t), []string{t.TempDir(), t.TempDir()}
	t.Chdir(disks[0]) // the first Up has a relative path, and the second runs in another folder
	relative := []string{".", disks[1]}
	startHelper(t, "watchdog", home)
	t.Cleanup(func() { _ = home.Down(context.Background(), DefaultName) })
	first, err := home.Up(ctx, DefaultName, KafkaOptions{Disks: relative, HeapBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, topic := testTopic(t, first, "kept", 4, 1)
	produce(t, first, topic.Name, "still here")
	if err := home.Keep(ctx, DefaultName); err != nil {
		t.Fatal(err)
	}
	_, err = home.Status(ctx, DefaultName)
	wantError(t, err, ErrNotUp, "data are kept", "cluster up", "cluster down")
	if removed, err := home.Reap(ctx, nil); err != nil || len(removed) != 0 {
		t.Errorf("Reap() = %v, %v", removed, err)
	}
	_, err = home.Up(ctx, DefaultName, KafkaOptions{Brokers: 3})
	wantError(t, err, ErrInput, "was kept", "brokers: 1")

	if _, err = home.Up(ctx, DefaultName, KafkaOptions{JVM: []string{"-XX:Nonsense"}}); err == nil {
		t.Fatal("brokers start with a nonsensical option")
	}

	t.Chdir(disks[1]) // the options that failed are not kept
	again, err := home.Up(ctx, DefaultName, KafkaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Info().ID != first.Info().ID || again.Bootstrap()[0] != first.Bootstrap()[0] ||
		again.record.HeapBytes != 256<<20 {
		t.Errorf("%+v at %v, and it was %+v at %v", again.Info(), again.Bootstrap(), first.Info(), first.Bootstrap())
	}
	if got := consume(t, again, topic.Name, 1); got["still here"] != 1 {
		t.Errorf("consumed %v", got)
	}
	if err := home.Down(ctx, DefaultName); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, home)
	for _, disk := range disks {
		if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
			t.Errorf("%v is left on a disk, %v", left, err)
		}
	}
}
