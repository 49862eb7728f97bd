package figure

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Better says which side of a figure is good.
type Better int8

const (
	Neither Better = iota // it only describes
	Higher
	Lower
)

// Kind is what a figure counts; it decides the format.
type Kind int8

// Kinds, with the output of Format, and the input in an expectation.
const (
	Nanoseconds    Kind = iota // 9.49 ms; written 10ms
	PerSecond                  // of records: 9,924/s; written 10k/s
	BytesPerSecond             // 5.08 MB/s; written 5MB/s
	Records                    // 309,435; written 300000
	Bytes                      // 78.3 MB; written 80MB
	Ratio                      // 99.98 %; written 0.9998 or 99.98%
	Count                      // of other things than records: 12; written 12
	Number                     // with decimals, such as cores: 1.25; written 1.25
)

// Figure is one number of a run.
type Figure struct {
	Name   string // such as e2e_response_time_p99
	Title  string // in a report, such as "e2e response time p99"
	Kind   Kind
	Better Better
	// Since is the first method with the present definition of the figure (see result.Method).
	// Values of earlier methods do not compare with later ones. 0 if all methods have this
	// definition.
	Since int

	// value returns the figure of a finished run, or the reason why it has none.
	value func(*result.Run) (v float64, missing string)
	// atLeast reports whether the value is only a lower bound; nil if it never is.
	atLeast func(*result.Run) bool
	// margin is the error of the value; nil if exact. So many tests share a level, if the margin has one.
	margin func(r *result.Run, tests int) float64
	// clock is the error of a time from two machines' clocks; nil if the figure has none.
	clock func(*result.Run) float64
	// fields are the source paths in run.json, which an imported run may lack.
	fields []string
	// Among sets among, and least: the lowest method whose values compare.
	among bool
	least int
}

const notMeasured = "it was not measured"

const notRecorded = "it was not recorded"

// All returns all figures, in the order of a report.
func All() []Figure {
	all := slices.Concat(books(), throughput(), times(), lag(), backpressure(), usage(), requests(), availability(),
		queue())
	for i, f := range all {
		all[i].Since = since(f.Name)
	}
	return all
}

// Headline returns the figures that a comparison shows first.
func Headline() []Figure {
	shown := []string{
		"offered_per_s", "acked_per_s", "delivered_per_s", "shed_ratio", "delivery_ratio", "delivered_to_acked_ratio",
		"send_response_time_p99", "e2e_service_time_p99",
		"e2e_response_time_p50", "e2e_response_time_p99", "e2e_response_time_p99_9",
		"lag_peak", "time_lag_peak", "drain_time",
	}
	return slices.DeleteFunc(All(), func(f Figure) bool { return !slices.Contains(shown, f.Name) })
}

// Backpressured returns the figures that a comparison of runs with backpressure adds.
func Backpressured() []Figure {
	shown := []string{"admitted_ratio", "deferred_peak", "utilisation", "lag_peak_of_max_lag",
		"e2e_response_time_p90", "settling_time"}
	return slices.DeleteFunc(All(), func(f Figure) bool { return !slices.Contains(shown, f.Name) })
}

// Reports look up many figures.
var known = sync.OnceValue(All)

// Named returns the figure of a name. Its error suggests a name.
func Named(name string) (Figure, error) {
	for _, f := range known() {
		if f.Name == name {
			return f, nil
		}
	}
	return Figure{}, unknown(name)
}

// unknown is the name of no figure. Its hint is made when it is read, since many callers only ask whether there is a figure.
type unknown string

func (u unknown) Error() string {
	names := make([]string, len(known()))
	for i, f := range known() {
		names[i] = f.Name
	}
	return fmt.Sprintf("figure %q: %s", string(u), hint(string(u), names))
}

func hint(name string, names []string) string {
	const example = "e2e_response_time_p99"
	word := strings.ToLower(name)
	if plain := withParentheses.FindStringSubmatch(word); plain != nil {
		word = "p" + plain[1]
	}
	switch {
	case word == "delivered" || word == "delivered_records":
		return "there is no figure of that name; did you mean delivery_ratio, of what was scheduled, or delivered_per_s?"
	case strings.Contains(word, "latency"):
		return "say from when to when: " + example +
			" counts from the intended send, e2e_service_time_p99 from the actual one"
	case slices.Contains(result.TimeMetrics, name):
		return fmt.Sprintf("add a statistic, as in %s_p99; there are %s", name, strings.Join(statisticKeys(), ", "))
	case slices.Contains(statisticKeys(), word):
		return "name the time too, as in e2e_response_time_" + word
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("there is no figure of that name; did you mean %s?", near)
	}
	longer := slices.DeleteFunc(slices.Clone(names),
		func(n string) bool { return word == "" || !strings.HasPrefix(n, word) })
	if len(longer) == 0 {
		longer = spelledOut(word, names)
	}
	if len(longer) > 0 {
		return "there is no figure of that name; did you mean " +
			strings.TrimPrefix(spelling.OneOf(longer[:min(len(longer), 6)]), "one of ") + "?"
	}
	return "there is no figure of that name; kafka-bench list --figures prints all, as " + example
}

// withParentheses is a percentile as k6 has it.
var withParentheses = regexp.MustCompile(`^p\((\d+)\)$`)

