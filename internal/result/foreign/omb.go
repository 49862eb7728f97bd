package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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
	// The rest is of Redpanda's fork.
	Version  string `json:"version"`
	Begin    string `json:"beginTime"` // of the whole test, with its preparation
	End      string `json:"endTime"`
	PeriodMs int64  `json:"sampleRateMillis"`

	Sent          []number `json:"sent"` // records in each period
	Consumed      []number `json:"consumed"`
	PublishFailed []number `json:"publishFailed"`
	ConsumeFailed []number `json:"consumeFailed"`

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

// ombPeriod is how often the benchmark reads its counters, unless sampleRateMillis says otherwise.
const ombPeriod = 10 * time.Second

// period is at most a day.
func (f *ombFile) period() time.Duration {
	if f.PeriodMs > 0 {
		return time.Duration(min(f.PeriodMs, 24*3_600_000)) * time.Millisecond
	}
	return ombPeriod
}

// until is the length of the first periods, in nanoseconds.
func (f *ombFile) until(periods int) int64 { return nanos(float64(periods), float64(f.period())) }

// ombTime is local.
const ombTime = "2006-01-02-15-04-05"

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
	counts func(*ombFile) []number
	lists  func(*ombFile) (p50, p99, max []number)
}

// The publish latency begins at the actual send; the delay before it is separate. The end-to-end
// latency begins at the record's timestamp, in milliseconds.
var ombMetrics = []ombMetric{
	{
		"PublishLatency", "send_service_time", 1e6, func(f *ombFile) []number { return f.PublishRate }, func(f *ombFile) []number { return f.Sent },
		func(f *ombFile) (p50, p99, max []number) { return f.PublishP50, f.PublishP99, f.PublishMax },
	},
	{
		"PublishDelayLatency", "send_delay", 1e3, func(f *ombFile) []number { return f.PublishRate }, func(f *ombFile) []number { return f.Sent },
		func(f *ombFile) (p50, p99, max []number) { return f.DelayP50, f.DelayP99, f.DelayMax },
	},
	{
		"EndToEndLatency", "e2e_service_time", 1e6, func(f *ombFile) []number { return f.ConsumeRate }, func(f *ombFile) []number { return f.Consumed },
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
	length := time.Duration(f.until(len(f.PublishRate)))
	d.lengthS = length.Seconds()
	d.phase("measure", 0, int64(length))
	if err := f.times(doc, length); err != nil {
		return err
	}
	f.describe(doc)
	f.books(doc)
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
		"sent": f.Sent, "consumed": f.Consumed, "publishFailed": f.PublishFailed, "consumeFailed": f.ConsumeFailed,
	}
	for _, m := range ombMetrics {
		p50, p99, highest := m.lists(f)
		prefix := string(m.stem[0]|0x20) + m.stem[1:]
		lists[prefix+"50pct"], lists[prefix+"99pct"], lists[prefix+"Max"] = p50, p99, highest
	}
	lists["backlog"] = f.Backlog // a difference of two counters, which may be negative
	for _, name := range sortedKeys(lists) {
		if n := len(lists[name]); n != len(f.PublishRate) && n > 0 {
			doc.wrong(name, "it has %d entries where publishRate has %d", n, len(f.PublishRate))
		}
		for i, v := range lists[name] {
			if v < 0 && name != "backlog" || math.IsInf(float64(v), 0) {
				doc.wrong(fmt.Sprintf("%s[%d]", name, i), "%v cannot be: it must be 0 or above", float64(v))
			}
		}
	}
}

// times sets the start of the measured window, which ends when the test does. beginTime is before
// the topics, clients and warm-up.
func (f *ombFile) times(doc *document, length time.Duration) error {
	location := cmp.Or(doc.options.Location, time.UTC)
	read := func(path, text string) (t time.Time) {
		if text == "" {
			return t
		}
		t, err := time.ParseInLocation(ombTime, text, location)
		if err != nil {
			doc.wrong(path, "%q is not a time as in 2026-11-21-20-15-00", shorten(text))
		}
		return t
	}
	begin, end := read("beginTime", f.Begin), read("endTime", f.End)
	if !end.IsZero() {
		doc.Run.Run.StartedAt = end.Add(-length)
	}
	if before := end.Sub(begin) - length; !begin.IsZero() && !end.IsZero() {
		if before < -time.Second { // times are whole seconds
			doc.condemn("its %d periods of %v are longer than the %v from beginTime to endTime", len(f.PublishRate),
				f.period(), end.Sub(begin))
		}
		doc.warn("the %v after its beginTime, before the measured window, were its preparation and warm-up", max(before, 0))
	}
	return doc.err()
}

