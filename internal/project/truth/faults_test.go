package truth

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// Members send a heartbeat each third of the session timeout.
const (
	killRate    = 250
	killWindow  = 14
	killSession = 6 * time.Second
	killedAt    = 3 * time.Second
	startedAt   = 8 * time.Second
)

// The killed consumer's partitions are not read until the session expires, uncommitted records come
// twice, and nothing is lost.
func TestKilledConsumer(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r, left := killedOn(t, c, "killed")
		wantDuplicates(t, r, left)
		kill, start := r.Run.Faults[0], r.Run.Faults[1]
		wantCount(t, "the kill, in ns", kill.StartNs, int64(killedAt))
		wantCount(t, "the start, in ns", start.StartNs, int64(startedAt))
		wantCount(t, "duplicates", r.Run.Delivery.Duplicates, left)
		// The brokers count from the last heartbeat, and the other member learns of the kill with
		// its next heartbeat. The first record that waits is due soon after the kill.
		wantBetween(t, "the longest e2e response time", r.Run.Time["e2e_response_time"].MaxNs,
			killSession*2/3-100*time.Millisecond, killSession*4/3)
	})
}

// Only records that a killed consumer got and did not commit came twice.
func wantDuplicates(t *testing.T, r *result.Recorded, uncommitted int64) {
	t.Helper()
	wantCount(t, "processed", r.Run.Time["processed_response_time"].Count, r.Run.Load.Scheduled)
	got := r.Run.Delivery.Duplicates // the answer to a commit may have been cut off
	if got < 1 || got > uncommitted {
		t.Errorf("%d duplicates, and %d records had not been committed", got, uncommitted)
	}
	wantWarning(t, r, fmt.Sprintf("%d deliveries were duplicates, as is to be expected after a kill: what consumer 1", got))
	if r.Run.Consumer.Rebalances == 0 {
		t.Error("no rebalance was counted")
	}
}

// killedOn also returns the number of delivered, uncommitted records that the run reports.
func killedOn(
	t *testing.T, c cluster.Cluster, name string, overrides ...string,
) (r *result.Recorded, uncommitted int64) {
	t.Helper()
	s := smallScenario(t, name, append(overrides, fmt.Sprintf("load.rate=%d/s", killRate), "topic.partitions=4",
		"consume.consumers=2", "consume.commit=1s", fmt.Sprintf("consume.session_timeout=%v", killSession),
		"consume.work=200us", fmt.Sprintf("phases.measure=%ds", killWindow),
		fmt.Sprintf("faults=[{at: %v, kill: consumer 1}, {at: %v, start: consumer 1}]", killedAt, startedAt))...)
	r = run(t, config(t, c, s))
	wantValid(t, r)
	wantBalance(t, r)
	wantSeries(t, r)
	wantHistograms(t, r)
	wantCount(t, "scheduled", r.Run.Load.Scheduled, killRate*killWindow)
	wantCount(t, "unique", r.Run.Delivery.Unique, killRate*killWindow)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	if !r.Run.Lag.Drained {
		t.Error("the run has not drained")
	}
	kill := wantKill(t, r, killedAt, startedAt)
	words := strings.Fields(strings.ReplaceAll(kill.Detail, ",", ""))
	at := slices.Index(words, "committed")
	if at < 0 || at+1 == len(words) {
		t.Fatalf("the fault's detail is %q", kill.Detail)
	}
	if _, err := fmt.Sscan(words[at+1], &uncommitted); err != nil {
		t.Error(err)
	}
	return r, uncommitted
}

// wantKill returns the kill of consumer 1. Neither the kill nor the start came before these times.
func wantKill(t *testing.T, r *result.Recorded, killed, started time.Duration) result.Fault {
	t.Helper()
	if len(r.Run.Faults) != 2 {
		t.Fatalf("the faults are %+v, want two", r.Run.Faults)
	}
	kill, start := r.Run.Faults[0], r.Run.Faults[1]
	if kill.Name != "kill" || kill.Target != "consumer 1" || kill.StartNs < int64(killed) ||
		kill.EndNs == nil || *kill.EndNs != start.StartNs {
		t.Errorf("the kill is %+v", kill)
	}
	if start.Name != "start" || start.Target != "consumer 1" || start.StartNs < int64(started) || start.EndNs != nil {
		t.Errorf("the start is %+v", start)
	}
	for _, f := range r.Run.Faults {
		if e := event(r, "fault", f.Name+" consumer 1"); e == nil || e.AtNs != f.StartNs {
			t.Errorf("the event of %s is %+v", f.Name, e)
		}
	}
	if e := event(r, "consumer", kill.Detail); e == nil || kill.Detail == "" {
		t.Errorf("no event says %q", kill.Detail)
	}
	var text bytes.Buffer
	err := report.Text(&text, r, report.Options{})
	if err != nil || !strings.Contains(text.String(), "as is to be expected after a kill") {
		t.Errorf("the report (%v):\n%s", err, &text)
	}
	return kill
}

// A run that is interrupted before the group notices a killed consumer is saved at once.
func TestInterruptAfterAKill(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "killed", "consume.consumers=2", "phases.measure=1m",
			"faults=[{at: 200ms, kill: consumer 0}, {at: 50s, start: consumer 0}]")
		r := run(t, interruptIn(config(t, c, s), "measure", 700*time.Millisecond))
		wantInterrupted(t, r)
		wantValid(t, r)
		wantBalance(t, r)
		wantCount(t, "lost", r.Run.Delivery.Lost, 0)
		if len(r.Run.Faults) != 1 || r.Run.Delivery.Pending == 0 {
			t.Errorf("the faults are %+v, and %d records are pending; want the kill, and some",
				r.Run.Faults, r.Run.Delivery.Pending)
		}
		wantNoTopics(t, c)
	})
}

func TestDriverThatCannotKill(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "killed", "faults=[{at: 200ms, kill: consumer 0}]")
		cfg := withDriver(config(t, c, s), &stalled{}) // its consumers have only the required methods
		_, err := tryRun(cfg)
		if err == nil || !strings.Contains(err.Error(), "kill consumer 0 at 200ms: the driver stalled cannot kill") {
			t.Errorf("the error is %v", err)
		}
		wantNothingLeft(t, c, cfg.Out)
	})
}
