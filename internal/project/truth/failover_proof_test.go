//go:build proof

package truth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/outcome"
)

// The brokers' session timeout is longer than a stall. Otherwise a controller that is frozen
// together with a broker would fence it when both wake up. The timeout is short, because the
// controller notices a kill only when it expires.
const session = 4500 * time.Millisecond

var shortSession = map[string]string{
	"broker.heartbeat.interval.ms": "500",
	"broker.session.timeout.ms":    fmt.Sprint(session.Milliseconds()),
}

func failover(t *testing.T, name, faults string, window time.Duration, overrides ...string) scenario.Scenario {
	t.Helper()
	return smallScenario(t, name, append([]string{
		"cluster.brokers=3", "topic.partitions=3", "topic.replication=3", "topic.config={min.insync.replicas: \"2\"}",
		"load.rate=500/s", "load.producers=1", "load.acks=all", "load.idempotent=true",
		"consume.consumers=1", "phases.warmup=2s", "phases.drain=30s",
		fmt.Sprintf("phases.measure=%s", window), "faults=" + faults,
	}, overrides...)...)
}

// A run leaves all three brokers running, or broken starts them again.
func TestFailover(t *testing.T) {
	k := clustertest.Own(t, 3, shortSession)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *cluster.Kafka)
	}{
		{"kill with acks all", testKilledLeader},
		{"kill with acks 1", testKilledLeaderOfAcks1},
		{"pause", testPausedLeader},
		{"rolling restart", testRollingRestart},
		{"kill for good", testLeaderGone},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, k)
			if len(k.Processes()) != 3 || k.Broken() {
				t.Errorf("the run left %d brokers, broken: %v", len(k.Processes()), k.Broken())
			}
			wantNoTopics(t, k)
		})
	}
}

func TestOnlyBrokerGone(t *testing.T) {
	k := clustertest.Own(t, 1, shortSession)
	wantOutage(t, k, failover(t, "broker-gone", "[{at: 3s, kill: broker 1}]", 12*time.Second,
		"cluster.brokers=1", "topic.replication=1", unreplicated, "phases.drain=2s"))
}

func testLeaderGone(t *testing.T, k *cluster.Kafka) {
	wantOutage(t, k, failover(t, "leader-gone", "[{at: 3s, kill: leader of partition 0}]", 12*time.Second,
		"topic.replication=1", unreplicated, "phases.drain=2s"))
}

// unreplicated overrides settings that need replicated partitions.
const unreplicated = "topic.config={min.insync.replicas: \"1\"}"

// The window ends before the client gives a record up. The measurement is valid and the system
// unavailable. The time lag grows by the time between two readings, because the oldest undelivered
// record stays.
func wantOutage(t *testing.T, k *cluster.Kafka, s scenario.Scenario) {
	t.Helper()
	r, _ := broken(t, k, s, nil)
	system := *r.Run.System
	if r.Run.Verdict.Status != result.Valid { // only because of a busy machine, as broken checks
		judged := r.Run
		judged.Verdict.Status = result.Valid
		system = outcome.Of(&judged)
	}
	if system.Status != result.Unavailable {
		t.Errorf("the system is %q: %q", system.Status, system.Findings)
	}
	if a := r.Run.Availability; !a.BrokenToEnd {
		t.Errorf("the broker came back: %+v", a)
	}
	killed, grown := r.Run.Faults[0].StartNs, 0
	for i, iv := range r.Intervals {
		if i == 0 || r.Intervals[i-1].ReadToNs < killed+1e9 || iv.Phase != "measure" {
			continue
		}
		before := r.Intervals[i-1]
		off := iv.TimeLagNs - before.TimeLagNs - (iv.ReadToNs - before.ReadToNs)
		if off > iv.ReadSpanNs || -off > before.ReadSpanNs {
			t.Errorf("until %v the time lag grew from %v to %v, in %v", time.Duration(iv.EndNs),
				time.Duration(before.TimeLagNs), time.Duration(iv.TimeLagNs), time.Duration(iv.ReadToNs-before.ReadToNs))
		}
		grown++
	}
	if grown < 50 { // of 80 intervals of 100 ms
		t.Errorf("the time lag was compared %d times", grown)
	}
}

