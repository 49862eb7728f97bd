package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Better says which side of a figure is the good one.
type Better int8

// Sides.
const (
	Neither Better = iota // it describes, and is no merit
	Higher
	Lower
)

// Kind is what a figure counts, and how it is written.
type Kind int8

// Kinds, with what Format makes of a value and what an expectation is written
// with.
const (
	Nanoseconds    Kind = iota // 9.49 ms; written 10ms
	PerSecond                  // of records: 9,924/s; written 10k/s
	BytesPerSecond             // 5.08 MB/s; written 5MB/s
	Records                    // 309,435; written 300000
	Bytes                      // 78.3 MB; written 80MB
	Ratio                      // 99.98 %; written 0.9998 or 99.98%
	Count                      // of other things than records: 12; written 12
	Number                     // with decimals, as cores: 1.25; written 1.25
)

// Figure is one number of a run.
type Figure struct {
	Name   string // as in e2e_response_time_p99
	Title  string // in the words of a report, as in "e2e response time p99"
	Kind   Kind
	Better Better
	// Since is the method from which its values compare (see result.Method): what
	// earlier ones measured under this name was something else. 0 is the first.
	Since int

	// value takes the figure from a finished run, or says why it has none.
	value func(*result.Run) (v float64, missing string)
	// atLeast tells whether the value is only a lower bound; nil where it never is.
	atLeast func(*result.Run) bool
	// margin is by how much the value may be off for reasons of its own; nil
	// where it is exact.
	margin func(*result.Run) float64
	// clock is by how much clocks that differ may have shifted the value; nil where none can.
	clock func(*result.Run) float64
	// fields are the paths in run.json that it is taken from: an imported run
	// may not tell them.
	fields []string
	// among is set by Among, and least the lowest method whose values compare then.
	among bool
	least int
}

// notMeasured is why a run has no figure, where there is no more to say.
const notMeasured = "it was not measured"

// All are the figures, in the order of a report: what became of the records,
// what was reached, their times, the lag, what held it back, what it took, what
// faults did, and what became of the records of a queue.
func All() []Figure {
	all := slices.Concat(books(), throughput(), times(), lag(), backpressure(), usage(), requests(), availability(),
		queue())
	for i, f := range all {
		all[i].Since = since(f.Name)
	}
	return all
}

// Headline are the figures that a comparison shows first, as far as its runs have
// them: a closed loop has no response times.
func Headline() []Figure {
	shown := []string{
		"offered_per_s", "acked_per_s", "delivered_per_s", "shed_ratio", "delivery_ratio",
		"send_response_time_p99", "e2e_service_time_p99",
		"e2e_response_time_p50", "e2e_response_time_p99", "e2e_response_time_p99_9",
		"lag_peak", "time_lag_peak", "drain_time",
	}
	return slices.DeleteFunc(All(), func(f Figure) bool { return !slices.Contains(shown, f.Name) })
}

// Backpressured are the figures beside those of Headline that a comparison of runs
// under backpressure shows.
func Backpressured() []Figure {
	shown := []string{"admitted_ratio", "deferred_peak", "utilisation", "lag_peak_of_max_lag",
		"e2e_response_time_p90", "settling_time"}
	return slices.DeleteFunc(All(), func(f Figure) bool { return !slices.Contains(shown, f.Name) })
}

// known are All, made once: reports ask for each figure by its name.
var known = sync.OnceValue(All)

// Named finds a figure. Its error says which one was probably meant.
func Named(name string) (Figure, error) {
	all := known()
	names := make([]string, len(all))
	for i, f := range all {
		if f.Name == name {
			return f, nil
		}
		names[i] = f.Name
	}
	return Figure{}, fmt.Errorf("figure %q: %s", name, hint(name, names))
}

