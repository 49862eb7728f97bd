// Package promkmq exports a queue to Prometheus: deliveries, records in flight, late redeliveries,
// and alarms about retention.
//
// A collector reads the counters when Prometheus scrapes it and does nothing in between. Alert on
// records that are about to be lost, on dead letters, and on work that makes no progress:
//
//	kafka_kmq_retention_alarm == 1
//	increase(kafka_kmq_dead_lettered_records_total[10m]) > 0
//	kafka_kmq_oldest_unacked_seconds > 600
//
// Files to know: metrics.go.
package promkmq

import (
	"errors"
	"reflect"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kafkabench.example/kafka-bench/kmq"
)

// Source has the counters: a [kmq.Queue] or a [kmq.Tracker].
type Source interface{ Stats() kmq.Stats }

// New returns a collector of one queue or tracker. Every metric has the labels. Give the queues of
// one process different ones, such as the group and the topic. A nil source is an error when the
// collector is registered.
func New(source Source, labels prometheus.Labels) prometheus.Collector {
	if none(source) {
		return invalid{errors.New("promkmq: the queue is nil: look at the error of its constructor")}
	}
	c := &collector{
		source: source, now: time.Now,
		failures: prometheus.NewDesc(prefix+"handler_failures_total",
			"Failed attempts of the handlers of Run: error, panic, timeout or rejection.", []string{"kind"}, labels),
	}
	for _, h := range histograms() {
		c.histograms = append(c.histograms, histogram{h, prometheus.NewDesc(prefix+h.name, h.help, nil, labels)})
	}
	for _, r := range table() {
		c.metrics = append(c.metrics, metric{row: r, desc: prometheus.NewDesc(prefix+r.name, r.help, nil, labels)})
	}
	return c
}

func none(source Source) bool {
	if source == nil {
		return true
	}
	v := reflect.ValueOf(source)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

type invalid struct{ why error }

// Describe implements [prometheus.Collector].
func (i invalid) Describe(descs chan<- *prometheus.Desc) { descs <- prometheus.NewInvalidDesc(i.why) }

// Collect implements [prometheus.Collector].
func (i invalid) Collect(metrics chan<- prometheus.Metric) {
	metrics <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(i.why), i.why)
}

const prefix = "kafka_kmq_"

type collector struct {
	source     Source
	now        func() time.Time
	metrics    []metric
	histograms []histogram
	failures   *prometheus.Desc
}

type histogram struct {
	times
	desc *prometheus.Desc
}

type metric struct {
	row
	desc *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		descs <- m.desc
	}
	for _, h := range c.histograms {
		descs <- h.desc
	}
	descs <- c.failures
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s, now := c.source.Stats(), c.now()
	for _, m := range c.metrics {
		metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(s, now))
	}
	for _, h := range c.histograms {
		metrics <- h.collect(h.value(s))
	}
	f := s.Failures
	for kind, n := range map[string]int64{"error": f.Errors, "panic": f.Panics, "timeout": f.Timeouts, "rejection": f.Rejections} {
		metrics <- prometheus.MustNewConstMetric(c.failures, prometheus.CounterValue, float64(n), kind)
	}
}

// collect adds the buckets up, which a queue does not.
func (h histogram) collect(from kmq.Histogram) prometheus.Metric {
	buckets := make(map[float64]uint64)
	var count uint64
	bounds := from.Bounds()
	for i, n := range from.Counts {
		count += uint64(n)
		if i < len(bounds) {
			buckets[bounds[i].Seconds()] = count
		}
	}
	return prometheus.MustNewConstHistogram(h.desc, count, from.Sum.Seconds(), buckets)
}
