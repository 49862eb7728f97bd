// Package promrun exports a followed run to Prometheus: counts, lag, the gate, a queue, resources,
// and the histograms of its times.
//
// A [Collector] takes the changes of a follow.Follower. It exports only the present run. Gauges
// have the values of the latest interval. Counters and histograms cover the whole run, warm-up
// included. At the end, they equal the sum of warm-up and measured window in run.json. What the run
// does not measure is not exported.
//
// Files to know: collector.go, metrics.go (the table of all metrics), times.go (histograms).
package promrun

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/follow"
)

const prefix = "kafka_bench_"

// Collector is a prometheus.Collector of the present run. It is safe for concurrent use.
type Collector struct {
	counters, gauges      []metric
	brokers               []brokerMetric
	agents                []agentMetric
	times                 [latency.NumMetrics]*prometheus.Desc
	lag, end, info, phase *prometheus.Desc

	mu   sync.Mutex
	seen *run // nil without a run
}

type run struct {
	head   *result.Run
	ended  bool
	last   *result.Interval   // nil before the first
	pulse  *result.Pulse      // likewise
	totals map[string]float64 // by counter; absent if no interval had it
	times  [books][latency.NumMetrics]*latency.Histogram
}

// New returns a collector without a run, which exports nothing.
func New() *Collector { return labelled(nil) }

// OfAgent is New for an agent, which makes a part of each run. Its series have the labels agent and
// host too, so that they differ from those of the whole run.
func OfAgent(agent, host string) *Collector {
	return labelled(prometheus.Labels{"agent": agent, "host": host})
}

func labelled(all prometheus.Labels) *Collector {
	// Every series begins with the labels run and name.
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+name, help, append([]string{"run", "name"}, labels...), all)
	}
	c := &Collector{
		lag: describe("consumer_lag_records", "Consumer lag at the latest sample: high watermark − committed, in records. "+
			"A group's series add up to its lag.", "group", "partition"),
		end:  describe("interval_end_timestamp_seconds", "When the latest interval ended, which the gauges are of."),
		info: describe("run_info", "What runs.", "cluster", "kafka_version", "driver", "driver_version", "tool_version"),
		phase: describe("run_phase",
			"Where the run is: preparation, warm-up, measure, drain, or ended, then with its verdict.", "phase", "verdict"),
	}
	for _, r := range counters() {
		c.counters = append(c.counters, metric{r, describe(r.name, r.help)})
	}
	for _, r := range gauges() {
		c.gauges = append(c.gauges, metric{r, describe(r.name, r.help)})
	}
	for _, r := range brokers() {
		c.brokers = append(c.brokers, brokerMetric{r, describe(r.name, r.help, "broker")})
	}
	if all == nil { // an agent does not know the other agents
		for _, r := range agents() {
			c.agents = append(c.agents, agentMetric{r, describe(r.name, r.help, "agent", "host")})
		}
	}
	for m := range c.times {
		c.times[m] = describe(latency.Metric(m).String()+"_seconds", timeHelp[m], "book")
	}
	return c
}

// Take adds a change of a run. The first change of another run replaces the run.
func (c *Collector) Take(change follow.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if change.Run != nil {
		if c.seen == nil || c.seen.head.Run.ID != change.Run.Run.ID {
			c.seen = &run{totals: make(map[string]float64)}
			c.add(&result.Interval{}) // counters begin at zero, so that a rate includes the first interval
			c.seen.last = nil
		}
		c.seen.head = change.Run
	}
	if c.seen == nil {
		return // not a follower's first change
	}
	for i := range change.Intervals {
		c.add(&change.Intervals[i])
	}
	if change.Pulse != nil {
		c.seen.pulse = change.Pulse
	}
	for _, entry := range change.Histograms {
		c.seen.addTime(entry)
	}
	c.seen.ended = change.Ended
}