// Under acks all, nothing is lost or unknown, and the longest gap in acks agrees with a witness.
func testKilledLeader(t *testing.T, k *cluster.Kafka) {
	s := failover(t, "killed-leader", "[{at: 3s, kill: leader of partition 0, for: 6s}]", noEnd)
	r, w := broken(t, k, s, synced)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	wantCount(t, "failed", r.Run.Load.Failed, 0)
	wantCount(t, "unknown", r.Run.Load.Unknown, 0)
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Scheduled)
	wantGaps(t, r, w)
	a := r.Run.Availability
	// The controller misses the broker from its last heartbeat, at most half a second ago; then the
	// client must find the new leader.
	if gap := time.Duration(a.AckGapMaxNs); gap < session-700*time.Millisecond || gap > session+8*time.Second {
		t.Errorf("no acknowledgement for %v, where a broker's session is %v", gap, session)
	}
	if a.UnderReplicatedS == nil || *a.UnderReplicatedS <= 0 || a.LeaderChanges == nil || *a.LeaderChanges < 1 {
		t.Errorf("the replicas: %+v", a)
	}
	kill, start := r.Run.Faults[0], r.Run.Faults[1]
	if !strings.HasPrefix(kill.Hit, "broker ") || start.Name != "start" || start.Target != kill.Hit || kill.EndNs == nil || *kill.EndNs < start.StartNs {
		t.Errorf("the faults: %+v", r.Run.Faults)
	}
	if lost := event(r, "broker", "leader of partition 0: "+kill.Hit+" →"); lost == nil || lost.AtNs < kill.StartNs {
		t.Errorf("the leader's change: %+v", lost)
	} else if fmt.Sprint("broker ", lost.Data["leader_before"]) != kill.Hit || lost.Data["leader"] == nil {
		t.Errorf("the leader's change has the data %v", lost.Data)
	}
	wantStretches(t, r)
	wantBrokersOf(t, r, kill.Hit)
}

func wantBrokersOf(t *testing.T, r *result.Recorded, killed string) {
	t.Helper()
	var under, last int64
	ran, missed := 0, 0
	for _, iv := range r.Intervals {
		if (iv.UnderReplicated == nil) != (iv.Leaderless == nil) || iv.Host == nil || iv.Host.DiskWritten == nil {
			t.Fatalf("until %d: replicas %v and %v, host %+v", iv.EndNs, iv.UnderReplicated, iv.Leaderless, iv.Host)
		}
		if iv.UnderReplicated != nil { // otherwise no broker answered in time
			last = *iv.UnderReplicated
			under = max(under, last)
		}
		switch len(iv.Brokers) {
		case 3:
			ran++
		case 2:
			missed++
		default:
			t.Errorf("until %d there are %d brokers", iv.EndNs, len(iv.Brokers))
		}
		for _, b := range iv.Brokers {
			is := fmt.Sprint("broker ", b.ID) == killed
			if b.RSSBytes == nil && !is || b.RSSBytes != nil && *b.RSSBytes <= 0 {
				t.Errorf("until %d: broker %d has no memory", iv.EndNs, b.ID)
			}
			if len(iv.Brokers) == 2 && is {
				t.Errorf("until %d %s is there, and another is not", iv.EndNs, killed)
			}
		}
	}
	if under == 0 || last != 0 || ran == 0 || missed == 0 {
		t.Errorf("at most %d partitions were under-replicated, %d in the end; all brokers ran in %d intervals, and one was missing in %d",
			under, last, ran, missed)
	}
}

// Lost records are counted and reported, and the run stays valid.
func testKilledLeaderOfAcks1(t *testing.T, k *cluster.Kafka) {
	s := failover(t, "killed-leader", "[{at: 2s, kill: leader of partition 0, for: 6s}]", 12*time.Second,
		"load.acks=1", "load.idempotent=false", "load.rate=2000/s")
	r, w := broken(t, k, s, nil)
	wantGaps(t, r, w)
	if lost := r.Run.Delivery.Lost; lost > 0 {
		wantWarning(t, r, fmt.Sprintf("%d acknowledged records were lost when %s failed: with acks 1", lost, r.Run.Faults[0].Hit))
	}
}

