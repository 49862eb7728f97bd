package probe

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Runtime is what Go's runtime reports since the process started.
type Runtime struct {
	GCCycles     int64
	GCCPU        time.Duration
	AllocBytes   int64
	AllocObjects int64
	GCPause      time.Duration // stop-the-world pauses, in sum
	HeapBytes    int64         // live objects, now; never 0 in a Runtime that was read
	Goroutines   int64         // now
	pauses       *metrics.Float64Histogram
	schedDelays  *metrics.Float64Histogram
}

const (
	metricCycles  = "/gc/cycles/total:gc-cycles"
	metricGCCPU   = "/cpu/classes/gc/total:cpu-seconds"
	metricBytes   = "/gc/heap/allocs:bytes"
	metricObjects = "/gc/heap/allocs:objects"
	metricPauses  = "/sched/pauses/total/gc:seconds"
	metricSched   = "/sched/latencies:seconds"
	metricHeap    = "/memory/classes/heap/objects:bytes"
	metricRunning = "/sched/goroutines:goroutines"
)

// ReadRuntime reads the runtime's metrics. It does not stop the world.
func ReadRuntime() Runtime {
	s := []metrics.Sample{
		{Name: metricCycles}, {Name: metricGCCPU}, {Name: metricBytes},
		{Name: metricObjects}, {Name: metricPauses}, {Name: metricSched},
		{Name: metricHeap}, {Name: metricRunning},
	}
	metrics.Read(s)
	var gc debug.GCStats // its sum is exact, unlike the histogram of the pauses
	debug.ReadGCStats(&gc)
	return Runtime{
		GCCycles: int64(s[0].Value.Uint64()), GCCPU: time.Duration(s[1].Value.Float64() * float64(time.Second)),
		AllocBytes: int64(s[2].Value.Uint64()), AllocObjects: int64(s[3].Value.Uint64()),
		GCPause: gc.PauseTotal, HeapBytes: int64(s[6].Value.Uint64()), Goroutines: int64(s[7].Value.Uint64()),
		pauses: s[4].Value.Float64Histogram(), schedDelays: s[5].Value.Float64Histogram(),
	}
}

// Quantiles summarises a runtime histogram. Each value is the upper edge of a coarse bucket, so it
// is never too small, except in a last bucket without an upper edge.
type Quantiles struct {
	Count         int64
	P50, P99, Max time.Duration
}

// GCPauses summarises the stop-the-world pauses after an earlier reading.
func (r Runtime) GCPauses(since Runtime) Quantiles { return summarise(since.pauses, r.pauses) }

// SchedDelays summarises how long runnable goroutines waited for a thread after an earlier reading.
func (r Runtime) SchedDelays(since Runtime) Quantiles {
	return summarise(since.schedDelays, r.schedDelays)
}

func summarise(before, after *metrics.Float64Histogram) Quantiles {
	counts := make([]uint64, len(after.Counts))
	var total uint64
	for i := range counts {
		counts[i] = after.Counts[i] - before.Counts[i]
		total += counts[i]
	}
	q := Quantiles{Count: int64(total)}
	var seen uint64
	for i, n := range counts {
		if n == 0 {
			continue
		}
		seen += n
		edge := upperEdge(after.Buckets, i)
		if q.P50 == 0 && seen*2 >= total {
			q.P50 = edge
		}
		if q.P99 == 0 && seen*100 >= total*99 {
			q.P99 = edge
		}
		q.Max = edge
	}
	return q
}

// upperEdge returns the lower edge if the bucket has no upper one.
func upperEdge(buckets []float64, i int) time.Duration {
	edge := buckets[i+1]
	if math.IsInf(edge, 1) {
		edge = buckets[i]
	}
	return time.Duration(edge * float64(time.Second))
}
