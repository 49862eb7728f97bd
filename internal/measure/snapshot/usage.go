package snapshot

import "time"

// Wire counts the bytes of clients on the wire, and the record batches in them.
type Wire struct {
	WrittenBytes int64 // requests
	ReadBytes    int64 // responses
	Batches      int64 // produced or fetched
	BatchRecords int64 // records in those batches
	// before and after compression
	UncompressedBytes int64
	CompressedBytes   int64
}

func (w *Wire) counts() [6]*int64 {
	return [...]*int64{&w.WrittenBytes, &w.ReadBytes, &w.Batches, &w.BatchRecords, &w.UncompressedBytes, &w.CompressedBytes}
}

// RequestSum is the number, total time and connections of one type of request, and how long quotas
// throttled it.
type RequestSum struct {
	Count       int64
	Time        time.Duration
	Connections int
	Throttled   time.Duration
}

// Traffic is what drivers count of the traffic between clients and brokers.
type Traffic struct {
	Wire           Wire
	Counted        bool // Wire is known
	Produce, Fetch RequestSum
	Timed          bool // Produce and Fetch are known
}

// Add returns the sum of t and o, which have different clients. A field of the sum is known if t or
// o knows it.
func (t Traffic) Add(o Traffic) Traffic {
	mine, others := t.Wire.counts(), o.Wire.counts()
	for i := range mine {
		*mine[i] += *others[i]
	}
	t.Produce, t.Fetch = t.Produce.add(o.Produce), t.Fetch.add(o.Fetch)
	t.Counted, t.Timed = t.Counted || o.Counted, t.Timed || o.Timed
	return t
}

// Sub returns the traffic since the earlier traffic o of the same clients, with the connections of
// t. A field is known if both t and o know it.
func (t Traffic) Sub(o Traffic) Traffic {
	mine, others := t.Wire.counts(), o.Wire.counts()
	for i := range mine {
		*mine[i] -= *others[i]
	}
	t.Produce, t.Fetch = t.Produce.sub(o.Produce), t.Fetch.sub(o.Fetch)
	t.Counted, t.Timed = t.Counted && o.Counted, t.Timed && o.Timed
	return t
}

func (s RequestSum) add(o RequestSum) RequestSum {
	return RequestSum{Count: s.Count + o.Count, Time: s.Time + o.Time, Connections: s.Connections + o.Connections,
		Throttled: s.Throttled + o.Throttled}
}

func (s RequestSum) sub(o RequestSum) RequestSum {
	return RequestSum{Count: s.Count - o.Count, Time: s.Time - o.Time, Connections: s.Connections,
		Throttled: s.Throttled - o.Throttled}
}

// Usage is what processes have used since they started.
type Usage struct {
	Known        bool          // else User, System and RSS are zero
	User, System time.Duration // CPU time
	RSS          int64         // bytes, at present

	GCCycles     int64
	GCCPU        time.Duration
	AllocBytes   int64
	AllocObjects int64

	GCPause    time.Duration // for which all goroutines were stopped
	HeapBytes  int64         // 0: unknown
	Goroutines int64         // at present
}

// CPU returns user and system time together.
func (u Usage) CPU() time.Duration { return u.User + u.System }

// Add returns the usage of two processes.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Known: u.Known && o.Known, User: u.User + o.User, System: u.System + o.System, RSS: u.RSS + o.RSS,
		GCCycles: u.GCCycles + o.GCCycles, GCCPU: u.GCCPU + o.GCCPU,
		AllocBytes: u.AllocBytes + o.AllocBytes, AllocObjects: u.AllocObjects + o.AllocObjects,
		GCPause: u.GCPause + o.GCPause, HeapBytes: u.HeapBytes + o.HeapBytes, Goroutines: u.Goroutines + o.Goroutines,
	}
}

// Pauses are times in which all goroutines were stopped (GC), or ready ones waited to run (Sched).
type Pauses struct{ GC, Sched Quantiles }

// Quantiles are some quantiles of a distribution.
type Quantiles struct {
	Count         int64
	P50, P99, Max time.Duration
}

// Worse returns the larger value of each figure, because quantiles cannot be added up.
func (p Pauses) Worse(o Pauses) Pauses {
	return Pauses{GC: p.GC.worse(o.GC), Sched: p.Sched.worse(o.Sched)}
}

func (q Quantiles) worse(o Quantiles) Quantiles {
	return Quantiles{Count: q.Count + o.Count, P50: max(q.P50, o.P50), P99: max(q.P99, o.P99), Max: max(q.Max, o.Max)}
}
