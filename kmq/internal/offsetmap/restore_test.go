package offsetmap

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

func TestRestore(t *testing.T) {
	cfg := testConfig()
	w := filled(cfg, 4096, 6)
	defer w.halt()
	leases := w.receive(4)
	must(t, w.Ack(ctx, leases[1]))
	must(t, w.Ack(ctx, leases[2]))
	must(t, w.Nack(ctx, leases[3], 0))
	w.receive(1)
	w.commitAll()
	if w.committed[0].At != 0 {
		t.Fatalf("committed %v", w.committed[0])
	}
	must(t, w.Ack(ctx, leases[0]))

	w.halt()
	w.open(cfg, 4096)
	w.assign(0)
	w.poll()
	want := []string{"0/0 for the 2. time", "0/3 for the 3. time", "0/4 for the 1. time", "0/5 for the 1. time"}
	if got := describe(w.receive(10)); !slices.Equal(got, want) {
		t.Fatalf("received %v, want %v", got, want)
	}

	// This record killed its process too often.
	w.commitAll()
	w.halt()
	cfg.MaxDeliveries = 3
	w.open(cfg, 4096)
	w.assign(0)
	w.commitAll()
	w.halt()
	w.open(cfg, 4096)
	w.assign(0)
	w.poll()
	w.moveBatch(ctx)
	want = []string{"0/0 for the 3. time", "0/4 for the 2. time", "0/5 for the 2. time"}
	if got := describe(w.receive(10)); !slices.Equal(got, want) {
		t.Fatalf("received %v, want %v", got, want)
	}
	if len(w.deadLetters()) != 1 || header(w.deadLetters()[0], lease.HeaderDeliveries) != "3" {
		t.Fatalf("dead letters %v", w.deadLetters())
	}

	// Deleted records that were delivered are missing; others are not.
	w.commitAll()
	w.halt()
	w.open(cfg, 4096)
	w.logs[0] = w.logs[0][5:]
	w.assign(0)
	w.poll()
	if w.counted().Missing != 2 {
		t.Fatalf("%d missing, want 0/0 and 0/4", w.counted().Missing)
	}
	w.one(t, "0/5", 3)
	w.commitAll()
	if w.committed[0].At != 5 {
		t.Fatalf("committed %v", w.committed[0])
	}
}

func TestCorrupt(t *testing.T) {
	w := filled(testConfig(), 4096, 5)
	defer w.halt()
	leases := w.receive(5)
	for _, l := range leases[2:] {
		must(t, w.Ack(ctx, l))
	}
	w.commitAll()
	good := w.committed[0]
	for name, committed := range map[string]member.Offset{
		"damaged": {At: good.At, Metadata: good.Metadata[1:]},
		"moved":   {At: good.At + 1, Metadata: good.Metadata},
		"foreign": {At: good.At, Metadata: "by hand"},
	} {
		w.halt()
		w.log.Reset()
		w.open(w.cfg, 4096)
		w.committed[0] = committed
		w.assign(0)
		w.poll()
		if got, want := len(w.receive(10)), int(5-committed.At); got != want {
			t.Errorf("%s: %d records are delivered, want %d", name, got, want)
		}
		if !strings.Contains(w.log.String(), "level=WARN") || !strings.Contains(w.log.String(), "partition=0") {
			t.Errorf("%s: logged %q", name, w.log.String())
		}
	}
}

// Logs name partitions of the retry topic as the cluster does.
func TestRetryPartitionsInTheLog(t *testing.T) {
	w := newWorld(testConfig(), 4096)
	defer w.halt()
	retry := lease.Retry(1)
	w.committed[retry] = member.Offset{At: 3, Metadata: "damaged"}
	w.assign(retry)
	w.h.Deleted(retry, 3, 5)
	if log := w.log.String(); strings.Count(log, "partition=1 ") != 2 || strings.Count(log, "watched="+retryTopic) != 2 {
		t.Error(log)
	}
}
