package judge

import (
	"reflect"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func gapsOf(acks []snapshot.Gaps, groups ...Group) *Evidence {
	e := &Evidence{Window: Window{EndNs: 60e9, FinishedNs: 70e9}, Sent: acknowledged(acks...), Groups: groups}
	e.Scenario = scenario.Scenario{Load: scenario.Load{Producers: 1}}
	e.AckedIn = make([]int64, len(acks))
	return e
}

func gapAt(atMs, lengthMs int64) snapshot.Gap {
	return snapshot.Gap{LastNs: atMs * 1e6, FromNs: atMs * 1e6, ToNs: (atMs + lengthMs) * 1e6}
}

func TestGapsWithoutAFault(t *testing.T) {
	acks := []snapshot.Gaps{
		{All: []snapshot.Gap{gapAt(-500, 700), gapAt(5000, 300), gapAt(6000, 249)}},
		{All: []snapshot.Gap{gapAt(2000, 250), {LastNs: 59e9, FromNs: 59e9, ToNs: snapshot.AfterAll}}},
	}
	none := []snapshot.Gaps{{}, {}}
	reads := func(name string, gaps []snapshot.Gaps) Group {
		return Group{Name: name, Gaps: gaps, AtStop: make([]snapshot.Reached, 2)}
	}
	e := gapsOf(acks, reads("a", none), reads("b", []snapshot.Gaps{{}, {All: []snapshot.Gap{gapAt(61_000, 2000)}}}))
	want := result.Gaps{
		AtLeastNs: 250e6,
		Acks: []result.AckGap{
			{Partition: 1, FromNs: 2e9, ToNs: 2.25e9}, {Partition: 0, FromNs: 5e9, ToNs: 5.3e9},
			{Partition: 1, FromNs: 59e9, ToNs: 60e9, Open: true},
		},
		Deliveries: []result.AckGap{{Partition: 1, FromNs: 61e9, ToNs: 63e9, Group: "b"}},
	}
	if got := *e.gaps(); !reflect.DeepEqual(got, want) {
		t.Errorf("it has\n%+v\nwant\n%+v", got, want)
	}
	// If one process did not report its gaps, no delivery gaps are known; without producers, no ack
	// gaps are.
	e.Groups[1].Gaps = nil
	e.Scenario.Load.Producers, e.Sent = 0, snapshot.Snapshot{}
	if got := *e.gaps(); got.Deliveries != nil || got.Acks != nil {
		t.Errorf("it has %+v", got)
	}
}

func TestLongestGapsAreKept(t *testing.T) {
	var acks, deliveries snapshot.Gaps
	for i := range int64(700) {
		acks.All = append(acks.All, gapAt(10*i, 1000+2*i))
		deliveries.All = append(deliveries.All, gapAt(10*i, 1001+2*i))
	}
	deliveries.AllNs = 1004e6 // so that the two shortest fall out
	group := Group{Gaps: []snapshot.Gaps{deliveries}, AtStop: make([]snapshot.Reached, 1)}
	got := gapsOf([]snapshot.Gaps{acks}, group).gaps()
	a, d := len(got.Acks), len(got.Deliveries)
	if got.AtLeastNs != 1004e6 || got.LeftOut != 1396-result.MaxGaps || a != 500 || d != 500 {
		t.Fatalf("from %d ns on there are %d and %d, %d are left out", got.AtLeastNs, a, d, got.LeftOut)
	}
	first, second := got.Acks[0], got.Deliveries[0]
	if first.FromNs != 2e9 || second.FromNs != 2e9 || second.Group != "" {
		t.Errorf("the first are %+v and %+v, want those from 2 s on", first, second)
	}
}
