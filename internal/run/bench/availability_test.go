package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// What came after begins when everything has arrived that was due while something was
// broken: what was held back is no part of a cluster that is whole.
func TestDividedAtTheFaults(t *testing.T) {
	const s = int64(time.Second)
	window := func(oldest ...int64) (all tallies) {
		for i, due := range oldest {
			all = append(all, tally{startNs: int64(i) * s, endNs: int64(i+1) * s, oldestDue: due})
		}
		return all
	}
	none := snapshot.NothingDue
	for _, test := range []struct {
		name         string
		all          tallies
		from, to     int64
		first, after int
	}{
		{"nothing waits", window(none, none, none, none, none), 1*s + 1, 2*s + 1, 1, 3},
		{"it ends with an interval", window(none, none, none, none), 1 * s, 2 * s, 1, 2},
		{"it waits in the backlog", window(none, s, s, 2*s, 4*s, 5*s), 1 * s, 3 * s, 1, 5},
		{"records of one partition never came", window(none, s, s, s), 1 * s, 2 * s, 1, 4},
		{"the last moment", window(none, none), 2 * s, 2 * s, 2, 2},
		{"no window", nil, 1 * s, 2 * s, 0, 0},
	} {
		if first, after := test.all.divide(test.from, test.to); first != test.first || after != test.after {
			t.Errorf("%s: during is %d to %d, want %d to %d", test.name, first, after, test.first, test.after)
		}
	}
}

// The times of a stretch are without the warm-up's records, and those of the last one
// with the records that arrived behind the window.
func TestTimesOfTheStretches(t *testing.T) {
	path := filepath.Join(t.TempDir(), result.HistogramsFile)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	log := latency.NewLogWriter(file, time.Now())
	write := func(second int, measured bool, records int64) {
		h := latency.NewHistogram()
		h.RecordN(int64(time.Millisecond), records)
		at := time.Duration(second) * time.Second
		if err := log.Write(at, at+time.Second, latency.Tag(measured, latency.E2EResponseTime), h); err != nil {
			t.Fatal(err)
		}
	}
	write(-1, false, 1000)
	write(0, false, 100) // was on its way when the warm-up ended
	write(0, true, 1)
	write(1, true, 2)
	write(2, true, 4)
	write(3, true, 8)  // the drain
	write(4, true, 16) // likewise
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	at := func(second int64) tallies {
		return tallies{{startNs: second * 1e9, endNs: (second + 1) * 1e9}}
	}
	for _, test := range []struct {
		name  string
		parts []tallies
		want  []int64
	}{
		{"all three", []tallies{at(0), at(1), at(2)}, []int64{1, 2, 28}},
		{"it was not over by the end", []tallies{at(0), append(at(1), at(2)...), nil}, []int64{1, 30, 0}},
		{"from the start", []tallies{nil, append(at(0), at(1)...), at(2)}, []int64{0, 3, 28}},
		{"no interval", []tallies{nil, nil, nil}, []int64{0, 0, 0}},
	} {
		times, err := timesOf(path, test.parts...)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if got := times[i]["e2e_response_time"].Count; got != want || len(times[i]) > 1 {
				t.Errorf("%s: part %d has %d times, want %d: %v", test.name, i, got, want, times[i])
			}
		}
	}
}

// silent is a group that has nothing but gaps.
func silent(gaps ...snapshot.Gaps) *remote.Consumers {
	return remote.ConsumersOf(fakePart{stand: func(remote.Want) snapshot.Snapshot {
		return snapshot.Snapshot{Last: &snapshot.Last{DeliveryGaps: [][]snapshot.Gaps{gaps}}}
	}}, receive.Config{}, remote.Opened{})
}

// The cost of a fault is the longest gap that it has a part in; one before it is told
// apart.
func TestGapsOfTheFaults(t *testing.T) {
	const s = int64(time.Second)
	back := 9 * s
	r := &run{
		axis: load.NewAxis(nil), replicas: &replicaWatch{seen: replication{inSync: true, syncedNs: -1 << 62}},
		injected: []result.Fault{{Name: "kill", Target: "broker 3", StartNs: 7 * s, EndNs: &back}},
		producers: acknowledged(
			snapshot.Gaps{All: []snapshot.Gap{{FromNs: 2 * s, ToNs: 5 * s}, {FromNs: 8 * s, ToNs: 8*s + 300e6}}},
			snapshot.Gaps{All: []snapshot.Gap{{FromNs: 6 * s, ToNs: 7*s + 1}, {FromNs: 15 * s, ToNs: 17 * s}}},
		),
	}
	r.axis.Set(0, 20*time.Second)
	r.groups = groups{silent(
		snapshot.Gaps{All: []snapshot.Gap{{FromNs: 2 * s, ToNs: 5 * s}, {LastNs: 8 * s, FromNs: 8 * s, ToNs: 25 * s}}}, // into the drain
		snapshot.Gaps{All: []snapshot.Gap{{FromNs: 30 * s, ToNs: 31 * s}, {LastNs: 6 * s, FromNs: 1 << 61, ToNs: math.MaxInt64 / 2}}},
	)}
	r.atStop, r.there, r.finishedNs = [][]snapshot.Reached{{{Position: 3}, {Position: 3}}}, []int64{3, 4}, 28*s
	var err error
	if r.writer, err = result.Create(t.TempDir(), "gaps", time.Now()); err != nil {
		t.Fatal(err)
	}
	a := r.availability()
	if a.AckGapMaxNs != s+1 || len(a.AckGaps) != 2 || a.AckGaps[0].FromNs != 8*s || a.AckGaps[1].FromNs != 6*s {
		t.Errorf("the gaps of the fault are %+v, the longest %d", a.AckGaps, a.AckGapMaxNs)
	}
	if e := a.AckGapElsewhere; e == nil || *e != (result.AckGap{Partition: 0, FromNs: 2 * s, ToNs: 5 * s}) || a.BrokenToEnd {
		t.Errorf("the others are %+v, broken to the end: %v", e, a.BrokenToEnd)
	}
	delivered := []result.AckGap{{Partition: 0, FromNs: 8 * s, ToNs: 25 * s}, {Partition: 1, FromNs: 6 * s, ToNs: 28 * s, Open: true}}
	if a.DeliveryGapMaxNs == nil || *a.DeliveryGapMaxNs != 22*s || !slices.Equal(a.DeliveryGaps, delivered) {
		t.Errorf("nothing was delivered in %+v, want %+v", a.DeliveryGaps, delivered)
	}
	r.drained = true // nothing waits where all was read
	if a := r.availability(); !slices.Equal(a.DeliveryGaps, delivered[:1]) {
		t.Errorf("drained, nothing was delivered in %+v", a.DeliveryGaps)
	}
	r.injected = nil
	if a := r.availability(); a != nil {
		t.Errorf("without a fault there is %+v", a)
	}
}