// Counts are those of the file, or else estimates: rates × period.
func (f *ombFile) books(doc *document) {
	d := doc.draft
	acked, ackedPerS := f.over(f.Sent, f.PublishRate)
	failed, _ := f.over(f.PublishFailed, f.ErrorRate)
	d.Run.Load = result.Load{
		Scheduled: acked + failed, Admitted: acked + failed, Acked: acked, Failed: failed,
		OfferedPerS: ackedPerS, AckedPerS: ackedPerS, Bytes: count(float64(acked) * float64(f.RecordBytes)),
	}
	d.tells("load.acked", "load.acked_per_s")
	if f.RecordBytes > 0 {
		d.tells("load.bytes")
	}
	if len(f.ErrorRate)+len(f.PublishFailed) > 0 {
		d.tells("load.failed", "load.admitted")
	}
	if len(f.ConsumeRate) > 0 {
		d.Run.Delivery.Delivered, d.Run.Delivery.DeliveredPerS = f.over(f.Consumed, f.ConsumeRate)
		d.tells("delivery.checked", "delivery.delivered", "delivery.delivered_per_s")
		if doc.has("topics") && doc.has("consumersPerTopic") {
			d.Run.Consumer.Members = f.Topics * f.ConsumersPerTopic
			d.tells("consumer.members")
		}
	}
	if sum, _ := f.over(f.ConsumeFailed, nil); sum > 0 {
		d.warn("%s polls of its consumers failed", thousands(sum))
	}
	f.backlog(d)
}

// backlog takes 0 for a negative difference. If all are negative, the counters did not begin
// together, and nothing is known.
func (f *ombFile) backlog(d *draft) {
	below, lowest := 0, number(0)
	for i, n := range f.Backlog {
		d.Run.Lag.BacklogPeakRecords = max(d.Run.Lag.BacklogPeakRecords, count(float64(n)))
		if n < 0 {
			below, lowest = below+1, min(lowest, n)
			f.Backlog[i] = 0
		}
	}
	switch {
	case below == 0 && len(f.Backlog) > 0:
		d.tells("lag.backlog_peak_records", "intervals.backlog_records")
	case below == 0:
	case below == len(f.Backlog):
		d.warn("its backlog, a difference of two counters, is below 0 in all %d periods, down to %s: it is not known",
			below, thousands(int64(lowest)))
	default:
		d.tells("lag.backlog_peak_records", "intervals.backlog_records")
		d.warn("its backlog, a difference of two counters, is below 0 in %d of %d periods, down to %s: 0 is taken there",
			below, len(f.Backlog), thousands(int64(lowest)))
	}
}

// over sums up a series: counts if the file has them, or else rates × period.
func (f *ombFile) over(counts, rates []number) (records int64, perSecond float64) {
	var n, rate float64
	for i := range max(len(counts), len(rates)) {
		n += f.counted(counts, rates, i)
		rate += at(rates, i)
	}
	return count(n), rate / float64(max(len(rates), 1))
}

func (f *ombFile) counted(counts, rates []number, period int) float64 {
	if len(counts) > 0 {
		return at(counts, period)
	}
	return at(rates, period) * f.period().Seconds()
}

// at is 0 if a period has no figure.
func at(list []number, period int) float64 {
	if period >= len(list) || math.IsNaN(float64(list[period])) {
		return 0
	}
	return float64(list[period])
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
	t.Count, _ = f.over(m.counts(f), m.rate(f))
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
		"intervals.time.count", "intervals.time.p50_ns", "intervals.time.p99_ns", "intervals.time.max_ns")
	for n := range f.PublishRate {
		i := result.Interval{
			StartNs: f.until(n), EndNs: f.until(n + 1), Phase: "measure",
			Acked: count(f.counted(f.Sent, f.PublishRate, n)), Failed: count(f.counted(f.PublishFailed, f.ErrorRate, n)),
			Delivered: count(f.counted(f.Consumed, f.ConsumeRate, n)), BacklogRecords: count(at(f.Backlog, n)),
			Time: map[string]result.IntervalTime{},
		}
		for _, m := range ombMetrics {
			p50, p99, highest := m.lists(f)
			records := count(f.counted(m.counts(f), m.rate(f), n))
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

// describe leaves out what the file does not have.
func (f *ombFile) describe(doc *document) {
	load, consume, topic := object{}, object{}, object{}
	for _, s := range []struct {
		of    object
		key   string
		value any
		needs []string
	}{
		{topic, "partitions", f.Partitions, []string{"partitions"}},
		{load, "producers", f.Topics * f.ProducersPerTopic, []string{"topics", "producersPerTopic"}},
		{load, "record", object{"size": sizeText(f.RecordBytes)}, []string{"messageSize"}},
		{consume, "consumers", f.Topics * f.ConsumersPerTopic, []string{"topics", "consumersPerTopic"}},
	} {
		if !slices.ContainsFunc(s.needs, func(path string) bool { return !doc.has(path) }) {
			s.of[s.key] = s.value
		}
	}
	doc.Run.Scenario = object{
		"name": doc.options.Name, "description": f.Workload, "topic": topic, "load": load, "consume": consume,
	}.settings()
	doc.Run.Run.Driver = result.Driver{Name: strings.TrimSpace("openmessaging-benchmark " + f.Driver), Version: f.Version}
}

func (f *ombFile) caveats(d *draft) {
	d.warn("its publish latency begins at the actual send; how late that was is a series of its own (send_delay here), and the two cannot be added: there is no response time")
	d.warn("its end-to-end latency begins at the record's timestamp, in whole milliseconds, and samples of 0 ms and below were dropped")
	from := fmt.Sprintf("counts are its rates times its period of %v, and", f.period())
	if len(f.Sent) > 0 {
		from = "its periods are taken as exact, and"
	}
	d.warn("%s p90 and p99.5 the next of its quantiles above: all within a percent or so", from)
	d.warn("the file has no configuration; at a producerRate of 0, or a mistyped one, its rate was a search's and not an offered load")
	if f.Topics > 1 {
		d.warn("it is the sum of %d topics", f.Topics)
	}
}
