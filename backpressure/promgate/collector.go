// Package promgate exports a backpressure gate to Prometheus: records let through and
// refused, the bound in force, and blindness.
//
// A collector reads the gate's counters only when it is scraped, so it costs a producer
// nothing. Alert on blindness, and if the gate is closed nearly all the time:
//
//	kafka_backpressure_blind == 1
//	rate(kafka_backpressure_closed_seconds_total[5m]) > 0.9
//
// Files to know: metrics.go.
package promgate

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"kafkabench.example/kafka-bench/backpressure"
)

// New returns a collector of one gate. Every metric has these labels. Give each gate of a process
// different labels, such as the group and the topic. Registering the collector of a nil gate
// returns an error.
func New(gate *backpressure.Gate, labels prometheus.Labels) prometheus.Collector {
	if gate == nil {
		return invalid{errNoGate}
	}
	c := &collector{gate: gate}
	for _, m := range table() {
		c.metrics = append(c.metrics, metric{
			desc: prometheus.NewDesc("kafka_backpressure_"+m.name, m.help, nil, labels), kind: m.kind, value: m.value,
		})
	}
	return c
}

var errNoGate = errors.New("promgate: the gate is nil: look at the error of its constructor")

type invalid struct{ why error }

// Describe implements [prometheus.Collector].
func (i invalid) Describe(descs chan<- *prometheus.Desc) { descs <- prometheus.NewInvalidDesc(i.why) }

func (i invalid) Collect(metrics chan<- prometheus.Metric) {
	metrics <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(i.why), i.why)
}

type collector struct {
	gate    *backpressure.Gate
	metrics []metric
}

type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(backpressure.Stats) (v float64, known bool)
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		descs <- m.desc
	}
}

func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s := c.gate.Stats()
	for _, m := range c.metrics {
		if v, known := m.value(s); known {
			metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, v)
		}
	}
}
