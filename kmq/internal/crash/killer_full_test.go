//go:build full

package crash

import (
	"context"
	"errors"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// D7: a record ends each process that handles it, while others are handled and before the process commits. It becomes a
// dead letter after at most MaxDeliveries + 1 deliveries, no other record does, and all others are handled.
func TestAProcessKillerOnKafka(t *testing.T) {
	t.Parallel()
	const records, killer, most = 20, 7, 3
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := way{name: "killer", engine: offsetMapEngine}
	v := newWorldOf(t, clustertest.Shared(t), 1, w, 1, func(s *queueSpec) { s.MaxDeliveries = most })
	if err := v.produce(ctx, records); err != nil {
		t.Fatal(err)
	}
	deaths := 0
	p := v.handler(killer)
	for !v.areSettled(ctx) {
		if !p.ended(50 * time.Millisecond) {
			continue
		}
		if deaths++; p.cmd.ProcessState.ExitCode() != killedByHandler || deaths > most+1 {
			t.Fatalf("death %d: %v", deaths, p)
		}
		p = v.handler(killer)
	}
	if err := errors.Join(p.close(), v.dead.sync(ctx)); err != nil {
		t.Error(err)
	}
	if dead := v.dead.records[0]; len(dead) != 1 || numberOf(dead[0].Value) != killer {
		t.Errorf("dead letters: %v", dead)
	}
	if n := len(v.book.fate(killer).deliveries); n < most || n > most+1 || n != deaths {
		t.Errorf("the killer was delivered %d times, %d processes died:%s", n, deaths, v.book.story(killer))
	}
	if at, err := v.committed(ctx, v.spec.Group, v.spec.Topic); err != nil || at[0].At != records {
		t.Errorf("committed %v of %d, %v", at, records, err)
	}
	if len(v.book.wrong) > 0 {
		t.Errorf("wrong: %q", v.book.wrong)
	}
}

func (v *world) handler(killer int) *process {
	v.t.Helper()
	spec := v.child("handler")
	spec.Role, spec.Killer, spec.Workers, spec.Work = roleHandler, killer, 10, 300*time.Millisecond
	return start(v.t, spec)
}

// areSettled reports whether each record was handled or is a dead letter.
func (v *world) areSettled(ctx context.Context) bool {
	v.t.Helper()
	if err := errors.Join(v.book.read(), v.dead.sync(ctx)); err != nil {
		v.t.Fatal(err)
	}
	settled := len(v.dead.records[0])
	for n := range int(v.produced.Load()) {
		if v.book.processed(n) {
			settled++
		}
	}
	return settled >= int(v.produced.Load())
}
