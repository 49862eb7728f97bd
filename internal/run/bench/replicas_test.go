package bench

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// watching returns a watch on a window of so many seconds that begins in a second, in
// virtual time.
func watching(t *testing.T, window time.Duration) (*replicaWatch, *listener) {
	t.Helper()
	writer, err := result.Create(t.TempDir(), "replicas", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	axis := load.NewAxis(nil)
	j := newJournal(axis, writer, l)
	j.setAxis(time.Second, window)
	return &replicaWatch{axis: axis, journal: j, minInSync: 2}, l
}

// partitions of three replicas each, by leader and how many are in sync.
func partitions(each ...[2]int32) (all []probe.PartitionReplicas) {
	for _, p := range each {
		all = append(all, probe.PartitionReplicas{Leader: p[0], Replicas: 3, InSync: int(p[1])})
	}
	return all
}

// What a look shows counts until the next one, as far as that is in the window.
func TestReplicaWatchAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, l := watching(t, 10*time.Second)
		const s = int64(time.Second)
		for _, look := range []struct {
			at  int64
			all []probe.PartitionReplicas
		}{
			{-s / 2, partitions([2]int32{1, 3}, [2]int32{2, 2})}, // 0.5 s of it is warm-up
			{s / 2, partitions([2]int32{1, 3}, [2]int32{2, 3})},
			{3 * s, partitions([2]int32{-1, 1}, [2]int32{2, 2})},
			{4 * s, partitions([2]int32{3, 1}, [2]int32{2, 2})},
			{6 * s, partitions([2]int32{3, 2}, [2]int32{2, 2})},
			{7 * s, partitions([2]int32{3, 3}, [2]int32{2, 3})},
			{9 * s, partitions([2]int32{1, 2}, [2]int32{2, 3})},
			{12 * s, partitions([2]int32{1, 3}, [2]int32{3, 3})}, // the end, 10 s, was between
		} {
			w.take(look.all, look.at)
		}
		got, known := w.shown()
		want := replication{
			under: 5500 * time.Millisecond, underMin: 3 * time.Second, leaderless: time.Second,
			changes: 2, sparsest: 3 * s, syncedNs: 12 * s, inSync: true,
		}
		if !known || got != want {
			t.Errorf("it has %+v, want %+v", got, want)
		}
		for _, told := range []string{
			"broker: leader of partition 0: broker 1 → 3", "broker: leader of partition 0: broker 3 → 1",
			"broker: 2 of 2 partitions are under-replicated (at worst 1 of 3 in sync, below min.insync.replicas of 2)", "broker: all replicas are in sync again",
		} {
			if !slices.ContainsFunc(l.said, func(said string) bool { return strings.HasSuffix(said, told) }) {
				t.Errorf("it did not tell %q but %q", told, l.said)
			}
		}
	})
}

// acknowledged is a sending side that was closed, and has nothing but gaps.
func acknowledged(gaps ...snapshot.Gaps) *remote.Producers {
	ps := remote.ProducersOf(nil, closing{gaps: gaps})
	ps.Close()
	return ps
}

type closing struct {
	remote.Part
	gaps []snapshot.Gaps
}

func (c closing) Close(context.Context) (snapshot.Snapshot, error) {
	return snapshot.Snapshot{Last: &snapshot.Last{AckGaps: c.gaps}}, nil
}

