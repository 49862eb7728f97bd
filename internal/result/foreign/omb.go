package foreign

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"kafkabench.example/kafka-bench/internal/result"
)

// For each of three latencies the file has a list with an entry per period, and an aggregate.
type ombFile struct {
	Workload          string `json:"workload"`
	Driver            string `json:"driver"`
	RecordBytes       int64  `json:"messageSize"`
	Topics            int    `json:"topics"`
	Partitions        int    `json:"partitions"`
	ProducersPerTopic int    `json:"producersPerTopic"`
	ConsumersPerTopic int    `json:"consumersPerTopic"`

	PublishRate []number `json:"publishRate"`
	ErrorRate   []number `json:"publishErrorRate"`
	ConsumeRate []number `json:"consumeRate"`
	Backlog     []number `json:"backlog"`

	PublishP50 []number `json:"publishLatency50pct"`
	PublishP99 []number `json:"publishLatency99pct"`
	PublishMax []number `json:"publishLatencyMax"`
	DelayP50   []number `json:"publishDelayLatency50pct"`
	DelayP99   []number `json:"publishDelayLatency99pct"`
	DelayMax   []number `json:"publishDelayLatencyMax"`
	E2EP50     []number `json:"endToEndLatency50pct"`
	E2EP99     []number `json:"endToEndLatency99pct"`
	E2EMax     []number `json:"endToEndLatencyMax"`

	// aggregates are by the file's keys (aggregatedPublishLatencyAvg), quantiles by ombMetric.stem.
	aggregates map[string]number
	quantiles  map[string]map[string]number
}

// The benchmark reads its counters this often.
const ombPeriodNs = 10_000_000_000

// Jackson's words for NaN mean that nothing was measured.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null", `"NaN"`, "NaN":
		*n = number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%s is not a number", shorten(string(b)))
	}
	*n = number(v)
	return nil
}

type ombMetric struct {
	stem   string // of its keys
	metric string
	unit   float64 // nanoseconds
	rate   func(*ombFile) []number
	lists  func(*ombFile) (p50, p99, max []number)
}

// The publish latency begins at the actual send; the delay before it is separate. The end-to-end
// latency begins at the record's timestamp, in milliseconds.
var ombMetrics = []ombMetric{
	{
		"PublishLatency", "send_service_time", 1e6, func(f *ombFile) []number { return f.PublishRate },
		func(f *ombFile) (p50, p99, max []number) { return f.PublishP50, f.PublishP99, f.PublishMax },
	},
	{
		"PublishDelayLatency", "send_delay", 1e3, func(f *ombFile) []number { return f.PublishRate },
		func(f *ombFile) (p50, p99, max []number) { return f.DelayP50, f.DelayP99, f.DelayMax },
	},
	{
		"EndToEndLatency", "e2e_service_time", 1e6, func(f *ombFile) []number { return f.ConsumeRate },
		func(f *ombFile) (p50, p99, max []number) { return f.E2EP50, f.E2EP99, f.E2EMax },
	},
}

