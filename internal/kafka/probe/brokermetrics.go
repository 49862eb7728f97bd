package probe

import (
	"maps"
	"slices"
	"time"
)

// BrokerCounts is one reading of a broker's metrics: its counts since it started, and its current state. A metric
// that the broker does not report is nil or missing.
type BrokerCounts struct {
	At      time.Time
	Started *float64 // start of its process, in seconds since 1970

	Requests map[string]RequestCounts // by type: Produce, FetchConsumer, …

	BytesIn, BytesOut *float64 // of records, from and to clients; without replication
	// HandlerIdle is how long the request handlers waited for work: their mean, in nanoseconds.
	HandlerIdle *float64
	// Controller reports whether the process is a controller too. HandlersOfBoth reports whether
	// HandlerIdle covers the handlers of broker and controller; Kafka before 4.2 then adds up the two.
	Controller, HandlersOfBoth bool
	// NetworkIdle is how long each network thread waited for work, in nanoseconds, by listener and
	// thread.
	NetworkIdle map[string]map[string]float64
	// The broker's own idle ratios are used if the counts above are missing. HandlerIdleRatio covers
	// the last minute, NetworkIdleRatio the last 30 to 60 s.
	HandlerIdleRatio, NetworkIdleRatio *float64

	LogFlush  Histogram          // in milliseconds
	GC        map[string]GCCount // by collector
	HeapBytes *float64           // in use

	UnderReplicated *float64 // partitions that the broker leads
}

// GCCount is the work of one garbage collector.
type GCCount struct {
	Count   float64
	Seconds float64
}

// A Phase is a part of the time that a broker needs for a request.
type Phase int

// The phases of a request, after Kafka's RequestMetrics.
const (
	Total         Phase = iota // the whole request
	RequestQueue               // waiting for a request handler
	Local                      // in the handler
	Remote                     // waiting for other brokers (acks all), or for data (a fetch)
	Throttle                   // delayed by a quota
	ResponseQueue              // waiting for a network thread
	ResponseSend               // while the response is sent
	numPhases
)

// RequestCounts are the phases of all requests of one type.
type RequestCounts [numPhases]Histogram

// Histogram is the part of a Kafka histogram that can be subtracted: the number of values since the start, and
// their mean. Kafka's own percentiles are of a decaying reservoir, and its rates of the last minutes, so two readings
// have no difference.
type Histogram struct {
	Count, Mean *float64
}

// since returns the number of values after an earlier reading, and their mean: (m2·c2 − m1·c1) ÷
// (c2 − c1).
func (h Histogram) since(before Histogram) Histogram {
	n := difference(before.Count, h.Count)
	if n == nil {
		return Histogram{}
	}
	d := Histogram{Count: n}
	if *n > 0 && h.Mean != nil && before.Mean != nil {
		sum := *h.Mean**h.Count - *before.Mean**before.Count
		mean := max(0, sum / *n) // rounding may give less than 0 if all values are 0
		d.Mean = &mean
	}
	return d
}

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
	Requests map[string]RequestCounts // types with at least one request

	BytesIn, BytesOut        *float64
	HandlerIdle, NetworkIdle *float64 // 0 to 1
	LogFlush                 Histogram
	GC                       *GCCount
}

// Since returns what the broker did after an earlier reading. ok is false if the broker restarted in between.
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

// ns may be the sum of the broker's and the controller's pool (before Kafka 4.2). The controller
// handles few requests, so handlerIdle assumes that its pool is always idle, and subtracts length.
// If ns is at most length, it may be a sum or a mean; then the ratio is unknown (nil).
func (c BrokerCounts) handlerIdle(ns float64, length time.Duration) *float64 {
	if !c.Controller || !c.HandlersOfBoth {
		return ratio(ns, length)
	}
	if ns <= float64(length) {
		return nil
	}
	return ratio(ns-float64(length), length)
}

// Without start times, a smaller count means a restart.
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

// networkIdle returns how long the network threads of the busiest listener waited: their mean, in nanoseconds. An
// unused listener is always idle.
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

// ns and length are not read at exactly the same moment, so ratio limits the result.
func ratio(ns float64, length time.Duration) *float64 {
	r := min(1, max(0, ns/float64(length)))
	return &r
}
