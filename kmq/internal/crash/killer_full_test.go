//go:build full

package crash

import (
	"context"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// D7: a record ends each process that handles it, before the process commits. It becomes a dead letter after at most
// MaxDeliveries + 1 deliveries, no other record does, and all others are handled.
func TestAProcessKillerOnKafka(t *testing.T) {
	t.Parallel()
	const records, killer, most = 20, 7, 3
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	v := newWorldOf(t, clustertest.Shared(t), 1, way{name: "killer", engine: offsetMapEngine}, 1, func(s *queueSpec) { s.MaxDeliveries = most })
	if err := v.produce(ctx, records); err != nil {
		t.Fatal(err)
	}
	deaths := 0
	p := v.handler(killer)
	for !v.isSettled(ctx, killer) {
		if !p.ended(50 * time.Millisecond) {
			continue
		}
		if deaths++; p.cmd.ProcessState.ExitCode() != killedByHandler || deaths > most+1 {
			t.Fatalf("death %d: %v", deaths, p)
		}
		p = v.handler(killer)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if err := v.dead.sync(ctx); err != nil {
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
	spec.Role, spec.Killer = roleHandler, killer
	return start(v.t, spec)
}

// isSettled reports whether there is a dead letter, and all other records were handled.
func (v *world) isSettled(ctx context.Context, killer int) bool {
	v.t.Helper()
	if err := v.book.read(); err != nil {
		v.t.Fatal(err)
	}
	if err := v.dead.sync(ctx); err != nil {
		v.t.Fatal(err)
	}
	for n := range int(v.produced.Load()) {
		if n != killer && !v.book.processed(n) {
			return false
		}
	}
	return len(v.dead.records[0]) > 0
}
