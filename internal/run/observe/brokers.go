package observe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
)

// Brokers reads the brokers' metrics. Figures are differences over the measured window; readings in
// between find the worst values.
type Brokers struct {
	endpoints []cluster.MetricsEndpoint
	every     time.Duration
	axis      *load.Axis
	journal   *Journal

	looking sync.Mutex
	mu      sync.Mutex
	brokers map[int32]*brokerReadings
}

type brokerReadings struct {
	first, last *probe.BrokerCounts // at the ends of the window; nil if the broker did not answer
	before      *probe.BrokerCounts

	handlerIdleMin, networkIdleMin *float64
	underReplicated, heap          *int64
}

// A frozen broker never answers.
const scrapeTimeout = 2 * time.Second

// NewBrokers returns a reader of the brokers' metrics; nil if no broker has any.
func NewBrokers(c cluster.Cluster, axis *load.Axis, journal *Journal, every time.Duration) *Brokers {
	metered, able := c.(cluster.Metered)
	if !able {
		return nil
	}
	endpoints := metered.MetricsEndpoints()
	if len(endpoints) == 0 {
		return nil
	}
	return &Brokers{
		endpoints: endpoints, every: every, axis: axis, journal: journal, brokers: make(map[int32]*brokerReadings),
	}
}

type windowEnd int

const (
	between windowEnd = iota
	windowBegins
	windowEnds
)

// Every returns the period of the readings.
func (w *Brokers) Every() time.Duration { return w.every }

// Look reads all brokers. Outside the measured window it does nothing.
func (w *Brokers) Look(ctx context.Context) { w.look(ctx, between) }

// LookAtStart reads all brokers at the start of the measured window. It waits for slow brokers, so
// call it in a goroutine of the observer. On a nil Brokers it does nothing.
func (w *Brokers) LookAtStart() { w.lookAtEndOf(windowBegins) }

// LookAtEnd is LookAtStart at the end of the window.
func (w *Brokers) LookAtEnd() { w.lookAtEndOf(windowEnds) }

func (w *Brokers) lookAtEndOf(end windowEnd) {
	if w != nil {
		w.look(context.Background(), end)
	}
}

func (w *Brokers) look(ctx context.Context, end windowEnd) {
	if now := w.axis.Now(); end == between && (now < 0 || now >= w.axis.End()) {
		return
	}
	w.looking.Lock()
	defer w.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, e := range w.endpoints {
		all.Go(func() {
			counts, err := probe.ReadBroker(ctx, e.URL)
			if err == nil {
				w.take(e.ID, counts, end)
				return
			}
			if ctx.Err() != context.Canceled {
				w.journal.Once("warning", fmt.Sprintf("broker %d told nothing about itself", e.ID), err)
			}
		})
	}
	all.Wait()
}

func (w *Brokers) take(id int32, c probe.BrokerCounts, end windowEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.brokers[id]
	if b == nil {
		b = &brokerReadings{}
		w.brokers[id] = b
	}
	switch end {
	case windowBegins:
		b.first, b.before = &c, &c
	case windowEnds:
		b.last = &c
	}
	b.underReplicated = higher(b.underReplicated, c.UnderReplicated)
	b.heap = higher(b.heap, c.HeapBytes)
	b.stretch(c, w.every)
}

// A period shorter than every/2 says little, so stretch adds it to the next period.
func (b *brokerReadings) stretch(c probe.BrokerCounts, every time.Duration) {
	if b.before == nil {
		b.before = &c
		return
	}
	if c.At.Sub(b.before.At) < every/2 {
		return
	}
	if use, ok := c.Since(*b.before); ok {
		b.handlerIdleMin = lower(b.handlerIdleMin, use.HandlerIdle)
		b.networkIdleMin = lower(b.networkIdleMin, use.NetworkIdle)
	}
	b.before = &c
}

func higher(peak *int64, v *float64) *int64 {
	if v == nil || peak != nil && *peak >= int64(*v) {
		return peak
	}
	n := int64(*v)
	return &n
}

func lower(least, v *float64) *float64 {
	if v == nil || least != nil && *least <= *v {
		return least
	}
	return v
}

// Metrics returns the brokers' metrics by ID; nil for a nil Brokers.
func (w *Brokers) Metrics() map[int32]*result.BrokerMetrics {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[int32]*result.BrokerMetrics)
	for id, b := range w.brokers {
		all[id] = b.metrics()
	}
	return all
}

// If a broker was restarted in the window, or did not answer at one of the window's ends, only its
// peaks are known.
func (b *brokerReadings) metrics() *result.BrokerMetrics {
	m := &result.BrokerMetrics{UnderReplicatedPeak: b.underReplicated, HeapPeakBytes: b.heap}
	if b.first == nil || b.last == nil {
		return m
	}
	use, ok := b.last.Since(*b.first)
	if !ok {
		return m
	}
	m.ReadOverS, m.Requests = use.Length.Seconds(), requestUses(use)
	m.BytesInPerS, m.BytesOutPerS = perSecond(use.BytesIn, use.Length), perSecond(use.BytesOut, use.Length)
	m.HandlerIdleRatio, m.NetworkIdleRatio = use.HandlerIdle, use.NetworkIdle
	// In a short window, the whole window is the only period.
	m.HandlerIdleRatioMin, m.NetworkIdleRatioMin = lower(b.handlerIdleMin, use.HandlerIdle), lower(b.networkIdleMin,
		use.NetworkIdle)
	m.LogFlushes, m.LogFlushMeanMs = whole(use.LogFlush.Count), use.LogFlush.Mean
	if use.GC != nil {
		count, ms := int64(use.GC.Count), use.GC.Seconds*1e3
		m.GCCount, m.GCTimeMs = &count, &ms
	}
	return m
}

func requestUses(use probe.BrokerUse) []result.RequestUse {
	var all []result.RequestUse
	for _, kind := range slices.Sorted(maps.Keys(use.Requests)) {
		phases := use.Requests[kind]
		count := *phases[probe.Total].Count
		all = append(all, result.RequestUse{
			Type: kind, Count: int64(count), PerS: count / use.Length.Seconds(),
			TotalMs: phases[probe.Total].Mean, QueueMs: phases[probe.RequestQueue].Mean,
			LocalMs:  phases[probe.Local].Mean,
			RemoteMs: phases[probe.Remote].Mean, ThrottleMs: phases[probe.Throttle].Mean,
			ResponseQueueMs: phases[probe.ResponseQueue].Mean, ResponseSendMs: phases[probe.ResponseSend].Mean,
		})
	}
	slices.SortStableFunc(all, func(a, b result.RequestUse) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

func perSecond(n *float64, length time.Duration) *float64 {
	if n == nil {
		return nil
	}
	rate := *n / length.Seconds()
	return &rate
}

func whole(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(*v)
	return &n
}

// WithMetrics adds the metrics to the usage of local brokers. A broker without usage gets an entry
// with only its metrics.
func WithMetrics(brokers []result.Broker, metrics map[int32]*result.BrokerMetrics) []result.Broker {
	for i := range brokers {
		brokers[i].Metrics = metrics[brokers[i].ID]
		delete(metrics, brokers[i].ID)
	}
	for _, id := range slices.Sorted(maps.Keys(metrics)) {
		brokers = append(brokers, result.Broker{ID: id, Metrics: metrics[id]})
	}
	slices.SortStableFunc(brokers, func(a, b result.Broker) int { return cmp.Compare(a.ID, b.ID) })
	return brokers
}
