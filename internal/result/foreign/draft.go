package foreign

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

type draft struct {
	path    string
	options Options
	says    []string // paths of the fields that the source has
	lengthS float64  // of the run, to its end, in seconds
	Result
}

func newDraft(path string, o Options) *draft {
	d := &draft{path: path, options: o}
	d.Run.SchemaVersion = result.SchemaVersion
	d.Run.Run = result.Info{
		Name: o.Name, Tool: o.Tool,
		Imported: &result.Imported{Format: string(o.Format), File: filepath.Base(path)},
	}
	d.Run.Verdict = result.Verdict{Status: result.Unchecked, Reasons: []string{}, Warnings: []string{}}
	d.Run.Time = map[string]result.Time{}
	return d
}

func (d *draft) tells(paths ...string) { d.says = append(d.says, paths...) }

func (d *draft) warn(format string, args ...any) {
	d.Run.Verdict.Warnings = append(d.Run.Verdict.Warnings, fmt.Sprintf(format, args...))
}

func (d *draft) condemn(format string, args ...any) {
	d.Run.Verdict.Status = result.Invalid
	d.Run.Verdict.Reasons = append(d.Run.Verdict.Reasons, fmt.Sprintf(format, args...))
}

func (d *draft) fault(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", d.path, d.line(line), fmt.Errorf(format, args...))
}

// line converts a line of the part to one of the file.
func (d *draft) line(ofPart int) int { return ofPart + d.options.part.before }

// told are the fields that the source has.
func (d *draft) metric(name string, t result.Time, told ...string) {
	d.Run.Time[name] = t
	for _, field := range told {
		d.tells("time." + name + "." + field)
	}
}

func (d *draft) phase(name string, startNs, endNs int64) {
	d.Run.Run.Phases = append(d.Run.Run.Phases, result.Phase{Name: name, StartNs: startNs, EndNs: endNs})
	d.Events = append(d.Events, result.Event{AtNs: startNs, Kind: "phase", What: name})
}

// finish adds what all formats share.
func (d *draft) finish() *Result {
	d.times()
	for _, reason := range contradictions(&d.Run) {
		d.condemn("%s", reason)
	}
	d.Run.Verdict.Warnings = slices.Insert(d.Run.Verdict.Warnings, 0, fmt.Sprintf(
		"imported (%s): not judged by the rules of kafka-bench; the verdict says only whether its own figures agree", d.options.Format))
	imported := d.Run.Run.Imported
	imported.CannotSay = append(imported.CannotSay, unsaid(&d.Run, d.Intervals, d.says)...)
	slices.SortStableFunc(d.Events, func(a, b result.Event) int { return int(min(max(a.AtNs-b.AtNs, -1), 1)) })
	return &d.Result
}

// times sets the run's times, by default from Options.Modified.
func (d *draft) times() {
	info := &d.Run.Run
	length := time.Duration(nanos(d.lengthS, 1e9))
	if info.StartedAt.IsZero() {
		info.Imported.CannotSay = append(info.Imported.CannotSay, "run.started_at", "run.finished_at")
		info.StartedAt = time.Unix(0, 0)
		if !d.options.Modified.IsZero() {
			info.StartedAt = d.options.Modified.Add(-length)
		}
	}
	info.StartedAt = info.StartedAt.UTC()
	info.FinishedAt = info.StartedAt.Add(length)
}

// v is in units of unit nanoseconds; the result is within ±maxNanos.
func nanos(v, unit float64) int64 {
	v = math.Round(v * unit)
	switch {
	case math.IsNaN(v):
		return 0
	case v >= maxNanos:
		return maxNanos
	case v <= -maxNanos:
		return -maxNanos
	}
	return int64(v)
}

// Times of a hundred years can be added without overflow.
const maxNanos = 100 * 365 * 24 * 3_600_000_000_000

func count(v float64) int64 {
	if math.IsNaN(v) {
		return 0
	}
	return int64(min(max(math.Round(v), 0), 1<<53))
}

func contradictions(r *result.Run) (reasons []string) {
	for _, name := range sortedKeys(r.Time) {
		t := r.Time[name]
		highest, what := t.MinNs, "the minimum"
		for _, p := range []struct {
			name string
			ns   int64
		}{
			{"p50", t.P50Ns}, {"p75", t.P75Ns}, {"p90", t.P90Ns}, {"p95", t.P95Ns}, {"p99", t.P99Ns},
			{"p99.5", t.P995Ns}, {"p99.9", t.P999Ns}, {"p99.99", t.P9999Ns}, {"the maximum", t.MaxNs},
		} {
			if p.ns == 0 {
				continue // missing, or too short for the source's clock
			}
			if p.ns < highest {
				reasons = append(reasons, fmt.Sprintf("%s of %s is %v, below %s, which is %v",
					p.name, name, time.Duration(p.ns), what, time.Duration(highest)))
			}
			highest, what = p.ns, p.name
		}
		if highest > 0 && t.MeanNs > float64(highest) && t.MaxNs > 0 {
			reasons = append(reasons, fmt.Sprintf("the mean of %s is above its maximum", name))
		}
	}
	return reasons
}