// During lasts until everything is in sync again and every gap that began by then is
// over; a gap that comes later is another matter.
func TestBrokenUntilAllIsAsBefore(t *testing.T) {
	const s = int64(time.Second)
	kill := result.Fault{Name: "kill", Target: "leader of partition 0", Hit: "broker 2", StartNs: 5 * s}
	back, late := 8*s, 25*s
	killed, killedForLong := kill, kill
	killed.EndNs, killedForLong.EndNs = &back, &late
	restarted := result.Fault{Name: "restart", Target: "broker 1", StartNs: 5 * s, EndNs: &back}
	gaps := func(all ...snapshot.Gap) []snapshot.Gaps { return []snapshot.Gaps{{All: all}} }
	never := replication{inSync: true, syncedNs: -1 << 62}
	for _, test := range []struct {
		name     string
		faults   []result.Fault
		shown    replication
		gaps     []snapshot.Gaps
		from, to int64
		known    bool
	}{
		{name: "no fault", shown: never},
		{name: "of a consumer", shown: never, faults: []result.Fault{{Name: "kill", Target: "consumer 1", StartNs: s}}},
		{"until the acknowledgement", []result.Fault{killed}, never, gaps(snapshot.Gap{FromNs: 4 * s, ToNs: 9 * s}), 5 * s, 9 * s, true},
		{"until in sync", []result.Fault{restarted}, replication{inSync: true, syncedNs: 11 * s}, gaps(snapshot.Gap{FromNs: 5 * s, ToNs: 6 * s}), 5 * s, 11 * s, true},
		{"until it serves", []result.Fault{restarted}, never, nil, 5 * s, 8 * s, true},
		{"never in sync", []result.Fault{killed}, replication{syncedNs: 2 * s}, nil, 5 * s, 20 * s, true},
		{"never back, and not missed yet", []result.Fault{kill}, never, gaps(snapshot.Gap{FromNs: 5 * s, ToNs: 9 * s}), 5 * s, 20 * s, true},
		{"back behind the window", []result.Fault{killedForLong}, never, nil, 5 * s, 20 * s, true},
		{"of which one never came back", []result.Fault{restarted, {Name: "pause", Target: "broker 3", StartNs: 6 * s}}, never, nil, 5 * s, 20 * s, true},
		{"a start of itself", []result.Fault{killed, {Name: "start", Target: "broker 2", StartNs: 7 * s}}, never, nil, 5 * s, 8 * s, true},
		{"gaps before and after", []result.Fault{restarted}, never, gaps(snapshot.Gap{FromNs: 1 * s, ToNs: 2 * s}, snapshot.Gap{FromNs: 12 * s, ToNs: 13 * s}), 5 * s, 8 * s, true},
	} {
		r := &run{axis: load.NewAxis(nil), injected: test.faults, producers: acknowledged(test.gaps...)}
		r.axis.Set(0, 20*time.Second)
		if from, to, known := r.broken(test.shown); from != test.from || to != test.to || known != test.known {
			t.Errorf("%s: broken from %d to %d (%v), want %d to %d (%v)", test.name, from, to, known, test.from, test.to, test.known)
		}
	}
}

func TestLostRecordsHaveACause(t *testing.T) {
	r := &run{injected: []result.Fault{{Name: "kill", Target: "leader of partition 0", Hit: "broker 2"}, {Name: "pause", Target: "broker 3"}}}
	for acks, want := range map[string]string{
		"all": "LOST, which acks all should not let happen when broker 2 and broker 3 fails", "1": "with acks 1 only the leader had them", "0": "with acks 0 nobody",
	} {
		r.cfg.Scenario.Load.Acks = acks
		if got := r.lostWarning(); !strings.Contains(got, want) {
			t.Errorf("acks %s: %q, want %q in it", acks, got, want)
		}
	}
	r.injected = nil
	if got := r.lostWarning(); got != "%s acknowledged records were lost" {
		t.Errorf("without a fault: %q", got)
	}
}

// A partition that stood still is told of where nobody asked for it, and not where a
// gate holds records back.
func TestLongGapIsAWarning(t *testing.T) {
	const s = int64(time.Second)
	gap := snapshot.Gap{FromNs: 3 * s, ToNs: 3*s + 1_500e6}
	r := &run{axis: load.NewAxis(nil), producers: acknowledged(snapshot.Gaps{}, snapshot.Gaps{All: []snapshot.Gap{gap}})}
	r.axis.Set(0, 20*time.Second)
	if got := r.warningsOfTheAcks(); len(got) != 1 || !strings.HasPrefix(got[0], "partition 1 had no acknowledgement for 1.5 s, from 3.0 s on") {
		t.Errorf("it warns %q", got)
	}
	r.cfg.Scenario.Backpressure.Controller = "credit"
	if got := r.warningsOfTheAcks(); len(got) > 0 {
		t.Errorf("under backpressure it warns %q", got)
	}
	r.cfg.Scenario.Backpressure.Controller = "off"
	r.producers = acknowledged(snapshot.Gaps{All: []snapshot.Gap{{FromNs: s, ToNs: s + 900e6}}})
	if got := r.warningsOfTheAcks(); len(got) > 0 {
		t.Errorf("of 0.9 s it warns %q", got)
	}
}
