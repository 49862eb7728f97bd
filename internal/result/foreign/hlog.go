package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
)

var hlogUnits = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond}

// ParseHlogUnit reads ns, us or ms.
func ParseHlogUnit(text string) (time.Duration, error) {
	if unit, known := hlogUnits[text]; known {
		return unit, nil
	}
	return 0, fmt.Errorf("there is no unit %q; choose ns, us or ms", text)
}

// readHdrLog reads an HdrHistogram interval log of any geometry and with any tags, such as
// Tussle's. A usual name of one of our metrics, as tag or as the file's name, becomes that metric;
// other names are kept.
//
// The time axis begins at our comment "#[MeasuredStart: …", or at the first interval; in a merged
// log, at each run's first measured interval. Values are recorded again in nanoseconds as the
// highest value of their bucket, as HdrHistogram reports percentiles, so none is too low.
func readHdrLog(d *draft, content []byte) error {
	log, err := d.hdrLines(content)
	if err != nil {
		return err
	}
	totals, err := log.read(d)
	if err != nil {
		return err
	}
	var strange []string
	for _, tag := range sortedKeys(totals) {
		if !strings.HasPrefix(tag, warmupTag) {
			d.metric(tag, result.TimeOf(totals[tag].Distribution()), timeFields...)
		}
		if !ourMetric(tag) {
			strange = append(strange, tag)
		}
	}
	switch n := len(strange); {
	case n == 1:
		d.warn("the tag %s is none of our metrics and keeps its name", strange[0])
	case n > 1:
		d.warn("%d tags are none of our metrics and keep their names: %s", n, strings.Join(strange, ", "))
	}
	d.histograms = log.entries
	d.Run.Run.StartedAt = log.startedAt()
	if first := log.entries[0].start; first < 0 {
		d.phase("warm-up", int64(first), 0)
	}
	d.phase("measure", 0, nanos(d.lengthS, 1e9))
	d.warn("a histogram log has only times: no rates, no books, no configuration")
	if of := d.options.part; of.id != "" {
		d.warn("it is of the run %s-%s of kafka-bench: its times begin where that run's did", of.name, of.id)
		return nil
	}
	d.warn("whether its times begin when a record was due or when it was sent, and whether a warm-up is among them, depends on the tool that wrote it")
	return nil
}

var timeFields = []string{
	"count", "min_ns", "mean_ns", "stddev_ns", "mad_ns", "p50_ns", "p75_ns", "p90_ns", "p95_ns", "p99_ns",
	"p99_5_ns", "p99_9_ns", "p99_99_ns", "max_ns", "out_of_range",
}

// hdrEntry is one line of a log with its encoded histogram, because the decoded ones of a long log
// do not fit into memory.
type hdrEntry struct {
	line       int
	start, end time.Duration
	raw, tag   string // as it was written, and the metric
	text       string
	unit       time.Duration
}

func (e hdrEntry) histogram() (*latency.Histogram, error) { return decodeHdr(e.text, e.unit) }

type hdrLog struct {
	entries    []hdrEntry    // by start, on the run's axis
	epoch      time.Time     // of the log's zero, if it has one
	based      bool          // by a line of its own
	measuredAt time.Duration // of the run's zero, in the log's time
}

func (l *hdrLog) startedAt() time.Time {
	if l.epoch.IsZero() {
		return time.Time{}
	}
	return l.epoch.Add(l.measuredAt)
}

const (
	hdrStartTime     = "#[StartTime: "
	hdrBaseTime      = "#[BaseTime: " // what the times of the lines are added to
	hdrMeasuredStart = "#[MeasuredStart: "
)

// hdrAbsolute is the value from which a line's time is absolute, in Unix seconds: 1973.
const hdrAbsolute = 100_000_000 * time.Second

// newHdrLog: a log's header begins a further log if it comes after a histogram.
func newHdrLog() func(line string) bool {
	inside := false
	return func(line string) bool {
		if line == "" || line[0] == '"' || strings.HasPrefix(line, "```") {
			return false
		}
		if line[0] != '#' {
			inside = true
			return false
		}
		begins := inside && slices.ContainsFunc([]string{"#[Logg", "#[Histogram log format", hdrStartTime, hdrBaseTime},
			func(header string) bool { return strings.HasPrefix(line, header) })
		inside = inside && !begins
		return begins
	}
}

