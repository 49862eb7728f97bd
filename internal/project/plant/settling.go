package plant

import (
	"slices"
	"sort"
	"time"
)

// Settling is judged in windows whose starts are a stride apart.
const (
	settlingWindow = 500 * time.Millisecond
	settlingStride = 50 * time.Millisecond
)

// settling is the time from a step to the end of the last window, before the next step, that was
// not right. In a right one, the p99 from due to delivered is at most a fifth above the target, and
// deliveries are at least nine tenths of the smaller of capacity and offered load.
func (m *measure) settling(step int) time.Duration {
	cfg := m.p.cfg
	begin, end := cfg.Warmup+cfg.Steps[step].At, cfg.Warmup+cfg.For
	if step+1 < len(cfg.Steps) {
		end = cfg.Warmup + cfg.Steps[step+1].At
	}
	capacity := float64(cfg.Partitions) / cfg.Steps[step].Work.Mean.Seconds()
	expected := 0.9 * min(capacity, m.offeredRate()) * settlingWindow.Seconds()
	for to := end; to >= begin+settlingWindow; to -= settlingStride {
		times := m.between(to-settlingWindow, to)
		if float64(len(times)) >= expected && quantile(times, 0.99) <= cfg.Target+cfg.Target/5 {
			continue
		}
		if to == end {
			return -1
		}
		return to - begin
	}
	return 0
}

func (m *measure) offeredRate() float64 {
	var sum float64
	for _, pr := range m.p.producers {
		sum += pr.cfg.Rate
	}
	return sum
}

// between returns the sorted times of the deliveries in [from, to).
func (m *measure) between(from, to time.Duration) []time.Duration {
	first := sort.Search(len(m.deliveries), func(i int) bool { return m.deliveries[i].at >= from })
	var times []time.Duration
	for _, d := range m.deliveries[first:] {
		if d.at >= to {
			break
		}
		times = append(times, d.at-d.due)
	}
	slices.Sort(times)
	return times
}
