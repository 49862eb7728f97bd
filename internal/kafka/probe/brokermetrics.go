package probe

import (
	"maps"
	"slices"
	"time"
)

// BrokerCounts is one reading of what a broker tells about itself: what it has
// counted since it started, and how it stands. What a broker does not tell is nil or
// missing.
//
// Nothing here is a rate that the broker made. Its own rates are of the last minute,
// or since its start; the difference of two readings is of the time between them (see
// Since).
type BrokerCounts struct {
	At      time.Time
	Started *float64 // when its process started, in seconds since 1970

	Requests map[string]RequestCounts // by type: Produce, FetchConsumer, …

	BytesIn, BytesOut *float64 // of records, from and to clients; no replication
	// HandlerIdle is for how long the request handlers waited for work, the mean of all
	// of them, in nanoseconds.
	HandlerIdle *float64
	// Controller tells that the process is a controller too, and HandlersOfBoth that
	// HandlerIdle counts the handlers of both. Kafka before 4.2 then adds up the two.
	Controller, HandlersOfBoth bool
	// NetworkIdle is the same of the network threads, by listener and thread.
	NetworkIdle map[string]map[string]float64
	// The broker's own rates of idleness, for one that does not tell the counts: of the
	// last minute, and of the last half to whole minute.
	HandlerIdleRatio, NetworkIdleRatio *float64

	LogFlush  Histogram          // in milliseconds
	GC        map[string]GCCount // by collector
	HeapBytes *float64           // in use

	UnderReplicated *float64 // partitions that it leads
}

// GCCount is what one garbage collector has done.
type GCCount struct {
	Count   float64
	Seconds float64
}

// A Phase is a part of a request's way through a broker.
type Phase int

// The phases of a request, after Kafka's RequestMetrics.
const (
	Total         Phase = iota // all of it
	RequestQueue               // waiting for a request handler
	Local                      // in the handler
	Remote                     // waiting for other brokers (acks all), or for data (a fetch)
	Throttle                   // held back by a quota
	ResponseQueue              // waiting for a network thread
	ResponseSend               // being sent
	numPhases
)

// RequestCounts are the phases of all requests of one type.
type RequestCounts [numPhases]Histogram

// Histogram is what Kafka's histograms tell that can be differenced: how many values
// there were since the start, and their mean.
type Histogram struct {
	Count, Mean *float64
}

// since returns how many values there were since before, and their mean: means of two
// lengths of time give the sum of each, so that the mean of what lies between is
// (m2·c2 − m1·c1) ÷ (c2 − c1).
func (h Histogram) since(before Histogram) Histogram {
	n := difference(before.Count, h.Count)
	if n == nil {
		return Histogram{}
	}
	d := Histogram{Count: n}
	if *n > 0 && h.Mean != nil && before.Mean != nil {
		sum := *h.Mean**h.Count - *before.Mean**before.Count
		mean := max(0, sum / *n) // of rounding, where the values were all zero
		d.Mean = &mean
	}
	return d
}

// difference is what was counted between two readings; nil where one does not tell.
func difference(before, after *float64) *float64 {
	if before == nil || after == nil {
		return nil
	}
	d := *after - *before
	return &d
}

// BrokerUse is what a broker did between two readings.
type BrokerUse struct {
	Length   time.Duration
	Requests map[string]RequestCounts // those of which there were any

	BytesIn, BytesOut        *float64
	HandlerIdle, NetworkIdle *float64 // 0 to 1
	LogFlush                 Histogram
	GC                       *GCCount
}

// Since returns what the broker did after an earlier reading. It is false where the
// two don't belong together: the broker was restarted in between, and began to count
// anew.
func (c BrokerCounts) Since(before BrokerCounts) (use BrokerUse, ok bool) {
	length := c.At.Sub(before.At)
	if length <= 0 || restarted(before, c) {
		return BrokerUse{}, false
	}
	use = BrokerUse{
		Length: length, Requests: make(map[string]RequestCounts),
		BytesIn: difference(before.BytesIn, c.BytesIn), BytesOut: difference(before.BytesOut, c.BytesOut),
		HandlerIdle: c.HandlerIdleRatio, NetworkIdle: c.NetworkIdleRatio,
		LogFlush: c.LogFlush.since(before.LogFlush), GC: gcSince(before.GC, c.GC),
	}
	for kind, after := range c.Requests {
		var phases RequestCounts
		for p := range phases {
			phases[p] = after[p].since(before.Requests[kind][p])
		}
		if n := phases[Total].Count; n != nil && *n > 0 {
			use.Requests[kind] = phases
		}
	}
	if idle := difference(before.HandlerIdle, c.HandlerIdle); idle != nil {
		use.HandlerIdle = c.handlerIdle(*idle, length)
	}
	if idle, known := networkIdle(before.NetworkIdle, c.NetworkIdle); known {
		use.NetworkIdle = ratio(idle, length)
	}
	return use, true
}

// handlerIdle is which part of a length of time the broker's request handlers were idle,
// of so many nanoseconds. A sum of two pools is above 1, unless both are busy. The
// controller's pool is taken to be idle all the time: it handles a few requests a second.
// Up to 1, nobody can say whether it is a sum or Kafka's later mean of both: it is
// not known.
func (c BrokerCounts) handlerIdle(ns float64, length time.Duration) *float64 {
	if !c.Controller || !c.HandlersOfBoth {
		return ratio(ns, length)
	}
	if ns <= float64(length) {
		return nil
	}
	return ratio(ns-float64(length), length)
}

// restarted tells whether the broker of the later reading is another process. One that
// does not say when it started is told by counts that have become smaller.
func restarted(before, after BrokerCounts) bool {
	if before.Started != nil && after.Started != nil {
		return *before.Started != *after.Started
	}
	fewer := func(b, a *float64) bool { return b != nil && a != nil && *a < *b }
	if fewer(before.BytesIn, after.BytesIn) || fewer(before.BytesOut, after.BytesOut) ||
		fewer(before.HandlerIdle, after.HandlerIdle) {
		return true
	}
	for kind, phases := range before.Requests {
		if fewer(phases[Total].Count, after.Requests[kind][Total].Count) {
			return true
		}
	}
	return false
}

// gcSince adds up what all collectors did between two readings.
func gcSince(before, after map[string]GCCount) *GCCount {
	if before == nil || after == nil {
		return nil
	}
	var sum GCCount
	for name, a := range after {
		sum.Count += a.Count - before[name].Count
		sum.Seconds += a.Seconds - before[name].Seconds
	}
	return &sum
}

// networkIdle is for how long the network threads waited between two readings, the
// mean of those of the busiest listener: a listener that nobody uses is idle, and says
// nothing of the others.
func networkIdle(before, after map[string]map[string]float64) (idle float64, known bool) {
	for _, listener := range slices.Sorted(maps.Keys(after)) {
		var sum float64
		n := 0
		for thread, waited := range after[listener] {
			if was, there := before[listener][thread]; there {
				sum += waited - was
				n++
			}
		}
		if n == 0 {
			continue
		}
		if mean := sum / float64(n); !known || mean < idle {
			idle, known = mean, true
		}
	}
	return idle, known
}

// ratio is nanoseconds ÷ a length of time, from 0 to 1: the two are not read at quite
// the same moment.
func ratio(ns float64, length time.Duration) *float64 {
	r := min(1, max(0, ns/float64(length)))
	return &r
}
