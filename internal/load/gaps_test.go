package load

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

type knownRecord struct {
	due, at int64
	acked   bool
}

// Acked records of one worker are in order of due time too.
func knownRecords(t *rapid.T, label string) []knownRecord {
	n := rapid.IntRange(0, 30).Draw(t, label)
	records := make([]knownRecord, n)
	var due, at int64
	for i := range records {
		due += rapid.Int64Range(0, 4).Draw(t, "due") * shortestGap
		at = max(at, due) + rapid.Int64Range(0, 4).Draw(t, "took")*shortestGap + int64(i)
		records[i] = knownRecord{due: due, at: at, acked: rapid.IntRange(0, 4).Draw(t, "acked") > 0}
	}
	return records
}

func watched(records []knownRecord) snapshot.Gaps {
	w := NewGapWatch(1)
	for _, r := range records {
		if r.acked {
			w.Acked(r.at, r.due)
		} else {
			w.Unacked(r.due)
		}
	}
	return w.Gaps()
}

// A gap begins when its first waiting record was due.
func gapsByDefinition(workers ...[]knownRecord) (all []snapshot.Gap) {
	acks := []int64{snapshot.BeforeAll}
	for _, r := range slices.Concat(workers...) {
		if r.acked {
			acks = append(acks, r.at)
		}
	}
	slices.Sort(acks)
	acks = append(acks, snapshot.AfterAll)
	for i, from := range acks[:len(acks)-1] {
		to := acks[i+1]
		waits := snapshot.AfterAll
		for _, records := range workers {
			waits = min(waits, waitingFrom(records, from, to))
		}
		if g := (snapshot.Gap{LastNs: from, FromNs: max(from, waits), ToNs: to}); g.FromNs < g.ToNs {
			all = append(all, g)
		}
	}
	return all
}

// waitingFrom returns the due time of the worker's oldest record that waited throughout [from, to].
func waitingFrom(records []knownRecord, from, to int64) int64 {
	oldest, last := snapshot.AfterAll, snapshot.BeforeAll
	for _, r := range records {
		if r.acked && r.at <= from {
			oldest, last = snapshot.AfterAll, r.at
			continue
		}
		oldest = min(oldest, max(r.due, last))
		if r.acked {
			break
		}
	}
	if oldest >= to {
		return snapshot.AfterAll
	}
	return oldest
}

// longer compares lengths measured from the ack before the gap.
func longer(all []snapshot.Gap, than int64) (some []snapshot.Gap) {
	for _, g := range all {
		if g.ToNs-g.LastNs > than && g.ToNs > g.FromNs {
			some = append(some, g)
		}
	}
	return some
}

func TestGapsOfWorkersAreThoseOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := knownRecords(t, "a"), knownRecords(t, "b"), knownRecords(t, "c")
		merged := watched(a).Merge(watched(b)).Merge(watched(c))
		got, want := longer(merged.All, merged.AllNs), longer(gapsByDefinition(a, b, c), merged.AllNs)
		if !slices.Equal(got, want) {
			t.Fatalf("together they have the gaps\n%v, want\n%v", got, want)
		}
	})
}

func TestWatchKeepsTheLongestGaps(t *testing.T) {
	w := NewGapWatch(1)
	at := int64(0)
	for i := range int64(100_000) {
		due := at
		at += shortestGap + 1 + i%7*shortestGap
		if i == 50_000 {
			at += 1e9
		}
		w.Acked(at, due)
	}
	all := w.Gaps()
	if len(all.All) > enoughGaps+1 {
		t.Errorf("it keeps %d gaps, and at most %d are asked for", len(all.All), enoughGaps)
	}
	longest := slices.MaxFunc(all.Within(at), func(a, b snapshot.Gap) int { return int((a.ToNs - a.FromNs) - (b.ToNs - b.FromNs)) })
	if length := longest.ToNs - longest.FromNs; length < 1e9 || length > 1e9+8*shortestGap {
		t.Errorf("the longest gap is %d ns", length)
	}
	if allocated := testing.AllocsPerRun(1000, func() { at += shortestGap / 2; w.Acked(at, at) }); allocated > 0 {
		t.Errorf("an acknowledgement allocates %v times", allocated)
	}
}

// The last gap ends at the ack after the window, or at the end of the window.
func TestGapsWithinTheWindow(t *testing.T) {
	const ms, end = int64(1e6), int64(100e6)
	for _, test := range []struct {
		name    string
		records []knownRecord
		want    []snapshot.Gap
	}{
		{"begins in the warm-up", []knownRecord{{-20 * ms, -19 * ms, true}, {-18 * ms, 10 * ms, true}}, []snapshot.Gap{{LastNs: -19 * ms, FromNs: 0, ToNs: 10 * ms}}},
		{"nothing waits", []knownRecord{{0, 1, true}, {50 * ms, 50*ms + 1, true}}, []snapshot.Gap{{LastNs: 1, FromNs: 50 * ms, ToNs: 50*ms + 1}}},
		{"ends in the drain", []knownRecord{{0, 1, true}, {2 * ms, 150 * ms, true}}, []snapshot.Gap{{LastNs: 1, FromNs: 2 * ms, ToNs: 150 * ms}}},
		{"never ends", []knownRecord{{0, 1, true}, {2 * ms, 180 * ms, false}}, []snapshot.Gap{{LastNs: 1, FromNs: 2 * ms, ToNs: end}}},
		{"behind the window", []knownRecord{{0, 1, true}, {110 * ms, 150 * ms, true}}, nil},
		{"failed, then acknowledged", []knownRecord{{0, 1, true}, {20 * ms, 60 * ms, false}, {70 * ms, 80 * ms, true}}, []snapshot.Gap{{LastNs: 1, FromNs: 20 * ms, ToNs: 80 * ms}}},
		{"nothing at all", nil, nil},
	} {
		got := slices.DeleteFunc(watched(test.records).Within(end), func(g snapshot.Gap) bool { return g.LastNs == snapshot.BeforeAll })
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: the gaps are %v, want %v", test.name, got, test.want)
		}
	}
}