func (c *Collector) add(i *result.Interval) {
	for _, m := range c.counters {
		if n, known := m.of(i); known {
			c.seen.totals[m.name] += n
		}
	}
	c.seen.last = i
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.counters {
		descs <- m.desc
	}
	for _, m := range c.gauges {
		descs <- m.desc
	}
	for _, m := range c.brokers {
		descs <- m.desc
	}
	for _, m := range c.agents {
		descs <- m.desc
	}
	for _, d := range c.times {
		descs <- d
	}
	for _, d := range []*prometheus.Desc{c.lag, c.end, c.info, c.phase} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		return
	}
	send := sender{metrics: metrics, run: c.seen.head}
	c.collectState(send)
	for _, m := range c.counters {
		if total, known := c.seen.totals[m.name]; known && send.says(m.field) {
			send.value(m.desc, prometheus.CounterValue, total)
		}
	}
	if c.seen.last != nil {
		c.collectLast(send)
	}
	if c.seen.pulse != nil {
		c.collectAgents(send)
	}
	began := c.seen.began()
	for book, of := range c.seen.times {
		for m, h := range of {
			if h != nil {
				send.time(c.times[m], h, began, bookNames[book])
			}
		}
	}
}

func (c *Collector) collectState(send sender) {
	i := c.seen.head.Run
	if i.Driver.Name != "" {
		send.value(c.info, prometheus.GaugeValue, 1, i.Cluster.Kind, i.Cluster.Version, i.Driver.Name, i.Driver.Version,
			i.Tool.Version)
	}
	phase, verdict := "preparation", ""
	switch {
	case c.seen.ended:
		phase, verdict = "ended", c.seen.head.Verdict.Status
	case c.seen.last != nil:
		phase = c.seen.last.Phase
	}
	send.value(c.phase, prometheus.GaugeValue, 1, phase, verdict)
}

func (c *Collector) collectLast(send sender) {
	i := c.seen.last
	for _, m := range c.gauges {
		if v, known := m.of(i); known && send.says(m.field) {
			send.value(m.desc, prometheus.GaugeValue, v)
		}
	}
	if send.run.Says("run.started_at") {
		at := send.run.Run.StartedAt.Add(time.Duration(i.EndNs))
		send.value(c.end, prometheus.GaugeValue, float64(at.UnixMilli())/1e3)
	}
	for _, b := range i.Brokers {
		for _, m := range c.brokers {
			if v, known := m.of(b); known {
				send.value(m.desc, prometheus.GaugeValue, v, strconv.Itoa(int(b.ID)))
			}
		}
	}
	c.collectLag(send, i)
}

func (c *Collector) collectAgents(send sender) {
	for _, a := range c.seen.pulse.Agents {
		for _, m := range c.agents {
			send.value(m.desc, m.kind, float64(m.of(a)), strconv.Itoa(a.Index), a.HostName)
		}
	}
}

// collectLag exports the lag of each group. For a single group, it exports the lag of each
// partition if that is known.
func (c *Collector) collectLag(send sender, i *result.Interval) {
	switch parts := i.LagPartitions; {
	case len(i.Groups) > 0:
		for _, g := range i.Groups {
			if g.LagRecords != nil {
				send.value(c.lag, prometheus.GaugeValue, float64(*g.LagRecords), g.Name, "")
			}
		}
	case i.LagRecords == nil:
	case len(parts) == 0 || len(parts) > result.MaxPartitions:
		send.value(c.lag, prometheus.GaugeValue, float64(*i.LagRecords), send.run.Run.Group, "")
	default:
		for p, n := range parts {
			send.value(c.lag, prometheus.GaugeValue, float64(n), send.run.Run.Group, strconv.Itoa(p))
		}
	}
}

// began is when the run's counts were zero.
func (r *run) began() time.Time {
	at := r.head.Run.StartedAt
	if phases := r.head.Run.Phases; len(phases) > 0 {
		at = at.Add(time.Duration(phases[0].StartNs))
	}
	return at
}

type sender struct {
	metrics chan<- prometheus.Metric
	run     *result.Run
}

func (s sender) value(desc *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	s.metrics <- prometheus.MustNewConstMetric(desc, kind, v, append([]string{s.run.Run.ID, s.run.Run.Name}, labels...)...)
}

// says reports whether the run measures a field of its intervals. Without consumers, a backlog of 0
// would wrongly say that all records were delivered.
func (s sender) says(field string) bool {
	if behind := field == "backlog_records" || field == "time_lag_ns"; behind &&
		s.run.Scenario.Get("consume.consumers") == "0" {
		return false
	}
	return s.run.Says("intervals." + field)
}