func (d *draft) hdrLines(content []byte) (*hdrLog, error) {
	log := &hdrLog{}
	measured, last, latest := false, lastFilled(content), map[string]hdrEntry{}
	var faults []error
	for number, line := range textLines(content) {
		var err error
		switch text, _, _ := strings.Cut(line, " (seconds"); {
		case strings.HasPrefix(line, hdrStartTime):
			var since time.Duration
			since, err = seconds(strings.TrimPrefix(text, hdrStartTime))
			if !log.based {
				log.epoch = time.Unix(0, int64(since))
			}
		case strings.HasPrefix(line, hdrBaseTime):
			var since time.Duration
			since, err = seconds(strings.TrimPrefix(text, hdrBaseTime))
			log.epoch, log.based = time.Unix(0, int64(since)), true
		case strings.HasPrefix(line, hdrMeasuredStart):
			log.measuredAt, err = seconds(strings.TrimPrefix(text, hdrMeasuredStart))
			measured = true
		case line == "" || line[0] == '#' || line[0] == '"' || strings.HasPrefix(line, "```"):
		default:
			var entry hdrEntry
			entry, err = d.hdrEntry(number, line)
			if err == nil && number == last {
				_, err = entry.histogram()
			}
			switch before, again := latest[entry.raw]; {
			case err != nil && number == last && len(log.entries) > 0:
				d.warn("its last line, %d, is cut and left out: %v", d.line(number), err)
				err = nil
			case err == nil && again && entry.start < before.start: // no header says that a second log begins
				err = fmt.Errorf("the time goes back from %v to %v after line %d: these are two logs; give each a file of its own",
					before.start, entry.start, d.line(before.line))
			case err == nil:
				latest[entry.raw] = entry
				log.entries = append(log.entries, entry)
			}
		}
		if err != nil {
			faults = append(faults, d.fault(number, "%w", err))
		}
	}
	if len(faults) == 0 && len(log.entries) == 0 {
		faults = append(faults, d.fault(lastLine(content), "the log ends without a histogram"))
	}
	if len(faults) == 0 {
		if d.options.part.shared {
			log.measuredAt, measured = log.firstMeasured(), true
		}
		log.settle(measured)
	}
	return log, errors.Join(faults...)
}

func lastFilled(content []byte) int {
	return 1 + bytes.Count(bytes.TrimSpace(content), []byte("\n")) +
		bytes.Count(content[:len(content)-len(bytes.TrimLeft(content, " \t\n"))], []byte("\n"))
}

// firstMeasured falls back to the end of the warm-up.
func (l *hdrLog) firstMeasured() (at time.Duration) {
	at = l.entries[0].end
	found := false
	for _, e := range l.entries {
		switch warmup := strings.HasPrefix(e.tag, warmupTag); {
		case !warmup && (!found || e.start < at):
			at, found = e.start, true
		case warmup && !found:
			at = max(at, e.end)
		}
	}
	return at
}

func (l *hdrLog) settle(measured bool) {
	slices.SortStableFunc(l.entries, func(a, b hdrEntry) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.line, b.line))
	})
	first := l.entries[0].start
	if !measured {
		l.measuredAt = first
	}
	if first > hdrAbsolute && !l.based {
		l.epoch = time.Unix(0, 0)
	}
	for i := range l.entries {
		l.entries[i].start -= l.measuredAt
		l.entries[i].end -= l.measuredAt
	}
}

// The form is "Tag=tag,start,length,max,histogram"; the tag is optional.
func (d *draft) hdrEntry(number int, line string) (entry hdrEntry, err error) {
	tag := ""
	if rest, tagged := strings.CutPrefix(line, "Tag="); tagged {
		tag, line, _ = strings.Cut(rest, ",")
	}
	fields := strings.Split(line, ",")
	if len(fields) != 4 {
		return entry, fmt.Errorf("%d fields after the tag, and there should be start, length, max and histogram",
			len(fields))
	}
	if entry.start, err = seconds(fields[0]); err != nil {
		return entry, err
	}
	length, err := seconds(fields[1])
	if err != nil {
		return entry, err
	}
	if length < 0 {
		return entry, fmt.Errorf("the interval's length is %v", length)
	}
	entry.end, entry.line = entry.start+length, number
	entry.raw, entry.tag = tag, d.metricOf(tag)
	entry.text, entry.unit = fields[3], max(d.options.HlogUnit, time.Nanosecond)
	return entry, nil
}

// hdrLatest bounds the times of a log: the year 2100.
const hdrLatest = 130 * 365 * 24 * time.Hour

// seconds reads decimal seconds, to the nanosecond.
func seconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text) + "s")
	if err != nil || strings.ContainsAny(text, "hmµu") || d > hdrLatest || d < -hdrLatest {
		return 0, fmt.Errorf("%s is not a number of seconds", strconv.Quote(shorten(text)))
	}
	return d, nil
}

