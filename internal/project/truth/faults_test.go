package truth

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// testKilledConsumer kills one of two consumers and starts it again. Its partitions
// rest until Kafka misses it; what it had not committed comes twice, and nothing is
// lost.
func testKilledConsumer(t *testing.T) {
	r, left := killedRun(t, "killed")
	wantCount(t, "processed", r.Run.Time["processed_response_time"].Count, r.Run.Load.Scheduled)
	// The answer to a commit may have been cut off.
	if got := r.Run.Delivery.Duplicates; got < 1 || got > left {
		t.Errorf("%d duplicates, where %d records had not been committed", got, left)
	}
	wantWarning(t, r, fmt.Sprintf("%d deliveries were duplicates, as is to be expected after a kill: what consumer 1", r.Run.Delivery.Duplicates))
	if r.Run.Consumer.Rebalances == 0 {
		t.Error("no rebalance was counted")
	}
}

// killedRun makes a run in which one of two consumers is killed and started again, and
// wants nothing of it to be lost. uncommitted is what it says that was handed over and
// not committed.
func killedRun(t *testing.T, name string, overrides ...string) (r *result.Recorded, uncommitted int64) {
	t.Helper()
	const rate, window = 1000, 14
	s := smallScenario(t, name, append(overrides, fmt.Sprintf("load.rate=%d/s", rate), "topic.partitions=4",
		"consume.consumers=2", "consume.commit=1s", "consume.session_timeout=6s", "consume.work=200us",
		"faults=[{at: 3s, kill: consumer 1}, {at: 8s, start: consumer 1}]", fmt.Sprintf("phases.measure=%ds", window))...)
	r = run(t, config(t, realKafka(t), s))
	wantValid(t, r)
	wantBalance(t, r)
	wantSeries(t, r)
	wantHistograms(t, r)
	wantCount(t, "scheduled", r.Run.Load.Scheduled, rate*window)
	wantCount(t, "unique", r.Run.Delivery.Unique, rate*window)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	if !r.Run.Lag.Drained {
		t.Error("the run has not drained")
	}
	kill := wantKill(t, r, 3*time.Second, 8*time.Second)
	// The broker counts from the last heartbeat, which was 2 s ago at the most; the
	// first record that waited for it was due within a few ms.
	if waited := time.Duration(r.Run.Time["e2e_response_time"].MaxNs); waited < 3900*time.Millisecond || waited > 11*time.Second {
		t.Errorf("the longest e2e response time is %v, and the session timeout 6s", waited)
	}
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

// wantKill fails the test unless a run has, of consumer 1, a kill and a start at
// these times, in its result and in its events. It returns the kill.
func wantKill(t *testing.T, r *result.Recorded, killed, started time.Duration) result.Fault {
	t.Helper()
	if len(r.Run.Faults) != 2 {
		t.Fatalf("the faults are %+v, want two", r.Run.Faults)
	}
	soon := func(at int64, planned time.Duration) bool {
		return at >= int64(planned) && at < int64(planned+300*time.Millisecond)
	}
	kill, start := r.Run.Faults[0], r.Run.Faults[1]
	if kill.Name != "kill" || kill.Target != "consumer 1" || !soon(kill.StartNs, killed) || kill.EndNs == nil || *kill.EndNs != start.StartNs {
		t.Errorf("the kill is %+v", kill)
	}
	if start.Name != "start" || start.Target != "consumer 1" || !soon(start.StartNs, started) || start.EndNs != nil {
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
	if err := report.Text(&text, r, report.Options{}); err != nil || !strings.Contains(text.String(), "as is to be expected after a kill") {
		t.Errorf("the report (%v):\n%s", err, &text)
	}
	return kill
}

// TestInterruptAfterAKill ends a run whose killed consumer has not been missed yet:
// it is saved at once, and what it did not deliver is pending and not lost.
func TestInterruptAfterAKill(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	s := smallScenario(t, "killed", "consume.consumers=2", "phases.measure=1m",
		"faults=[{at: 200ms, kill: consumer 0}, {at: 50s, start: consumer 0}]")
	began := time.Now()
	r := run(t, interruptIn(config(t, c, s), "measure", 700*time.Millisecond))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the run went on for %v", took)
	}
	wantInterrupted(t, r)
	wantValid(t, r)
	wantBalance(t, r)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	if len(r.Run.Faults) != 1 || r.Run.Delivery.Pending == 0 {
		t.Errorf("the faults are %+v, and %d records are pending; want the kill, and some", r.Run.Faults, r.Run.Delivery.Pending)
	}
	wantNoTopics(t, c)
}

// TestDriverThatCannotKill: a run that its driver can't make does not begin.
func TestDriverThatCannotKill(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	s := smallScenario(t, "killed", "faults=[{at: 200ms, kill: consumer 0}]")
	cfg := withDriver(config(t, c, s), &stalled{}) // its consumers have no more than they must
	_, err := tryRun(cfg)
	if err == nil || !strings.Contains(err.Error(), "kill consumer 0 at 200ms: the driver stalled cannot kill") {
		t.Errorf("the error is %v", err)
	}
	wantNothingLeft(t, c, cfg.Out)
}