// Within the session, no leader changes and nothing is acknowledged.
func testPausedLeader(t *testing.T, k *cluster.Kafka) {
	const paused = 3 * time.Second
	r, w := broken(t, k, failover(t, "paused-leader", "[{at: 2s, pause: leader of partition 1, for: 3s}]", 8*time.Second), nil)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	wantGaps(t, r, w)
	gaps := r.Run.Availability.AckGaps
	at := slices.IndexFunc(gaps, func(g result.AckGap) bool { return g.Partition == 1 })
	if gap := time.Duration(gaps[at].ToNs - gaps[at].FromNs); gap < paused-100*time.Millisecond || gap > paused+2*time.Second {
		t.Errorf("no acknowledgement for %v, where the leader was paused for %v", gap, paused)
	}
	pause := r.Run.Faults[0]
	if pause.EndNs == nil || time.Duration(*pause.EndNs-pause.StartNs) < paused || *r.Run.Availability.LeaderChanges != 0 {
		t.Errorf("the pause was %+v, with %d leader changes", pause, *r.Run.Availability.LeaderChanges)
	}
	wantStretches(t, r)
}

// A rolling restart stops the next broker only when the one before is in sync again.
func testRollingRestart(t *testing.T, k *cluster.Kafka) {
	r, w := broken(t, k, failover(t, "rolling", "[{at: 1s, restart: every broker}]", noEnd), restarted)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Scheduled)
	wantGaps(t, r, w)
	a := r.Run.Availability
	if *a.LeaderChanges < 1 || *a.UnderReplicatedS <= 0 || *a.UnderMinISRS > 0.5 {
		t.Errorf("%d leader changes, %v s under-replicated and %v s under the least", *a.LeaderChanges, *a.UnderReplicatedS, *a.UnderMinISRS)
	}
	serving, inSync := 0, true
	for _, e := range r.Events {
		switch {
		case e.Kind != "broker":
		case strings.HasSuffix(e.What, "is stopped"):
			if !inSync {
				t.Errorf("at %v %s, while replicas were missing", time.Duration(e.AtNs), e.What)
			}
			inSync = false
		case synced(e):
			inSync = true
		case strings.HasSuffix(e.What, "serves again"):
			serving++
		}
	}
	if r.Run.Faults[0].EndNs == nil || serving != 3 {
		t.Errorf("%d brokers were restarted, and the fault is %+v", serving, r.Run.Faults[0])
	}
}

// noEnd is the window of a run that an event ends, however long the brokers take.
const noEnd = time.Hour

func synced(e result.Event) bool {
	return e.Kind == "broker" && e.What == "all replicas are in sync again"
}

func restarted(e result.Event) bool {
	return e.Kind == "broker" && strings.Contains(e.What, "brokers were restarted and in sync again")
}

// The run ends three seconds after the first event for which end is true; with nil, no event ends
// it.
func broken(t *testing.T, k *cluster.Kafka, s scenario.Scenario, end func(result.Event) bool) (*result.Recorded, *witness) {
	t.Helper()
	w := newWitness()
	cfg := withDriver(config(t, k, s), w.watch(franz.New()))
	if end != nil {
		cfg = interruptAt(cfg, end, 3*time.Second)
	}
	r := run(t, cfg)
	if end != nil { // an interrupted run does not restart its brokers
		if err := k.Heal(context.Background()); err != nil {
			t.Error(err)
		}
	}
	wantValid(t, r)
	wantBalance(t, r)
	wantSeries(t, r)
	if len(r.Run.Faults) == 0 || r.Run.Availability == nil {
		t.Fatalf("the faults are %+v, the availability %+v", r.Run.Faults, r.Run.Availability)
	}
	wantPairs(t, r)
	for _, f := range r.Run.Faults {
		t.Logf("%s %s (%s) at %v: %s", f.Name, f.Target, f.Hit, time.Duration(f.StartNs), f.Detail)
	}
	a := r.Run.Availability
	t.Logf("longest gap %v; lost %d, duplicates %d, failed %d, unknown %d; verdict %s %q", time.Duration(a.AckGapMaxNs),
		r.Run.Delivery.Lost, r.Run.Delivery.Duplicates, r.Run.Load.Failed, r.Run.Load.Unknown, r.Run.Verdict.Status, r.Run.Verdict.Warnings)
	return r, w
}

