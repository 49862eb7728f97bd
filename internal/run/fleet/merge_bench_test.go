package fleet

import (
	"encoding/json"
	"iter"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// BenchmarkMerge reports the time to conclude a run of 100 agents, as a part of its measured window
// of 60 s. Each interval has 8 metrics of 10,000 lognormal values. The goal is at most 0.25.
func BenchmarkMerge(b *testing.B) {
	const of, windowS = 100, 60
	s, err := scenario.Parse("merged", []byte(`
name: merged
topic: {partitions: 100}
load: {rate: 1M/s, producers: 100, record: {size: 100B}}
consume: {consumers: 100}
phases: {warmup: 0s, measure: 60s, drain: 10s}
`))
	if err != nil {
		b.Fatal(err)
	}
	yaml, err := s.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	plan := bench.Plan{
		RunID: "merged", Scenario: yaml, Asked: yaml, Topic: "merged", Partitions: of, Groups: []string{"merged"},
		Parts: of, Placement: bench.Own,
	}
	handed := bench.Handed{Parts: make([]iter.Seq2[snapshot.Snapshot, error], of), Agents: make([]bench.Agent, of)}
	times := lognormal()
	for i := range of {
		kept, err := newSpool(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(kept.close)
		for second := range windowS + 1 {
			if err := kept.add(interval(b, i, second, times)); err != nil {
				b.Fatal(err)
			}
		}
		if err := kept.add(end(b, i, of, windowS)); err != nil {
			b.Fatal(err)
		}
		handed.Parts[i], handed.Agents[i] = kept.snapshots(), bench.Agent{Name: "agent", Instance: uint64(i + 1)}
	}
	for b.Loop() {
		if _, err := bench.Conclude(bench.Config{Out: b.TempDir(), Probes: probe.Unknown()}, plan, handed); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/windowS, "of-the-window")
}

func lognormal() latency.Encoded {
	var metrics []latency.Metric
	for m := range latency.Metric(8) {
		metrics = append(metrics, m)
	}
	r, random := latency.NewRecorder(metrics...), rand.New(rand.NewPCG(1, 2))
	r.Lock()
	for _, m := range metrics {
		for range 10_000 {
			r.Record(true, m, int64(1e6*math.Exp(random.NormFloat64())))
		}
	}
	r.Unlock()
	c := &latency.Collector{}
	c.Add(r)
	return c.Collect().Encode()
}

// Counting begins at second 0.
func interval(b *testing.B, agent, second int, times latency.Encoded) snapshot.Snapshot {
	told := bench.Interval{}
	if second > 0 {
		told.Interval = &result.Interval{StartNs: int64(second-1) * 1e9, EndNs: int64(second) * 1e9}
	} else {
		times = latency.Encoded{}
	}
	s := counted(agent, second)
	s.Seq, s.EndNs, s.Times, s.Told = uint64(second+1), int64(second)*1e9, times, encoded(b, told)
	return s
}

func end(b *testing.B, agent, of, windowS int) snapshot.Snapshot {
	s := counted(agent, windowS)
	sender, receiver := ledger.NewSender(agent, of), ledger.NewReceiver(int32(agent), of)
	for n := range int64(windowS) * perSecond {
		sequence := sender.Next(int32(agent), true)
		sender.Acked(int32(agent), sequence, n)
		receiver.Deliver(agent, sequence, true)
	}
	s.Seq, s.EndNs, s.Last = uint64(windowS+2), int64(windowS)*1e9, &snapshot.Last{Books: []*ledger.Sender{sender}}
	s.Groups[0].Books = map[int32]*ledger.Receiver{int32(agent): receiver}
	s.Told = encoded(b, judge.Part{
		Window: judge.Window{EndNs: int64(windowS) * 1e9, FinishedNs: int64(windowS) * 1e9, Drained: true},
		Info:   result.Info{StartedAt: time.Unix(1e9, 0)}, Producers: 1, Consumers: 1, Workers: []int{1},
		Start: judge.Reading{Members: make([]snapshot.MemberCounts, 1)}, End: judge.Reading{Members: make([]snapshot.MemberCounts, 1)},
	})
	return s
}

const perSecond = 10_000

func counted(agent, second int) snapshot.Snapshot {
	n := int64(second) * perSecond
	s := snapshot.Snapshot{Version: snapshot.Version, Part: agent, Instance: uint64(agent + 1), Usage: &snapshot.Usage{}}
	s.Sent[1] = snapshot.Sent{Scheduled: n, Admitted: n, Acked: n, AckedInWindow: n}
	s.Behind = snapshot.Behind{AckedIn: make([]int64, 100), OpenRecords: make([]int64, 100), OldestDueNs: make([]int64, 100)}
	s.Behind.AckedIn[agent] = n
	s.Groups = []snapshot.Group{{Reached: make([]snapshot.Reached, 100), Arrived: true}}
	s.Groups[0].Received.Delivered, s.Groups[0].Received.Unique = n, n
	s.Groups[0].Reached[agent] = snapshot.Reached{Position: n, Delivered: n, Arrived: n}
	return s
}

func encoded(b *testing.B, v any) []byte {
	told, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return told
}