// UnmarshalJSON reads the plain fields and the aggregates.
func (f *ombFile) UnmarshalJSON(b []byte) error {
	type plain ombFile
	if err := json.Unmarshal(b, (*plain)(f)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	f.aggregates, f.quantiles = make(map[string]number), make(map[string]map[string]number)
	for _, m := range ombMetrics {
		for _, suffix := range []string{"Avg", "50pct", "75pct", "95pct", "99pct", "999pct", "9999pct", "Max"} {
			key := "aggregated" + m.stem + suffix
			if raw, there := all[key]; there {
				var v number
				if err := json.Unmarshal(raw, &v); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
				f.aggregates[key] = v
			}
		}
		key := "aggregated" + m.stem + "Quantiles"
		if raw, there := all[key]; there {
			var v map[string]number
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			f.quantiles[m.stem] = v
		}
	}
	return nil
}

func readOMB(d *draft, content []byte) error {
	var f ombFile
	doc, err := openDocument(d, content, &f)
	if err != nil {
		return err
	}
	doc.need("publishRate", "aggregatedPublishLatencyAvg", "aggregatedPublishLatency50pct",
		"aggregatedPublishLatency99pct", "aggregatedPublishLatencyMax")
	f.check(doc)
	if err := doc.err(); err != nil {
		return err
	}
	periods := len(f.PublishRate)
	d.lengthS = float64(periods) * ombPeriodNs / 1e9
	d.phase("measure", 0, int64(periods)*ombPeriodNs)
	f.describe(d)
	f.books(d)
	for _, m := range ombMetrics {
		f.distribution(d, m)
	}
	f.series(d)
	f.caveats(d)
	return nil
}

func (f *ombFile) check(doc *document) {
	if len(f.PublishRate) == 0 && doc.has("publishRate") {
		doc.wrong("publishRate", "it is empty: nothing was measured")
	}
	lists := map[string][]number{
		"publishRate": f.PublishRate, "publishErrorRate": f.ErrorRate, "consumeRate": f.ConsumeRate,
		"backlog": f.Backlog,
	}
	for _, m := range ombMetrics {
		p50, p99, highest := m.lists(f)
		prefix := string(m.stem[0]|0x20) + m.stem[1:]
		lists[prefix+"50pct"], lists[prefix+"99pct"], lists[prefix+"Max"] = p50, p99, highest
	}
	for _, name := range sortedKeys(lists) {
		if n := len(lists[name]); n != len(f.PublishRate) && n > 0 {
			doc.wrong(name, "it has %d entries where publishRate has %d", n, len(f.PublishRate))
		}
		for i, v := range lists[name] {
			if v < 0 || math.IsInf(float64(v), 0) {
				doc.wrong(fmt.Sprintf("%s[%d]", name, i), "%v cannot be: it must be 0 or above", float64(v))
			}
		}
	}
}

// The counts are estimates: rates × period.
func (f *ombFile) books(d *draft) {
	acked, ackedPerS := overPeriods(f.PublishRate)
	failed, _ := overPeriods(f.ErrorRate)
	d.Run.Load = result.Load{
		Scheduled: acked + failed, Admitted: acked + failed, Acked: acked, Failed: failed,
		OfferedPerS: ackedPerS, AckedPerS: ackedPerS, Bytes: acked * max(f.RecordBytes, 0),
	}
	d.tells("load.acked", "load.acked_per_s", "load.bytes")
	if len(f.ErrorRate) > 0 {
		d.tells("load.failed", "load.admitted")
	}
	if len(f.ConsumeRate) > 0 {
		d.Run.Delivery.Delivered, d.Run.Delivery.DeliveredPerS = overPeriods(f.ConsumeRate)
		d.Run.Consumer.Members = f.Topics * f.ConsumersPerTopic
		d.tells("delivery.checked", "delivery.delivered", "delivery.delivered_per_s", "consumer.members")
	}
	if len(f.Backlog) > 0 {
		for _, n := range f.Backlog {
			d.Run.Lag.BacklogPeakRecords = max(d.Run.Lag.BacklogPeakRecords, count(float64(n)))
		}
		d.tells("lag.backlog_peak_records")
	}
}

func overPeriods(rates []number) (records int64, perSecond float64) {
	sum := 0.0
	for _, rate := range rates {
		if !math.IsNaN(float64(rate)) {
			sum += float64(rate)
		}
	}
	if len(rates) == 0 {
		return 0, 0
	}
	return count(sum * ombPeriodNs / 1e9), sum / float64(len(rates))
}

// Percentiles without a key come from the quantiles.
func (f *ombFile) distribution(d *draft, m ombMetric) {
	var t result.Time
	var told []string
	mean := f.aggregates["aggregated"+m.stem+"Avg"]
	if _, there := f.aggregates["aggregated"+m.stem+"50pct"]; !there || math.IsNaN(float64(mean)) {
		return
	}
	t.MeanNs = float64(mean) * m.unit
	told = append(told, "mean_ns")
	for _, p := range []struct {
		suffix, field string
		percent       float64
		into          *int64
	}{
		{"50pct", "p50_ns", 50, &t.P50Ns}, {"75pct", "p75_ns", 75, &t.P75Ns}, {"", "p90_ns", 90, &t.P90Ns},
		{"95pct", "p95_ns", 95, &t.P95Ns}, {"99pct", "p99_ns", 99, &t.P99Ns}, {"", "p99_5_ns", 99.5, &t.P995Ns},
		{"999pct", "p99_9_ns", 99.9, &t.P999Ns}, {"9999pct", "p99_99_ns", 99.99, &t.P9999Ns},
		{"Max", "max_ns", 100, &t.MaxNs},
	} {
		v, there := f.aggregates["aggregated"+m.stem+p.suffix]
		if !there {
			v, there = f.quantile(m.stem, p.percent)
		}
		if there && !math.IsNaN(float64(v)) {
			*p.into = nanos(float64(v), m.unit)
			told = append(told, p.field)
		}
	}
	t.Count, _ = overPeriods(m.rate(f))
	d.metric(m.metric, t, append(told, "count")...)
}

// quantile returns the value at percent, or at the next higher percentage, so that it is never too
// low.
func (f *ombFile) quantile(stem string, percent float64) (v number, found bool) {
	at := math.Inf(1)
	for key, value := range f.quantiles[stem] {
		p, err := strconv.ParseFloat(key, 64)
		if err == nil && p >= percent && p < at {
			at, v, found = p, value, true
		}
	}
	return v, found
}

func (f *ombFile) series(d *draft) {
	d.tells("intervals.start_ns", "intervals.end_ns", "intervals.acked", "intervals.delivered", "intervals.failed",
		"intervals.backlog_records", "intervals.time.count", "intervals.time.p50_ns", "intervals.time.p99_ns", "intervals.time.max_ns")
	at := func(list []number, n int) float64 {
		if n >= len(list) || math.IsNaN(float64(list[n])) {
			return 0
		}
		return float64(list[n])
	}
	const periodS = ombPeriodNs / 1e9
	for n := range f.PublishRate {
		i := result.Interval{
			StartNs: int64(n) * ombPeriodNs, EndNs: int64(n+1) * ombPeriodNs, Phase: "measure",
			Acked: count(at(f.PublishRate, n) * periodS), Failed: count(at(f.ErrorRate, n) * periodS),
			Delivered: count(at(f.ConsumeRate, n) * periodS), BacklogRecords: count(at(f.Backlog, n)),
			Time: map[string]result.IntervalTime{},
		}
		for _, m := range ombMetrics {
			p50, p99, highest := m.lists(f)
			records := count(at(m.rate(f), n) * periodS)
			if len(p50) == 0 || records == 0 {
				continue
			}
			i.Time[m.metric] = result.IntervalTime{
				Count: records, P50Ns: nanos(at(p50, n), m.unit), P99Ns: nanos(at(p99, n), m.unit),
				MaxNs: nanos(at(highest, n), m.unit),
			}
		}
		d.Intervals = append(d.Intervals, i)
	}
}

func (f *ombFile) describe(d *draft) {
	d.Run.Scenario = object{
		"name": d.options.Name, "description": f.Workload,
		"topic": object{"partitions": f.Partitions},
		"load":  object{"producers": f.Topics * f.ProducersPerTopic, "record": object{"size": sizeText(f.RecordBytes)}},
		"consume": object{
			"consumers": f.Topics * f.ConsumersPerTopic,
		},
	}.settings()
	d.Run.Run.Driver = result.Driver{Name: "openmessaging-benchmark " + f.Driver}
}

func (f *ombFile) caveats(d *draft) {
	d.warn("its publish latency begins at the actual send; how late that was is a series of its own (send_delay here), and the two cannot be added: there is no response time")
	d.warn("its end-to-end latency begins at the record's timestamp, in whole milliseconds, and samples of 0 ms and below were dropped")
	d.warn("counts are its rates times its period of 10s, and p90 and p99.5 the next of its quantiles above: all within a percent or so")
	d.warn("the file has no configuration, versions or times; at a producerRate of 0, or a mistyped one, its rate was a search's and not an offered load")
	if f.Topics > 1 {
		d.warn("it is the sum of %d topics", f.Topics)
	}
}