func wantPairs(t *testing.T, r *result.Recorded) {
	t.Helper()
	gone, ends := make(map[any]bool), 0
	for _, e := range r.Events {
		state := e.Data["state"]
		switch {
		case e.Kind == "broker" && state != nil:
			if id := e.Data["broker"]; gone[id] == (state == "stopped") {
				t.Errorf("at %v %q, and it was gone before: %v", time.Duration(e.AtNs), e.What, gone[id])
			} else {
				gone[id] = !gone[id]
			}
		case e.Kind == "fault" && e.Data["name"] == scenario.Restart && state == "end":
			ends++
		}
	}
	for _, f := range r.Run.Faults {
		if f.Name == scenario.Restart && f.EndNs != nil {
			ends--
		}
	}
	if ends != 0 {
		t.Errorf("%+d events of the end of a restart", ends)
	}
}

// A gap begins when a record begins to wait. At this rate that is within milliseconds of the last
// ack.
func wantGaps(t *testing.T, r *result.Recorded, w *witness) {
	t.Helper()
	const tolerance = 150 * time.Millisecond
	heard := w.longestSilences()
	var worst time.Duration
	for _, g := range r.Run.Availability.AckGaps {
		gap := time.Duration(g.ToNs - g.FromNs)
		worst = max(worst, gap)
		if off := heard[g.Partition] - gap; heard[g.Partition] > time.Second && (off < -tolerance || off > tolerance) {
			t.Errorf("partition %d had no acknowledgement for %v, and the witness heard none for %v", g.Partition, gap, heard[g.Partition])
		}
	}
	if worst != time.Duration(r.Run.Availability.AckGapMaxNs) {
		t.Errorf("the longest gap is %v, and of the partitions %v", time.Duration(r.Run.Availability.AckGapMaxNs), worst)
	}
	if len(r.Run.Availability.AckGaps) != len(heard) {
		t.Errorf("%d partitions have a gap, of %d", len(r.Run.Availability.AckGaps), len(heard))
	}
}

// longestSilences returns the longest times between two acks of measured records, by partition.
func (w *witness) longestSilences() map[int32]time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := make(map[int32][]time.Time)
	for id, s := range w.settled {
		if s.outcome == driver.Acked {
			at[id.partition] = append(at[id.partition], s.at)
		}
	}
	longest := make(map[int32]time.Duration)
	for p, times := range at {
		slices.SortFunc(times, time.Time.Compare)
		for i := range times[1:] {
			longest[p] = max(longest[p], times[i+1].Sub(times[i]))
		}
	}
	return longest
}

func wantStretches(t *testing.T, r *result.Recorded) {
	t.Helper()
	a := r.Run.Availability
	if a.Before == nil || a.During == nil || a.After == nil {
		t.Fatalf("before %+v, during %+v, after %+v", a.Before, a.During, a.After)
	}
	if a.Before.StartNs != 0 || a.Before.EndNs != a.During.StartNs || a.During.EndNs != a.After.StartNs {
		t.Errorf("before ends at %d, during is %d to %d, after begins at %d", a.Before.EndNs, a.During.StartNs, a.During.EndNs, a.After.StartNs)
	}
	// A record may have waited for an ack when the fault came.
	longest := slices.MaxFunc(a.AckGaps, func(a, b result.AckGap) int { return cmp.Compare(a.ToNs-a.FromNs, b.ToNs-b.FromNs) })
	if first := r.Run.Faults[0].StartNs; a.During.StartNs > first || a.During.EndNs < longest.ToNs {
		t.Errorf("during is %d to %d, the fault came at %d, and the longest gap is %+v", a.During.StartNs, a.During.EndNs, first, longest)
	}
	const metric = "e2e_response_time"
	var counted int64
	for _, s := range []*result.Stretch{a.Before, a.During, a.After} {
		counted += s.Time[metric].Count
	}
	if all := r.Run.Time[metric].Count; counted != all {
		t.Errorf("the stretches have %d times, the run %d", counted, all)
	}
	if after := a.After.Time[metric]; after.MaxNs >= a.AckGapMaxNs {
		t.Errorf("after: %+v, as long as the longest gap, %d", after, a.AckGapMaxNs)
	}
	if during := a.During.Time[metric]; during.MaxNs < r.Run.Time[metric].MaxNs*999/1000 || during.P99Ns <= a.After.Time[metric].P50Ns {
		t.Errorf("during: %+v; of the run the longest is %d", during, r.Run.Time[metric].MaxNs)
	}
}