// spelledOut returns the shortest of the names that have all parts of the word in their order, as
// e2e_response_time_p99 has those of e2e_p99.
func spelledOut(word string, names []string) (found []string) {
	fewest := 0
	for _, name := range names {
		left, parts := strings.Split(word, "_"), strings.Split(name, "_")
		for _, part := range parts {
			if len(left) > 0 && part == left[0] {
				left = left[1:]
			}
		}
		switch {
		case len(left) > 0 || fewest > 0 && len(parts) > fewest:
			continue
		case len(parts) < fewest:
			found = nil
		}
		found, fewest = append(found, name), len(parts)
	}
	return found
}

// Value returns the figure of a run. The value is unknown if Missing gives a reason, or if it is
// only a lower bound (see AtLeast).
func (f Figure) Value(r *result.Run) (v float64, known bool) {
	v, missing := f.take(r)
	if missing != "" || f.isBound(r) {
		return 0, false
	}
	return v, true
}

// Ranked returns Value, or +Inf for a lower bound, which ranks above every value.
func (f Figure) Ranked(r *result.Run) (v float64, known bool) {
	v, missing := f.take(r)
	switch {
	case missing != "":
		return 0, false
	case f.isBound(r):
		return math.Inf(1), true
	}
	return v, true
}

// AtLeast returns the figure's value, or its lower bound, which may be 0.
func (f Figure) AtLeast(r *result.Run) (v float64, known bool) {
	v, missing := f.take(r)
	return v, missing == ""
}

func (f Figure) isBound(r *result.Run) bool { return f.atLeast != nil && f.atLeast(r) }

// ClockError returns the error of the figure, up or down, if it uses the clocks of two machines; 0
// with one clock.
func (f Figure) ClockError(r *result.Run) float64 {
	if f.clock == nil {
		return 0
	}
	return f.clock(r)
}

// Missing returns why a run does not have the figure; "" if it has the figure or a bound.
func (f Figure) Missing(r *result.Run) string {
	_, missing := f.take(r)
	return missing
}

func (f Figure) take(r *result.Run) (v float64, missing string) {
	switch {
	case f.value == nil:
		return 0, notMeasured
	case !r.Finished():
		return 0, "the run did not finish"
	case f.Otherwise(r) != "":
		return 0, f.Otherwise(r)
	case slices.ContainsFunc(f.fields, func(path string) bool { return !r.Says(path) }):
		if r.Run.Imported == nil {
			return 0, "the run could not measure it"
		}
		return 0, "the imported result does not tell it"
	}
	v, missing = f.value(r)
	if missing != "" || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, cmp.Or(missing, notMeasured)
	}
	return v, ""
}

// Unit returns the unit of raw values in documents; "1" for a plain number.
func (k Kind) Unit() string {
	switch k {
	case Nanoseconds:
		return "ns"
	case PerSecond:
		return "records/s"
	case BytesPerSecond:
		return "bytes/s"
	case Records:
		return "records"
	case Bytes:
		return "bytes"
	case Ratio:
		return "ratio"
	}
	return "1"
}

// Format formats a value for people: 9.49 ms, 9,924/s.
func (f Figure) Format(v float64) string {
	if math.IsNaN(v) || math.Abs(v) >= math.MaxInt64 {
		return unit.NotAvailable // too large for a whole number
	}
	switch f.Kind {
	case Nanoseconds:
		return unit.Nanos(int64(math.Round(v)))
	case PerSecond:
		return unit.PerSecond(v)
	case BytesPerSecond:
		return unit.Bytes(int64(math.Round(v))) + "/s"
	case Records, Count:
		return unit.Count(int64(math.Round(v)))
	case Bytes:
		return unit.Bytes(int64(math.Round(v)))
	case Ratio:
		return unit.Percent(v)
	case Number:
		return number(v)
	}
	return unit.NotAvailable
}

// FormatRanked formats Ranked and AtLeast, or a statistic of both over several runs: a value, or
// ">" and the bound, or a dash if the bound is 0.
func (f Figure) FormatRanked(v, atLeast float64) string {
	switch {
	case !math.IsInf(v, 1):
		return f.Format(v)
	case atLeast > 0:
		return "> " + f.Format(atLeast)
	}
	return "–"
}

// FormatClocked is FormatRanked with an error of clocks: 4.21 ms ± 0.13 ms, or a dash if the value
// is not above the error.
func (f Figure) FormatClocked(v, atLeast, clockError float64) string {
	if clockError == 0 || math.IsInf(v, 1) && atLeast <= 0 {
		return f.FormatRanked(v, atLeast)
	}
	bound := ""
	if math.IsInf(v, 1) {
		v, bound = atLeast, "> "
	}
	if v <= clockError {
		return unit.Absent
	}
	return bound + unit.NanosWithin(int64(math.Round(v)), int64(math.Ceil(clockError)))
}

// Text formats the figure of a run as FormatClocked does; known is false if the run does not have
// it.
func (f Figure) Text(r *result.Run) (text string, known bool) {
	v, known := f.Ranked(r)
	atLeast, _ := f.AtLeast(r)
	return f.FormatClocked(v, atLeast, f.ClockError(r)), known
}

// number prints two decimals, or two significant digits below 0.01.
func number(v float64) string {
	decimals := 2
	if small := math.Abs(v); small > 0 && small < 0.01 {
		decimals = min(1-int(math.Floor(math.Log10(small))), 9)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// beyond is how many records must be above a percentile.
const beyond = 10

// Supported reports whether count records are enough for a percentile, from 0 to 100: ten must be
// beyond it. So p99 needs 1,000 records, p99.9 10,000 and p99.99 100,000.
func Supported(percentile float64, count int64) bool {
	// Millionths of a per cent make 100 − 99.99 exact.
	const scale = 1e6
	above := math.Round((100 - percentile) * scale)
	return float64(count)*above >= beyond*100*scale
}
