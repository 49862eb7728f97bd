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
		lateness: prometheus.NewDesc(prefix+"redelivery_lateness_seconds",
			"Time from the end of a record's lock until this process had it delivered again.", nil, labels),
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
	source   Source
	now      func() time.Time
	metrics  []metric
	lateness *prometheus.Desc
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
	descs <- c.lateness
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s, now := c.source.Stats(), c.now()
	for _, m := range c.metrics {
		metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(s, now))
	}
	// A queue's buckets are not cumulative.
	buckets := make(map[float64]uint64)
	var count uint64
	bounds := s.Lateness.Bounds()
	for i, n := range s.Lateness.Counts {
		count += uint64(n)
		if i < len(bounds) {
			buckets[bounds[i].Seconds()] = count
		}
	}
	metrics <- prometheus.MustNewConstHistogram(c.lateness, count, s.Lateness.Sum.Seconds(), buckets)
}