func decodeHdr(text string, unit time.Duration) (*latency.Histogram, error) {
	text, err := modernHdr(text)
	if err != nil {
		return nil, fmt.Errorf("the histogram cannot be read: %w", err)
	}
	decoded, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the histogram cannot be read: %w", err)
	}
	h := latency.NewHistogram()
	for _, bar := range decoded.Distribution() {
		if bar.Count <= 0 {
			continue
		}
		ns := int64(maxNanos)
		if bar.To < maxNanos/int64(unit) {
			ns = bar.To * int64(unit)
		}
		h.RecordN(ns, bar.Count)
	}
	return h, nil
}

const warmupTag = "warmup_"

// metricNames are other tools' names of our metrics, in the form of plainName.
var metricNames = map[string]string{
	"send_service":                     "send_service_time",
	"send_response":                    "send_response_time",
	"end_to_end_service_time":          "e2e_service_time",
	"end_to_end_response_time":         "e2e_response_time",
	"poll_service_time":                "poll_time",
	"poll":                             "poll_time",
	"publish_latency":                  "send_service_time",
	"publish_delay_latency":            "send_delay",
	"end_to_end_latency":               "e2e_service_time",
	"e2e_latency":                      "e2e_service_time",
	"ack_latency":                      "send_service_time",
	"aggregated_publish_latency":       "send_service_time",
	"aggregated_end_to_end_latency":    "e2e_service_time",
	"aggregated_publish_delay_latency": "send_delay",
}

// An empty tag means the file's name. An unknown name is kept, in the form of plainName.
func (d *draft) metricOf(tag string) string {
	if tag == "" {
		base := filepath.Base(d.path)
		tag = strings.TrimSuffix(base, filepath.Ext(base))
	}
	plain := plainName(tag)
	if metric := strings.TrimPrefix(plain, warmupTag); slices.Contains(result.TimeMetrics, metric) {
		return plain
	}
	for _, metric := range result.TimeMetrics {
		if strings.HasPrefix(plain, metric+"_") { // Tussle appends percent, rate and step
			return metric
		}
	}
	for _, other := range slices.Backward(sortedKeys(metricNames)) { // longer names first
		if plain == other || strings.HasPrefix(plain, other+"_") {
			return metricNames[other]
		}
	}
	if plain == "" {
		return "untagged"
	}
	return plain
}

// plainName returns a name in lower case, with "_" between groups of letters and digits.
func plainName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "_")
}

// Each tag needs a histogram in memory.
const maxTags = 100

// read returns the sum of each tag, and adds an interval for each period.
func (l *hdrLog) read(d *draft) (totals map[string]*latency.Histogram, err error) {
	d.tells("intervals.start_ns", "intervals.end_ns",
		"intervals.time.count", "intervals.time.p50_ns", "intervals.time.p99_ns", "intervals.time.max_ns")
	totals = make(map[string]*latency.Histogram)
	stretch := make(map[string]*latency.Histogram)
	var faults []error
	for n, e := range l.entries {
		h, err := e.histogram()
		switch {
		case err != nil:
			faults = append(faults, d.fault(e.line, "%w", err))
			continue
		case totals[e.tag] == nil && len(totals) == maxTags:
			return nil, d.fault(e.line, "the tag %s is one more than the %d that are read", e.tag, maxTags)
		}
		if n == 0 || e.start != l.entries[n-1].start || e.end != l.entries[n-1].end || len(d.Intervals) == 0 {
			d.Intervals = append(d.Intervals, e.interval())
			clear(stretch)
		}
		// An interval includes records of the warm-up that end in it.
		metric := strings.TrimPrefix(e.tag, warmupTag)
		mergeInto(totals, e.tag, h)
		mergeInto(stretch, metric, h)
		if s := stretch[metric].Summary(); s.Count > 0 {
			d.Intervals[len(d.Intervals)-1].Time[metric] = result.IntervalTime{Count: s.Count, P50Ns: s.P50Ns,
				P99Ns: s.P99Ns, MaxNs: s.MaxNs}
		}
		d.lengthS = max(d.lengthS, e.end.Seconds())
	}
	return totals, errors.Join(faults...)
}

func (e hdrEntry) interval() result.Interval {
	phase := "measure"
	if e.end <= 0 && e.start < 0 {
		phase = "warm-up"
	}
	return result.Interval{StartNs: int64(e.start), EndNs: int64(e.end), Phase: phase,
		Time: map[string]result.IntervalTime{}}
}

func mergeInto(sums map[string]*latency.Histogram, name string, h *latency.Histogram) {
	if sums[name] == nil {
		sums[name] = latency.NewHistogram()
	}
	sums[name].Merge(h)
}
