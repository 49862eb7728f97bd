package observe

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

func watching(t *testing.T, window time.Duration) (*Replicas, *listener) {
	t.Helper()
	writer, err := result.Create(t.TempDir(), "replicas", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	axis := load.NewAxis(nil)
	j := NewJournal(axis, writer, l)
	j.SetAxis(time.Second, window)
	return &Replicas{axis: axis, journal: j, minInSync: 2}, l
}

type listener struct {
	said []string
	data []map[string]any
}

func (l *listener) Began(string)             {}
func (l *listener) Interval(result.Interval) {}
func (l *listener) Event(e result.Event) {
	l.said, l.data = append(l.said, e.Kind+": "+e.What), append(l.data, e.Data)
}

func partitions(each ...[2]int32) (all []probe.PartitionReplicas) {
	for _, p := range each {
		all = append(all, probe.PartitionReplicas{Leader: p[0], Replicas: 3, InSync: int(p[1])})
	}
	return all
}

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
		got := *w.Shown()
		want := judge.Replicas{
			Under: 5500 * time.Millisecond, UnderMin: 3 * time.Second, Leaderless: time.Second,
			LeaderChanges: 2, SparsestNs: 3 * s, SyncedNs: 12 * s, InSync: true, MinInSync: 2,
		}
		if got != want {
			t.Errorf("it has %+v, want %+v", got, want)
		}
		leader := func(before, after int32) map[string]any {
			return map[string]any{"partition": 0, "leader_before": before, "leader": after}
		}
		under := func(partitions int) map[string]any { return map[string]any{"under_replicated": partitions} }
		for _, told := range []struct {
			what string
			data map[string]any
		}{
			{"leader of partition 0: broker 1 → 3", leader(1, 3)}, {"leader of partition 0: broker 3 → 1", leader(3, 1)},
			{"2 of 2 partitions are under-replicated (at worst 1 of 3 in sync, below min.insync.replicas of 2)", under(2)},
			{"all replicas are in sync again", under(0)},
		} {
			if i := slices.Index(l.said, "broker: "+told.what); i < 0 || !reflect.DeepEqual(l.data[i], told.data) {
				t.Errorf("it did not tell %q with %v, but %q with %v", told.what, told.data, l.said, l.data)
			}
		}
		w.take(partitions([2]int32{-1, 1}, [2]int32{2, 2}, [2]int32{3, 3}), 13*s)
		// The reading at 13 s is known in its interval, and in intervals that end within two
		// periods of it.
		w.every = 2 * time.Second
		for _, test := range []struct {
			from, to int64
			known    bool
		}{
			{12 * s, 19 * s, true}, {14 * s, 17 * s, true}, {14 * s, 17*s + 1, false}, {20 * s, 21 * s, false},
		} {
			under, leaderless := w.lacking(test.from, test.to)
			switch {
			case (under != nil) != test.known || (leaderless != nil) != test.known:
				t.Errorf("from %d to %d: %v and %v, want them known: %v", test.from, test.to, under, leaderless, test.known)
			case test.known && (*under != 2 || *leaderless != 1):
				t.Errorf("%d partitions are under-replicated and %d have no leader, want 2 and 1", *under, *leaderless)
			}
		}
	})
}