// hint says what would have been right in place of name.
func hint(name string, names []string) string {
	const example = "e2e_response_time_p99"
	word := strings.ToLower(name)
	switch {
	case strings.Contains(word, "latency"):
		return "say from when to when: " + example +
			" counts from the intended send, e2e_service_time_p99 from the actual one"
	case slices.Contains(result.TimeMetrics, name):
		return fmt.Sprintf("say what of it, as in %s_p99; there are %s", name, strings.Join(statisticKeys(), ", "))
	case slices.Contains(statisticKeys(), name):
		return "say of which time, as in e2e_response_time_" + name
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("there is none of that name; did you mean %s?", near)
	}
	if longer := slices.DeleteFunc(slices.Clone(names),
		func(n string) bool { return word == "" || !strings.HasPrefix(n, word) }); len(longer) > 0 {
		return "there is none of that name; did you mean " +
			strings.TrimPrefix(spelling.OneOf(longer[:min(len(longer), 6)]), "one of ") + "?"
	}
	plain := slices.DeleteFunc(slices.Clone(names), isTime)
	return fmt.Sprintf("there is none of that name; the figures are %s, and of %s those that end as %s does",
		strings.Join(plain, ", "), strings.Join(result.TimeMetrics, ", "), example)
}

func isTime(name string) bool {
	return slices.ContainsFunc(result.TimeMetrics,
		func(metric string) bool { return strings.HasPrefix(name, metric+"_") })
}

// Value takes the figure from a run. It is not known where the run did not
// finish, where it was not measured, where its records are too few for the
// percentile, or where it is only a lower bound (see AtLeast).
func (f Figure) Value(r *result.Run) (v float64, known bool) {
	v, missing := f.take(r)
	if missing != "" || f.isBound(r) {
		return 0, false
	}
	return v, true
}

// Ranked is the figure among those of other runs: Value, or +Inf for a bound, which
// stands above every value and ties with every other bound. It is for ranks alone.
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

// AtLeast is what the figure is in a run at the least: its value, or the lower bound
// if no more is known of it, which 0 is of every time.
func (f Figure) AtLeast(r *result.Run) (v float64, known bool) {
	v, missing := f.take(r)
	return v, missing == ""
}

func (f Figure) isBound(r *result.Run) bool { return f.atLeast != nil && f.atLeast(r) }

// ClockError is by how much the figure of a run may be off, up or down, because it rests on
// the clocks of two machines; 0 of one clock.
func (f Figure) ClockError(r *result.Run) float64 {
	if f.clock == nil {
		return 0
	}
	return f.clock(r)
}

// Missing says why a run does not have the figure; "" where it does, or has a bound.
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

// Unit is the unit of raw values, as documents name it; "1" of a plain number.
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

// Format prints a value of the figure for people: 9.49 ms, 9,924/s. It rounds,
// and is not meant to be read back.
func (f Figure) Format(v float64) string {
	if math.IsNaN(v) || math.Abs(v) >= math.MaxInt64 {
		return unit.NotAvailable // as a whole number it would not fit
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

// FormatRanked prints what Ranked and AtLeast are, or a statistic of either over several
// runs: a value, > and the bound, or a dash where the bound says nothing.
func (f Figure) FormatRanked(v, atLeast float64) string {
	switch {
	case !math.IsInf(v, 1):
		return f.Format(v)
	case atLeast > 0:
		return "> " + f.Format(atLeast)
	}
	return "–"
}

// FormatClocked is FormatRanked of what clocks may have shifted by so much: 4.21 ms ± 0.13 ms,
// or a dash for a value that is not above that error.
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

// Text prints the figure of a run, as FormatClocked does; known is false where the run
// does not have it.
func (f Figure) Text(r *result.Run) (text string, known bool) {
	v, known := f.Ranked(r)
	atLeast, _ := f.AtLeast(r)
	return f.FormatClocked(v, atLeast, f.ClockError(r)), known
}

// number prints v with two decimals, and what would be lost by that with two digits.
func number(v float64) string {
	decimals := 2
	if small := math.Abs(v); small > 0 && small < 0.01 {
		decimals = min(1-int(math.Floor(math.Log10(small))), 9)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// beyond is how many records must lie above a percentile for it to be a figure.
const beyond = 10

// Supported tells whether count records are enough for a percentile, from 0 to
// 100: ten must lie beyond it, so that p99 needs 1,000 of them, p99.9 10,000 and
// p99.99 100,000.
func Supported(percentile float64, count int64) bool {
	// In millionths of a per cent, so that 100 − 99.99 is exact.
	const scale = 1e6
	above := math.Round((100 - percentile) * scale)
	return float64(count)*above >= beyond*100*scale
}
