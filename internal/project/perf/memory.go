package main

import (
	"context"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// memory measures whether the tool's memory grows with a run's length. The topic's retention is
// short, so that the run fits on the disk.
func (l *lab) memory(ctx context.Context) error {
	fmt.Fprintf(l.stdout, `
## Memory

100,000 records/s of 100 B, 4 producers, 2 consumers, 6 partitions, for %v.

`, l.plan.memory)
	settle()
	outcome, err := l.bench(ctx, fmt.Sprintf(`
name: perf-memory
topic: {partitions: 6, replication: 1, config: {retention.bytes: 67108864, segment.bytes: 33554432}}
load: {rate: 100k/s, producers: 4, record: {size: 100B, payload: json}}
consume: {consumers: 2}
phases: {warmup: %v, measure: %v, drain: 30s}
`, warmup, l.plan.memory))
	if err != nil {
		return err
	}
	recorded, err := result.Read(outcome.Dir)
	if err != nil {
		return err
	}
	early, late := rssAround(recorded.Intervals, time.Minute), rssAround(recorded.Intervals, l.plan.memory)
	if early == 0 || late == 0 {
		return fmt.Errorf("the intervals have no resident memory; it is read on Linux only")
	}
	t := layout.Table{Rows: [][]string{{"", "RSS"}}}
	t.Add("after 1 minute", unit.Bytes(early))
	t.Add(fmt.Sprintf("after %v", l.plan.memory), unit.Bytes(late))
	t.Add("ratio", fmt.Sprintf("%.3f", float64(late)/float64(early)))
	fmt.Fprint(l.stdout, t.Markdown())
	return nil
}

// rssAround is the median of the ten seconds before at, as garbage makes the memory vary.
func rssAround(intervals []result.Interval, at time.Duration) int64 {
	var near []result.Interval
	for _, i := range intervals {
		if i.ProcessRSSBytes != nil && i.EndNs <= int64(at) && i.EndNs > int64(at-10*time.Second) {
			near = append(near, i)
		}
	}
	if len(near) == 0 {
		return 0
	}
	return int64(median(near, func(i result.Interval) float64 { return float64(*i.ProcessRSSBytes) }))
}

func medianRSS(runs []result.Run) string {
	peak := median(runs, func(r result.Run) float64 {
		if r.Process.RSSPeakBytes == nil {
			return 0
		}
		return float64(*r.Process.RSSPeakBytes)
	})
	if peak == 0 {
		return "–"
	}
	return unit.Bytes(int64(peak))
}
