package showtest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// Imported returns a run imported from the output of kafka-producer-perf-test, which does not say
// when the run began.
func Imported(name string) *result.Recorded {
	r := &result.Recorded{Dir: "runs/" + name, Run: result.Run{
		SchemaVersion: 1,
		Run: result.Info{
			ID: "i2mzr4", Name: name, StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt.Add(time.Second),
			Imported: &result.Imported{Format: "producer-perf", File: name + ".txt", CannotSay: []string{
				"run.started_at", "run.finished_at", "load.offered_per_s", "load.scheduled", "load.admitted", "load.bytes", "delivery", "lag", "consumer",
				"process", "time.send_service_time.p99_5_ns", "time.send_service_time.out_of_range", "intervals.shed",
			}},
			Phases: []result.Phase{{Name: "measure", EndNs: 1e9}},
		},
		Verdict: result.Verdict{Status: result.Unchecked, Warnings: []string{"imported (producer-perf): not judged"}},
		Load:    result.Load{Scheduled: 5000, Admitted: 5000, Acked: 5000, OfferedPerS: 5000, AckedPerS: 5000},
		Time:    map[string]result.Time{"send_service_time": {Count: 5000, P50Ns: 1_000_000, P99Ns: 3_000_000, MaxNs: 9_000_000}},
	}}
	return r
}

// TimesAlone returns a run imported from a histogram log, with a tag that is none of our metrics.
func TimesAlone(name string) *result.Recorded {
	r := Imported(name)
	r.Run.Run.Imported = &result.Imported{Format: "hlog", File: name + ".hlog", CannotSay: []string{"load", "delivery", "lag", "consumer", "process", "run.started_at"}}
	r.Run.Load = result.Load{}
	r.Run.Time = map[string]result.Time{"rebalance": {Count: 7, MaxNs: 5_000_000_000}}
	return r
}

// OneFootnote checks that a report says once, as text and as Markdown, that runs were imported, and
// what that means for their figures.
func OneFootnote(t *testing.T, write func(*bytes.Buffer, report.Options) error, runs string) {
	t.Helper()
	for _, format := range []report.Format{report.AsText, report.AsMarkdown} {
		got := strings.Join(strings.Fields(string(Written(t, write, report.Options{Format: format}))), " ")
		if strings.Count(got, "coordinated omission") != 1 || !strings.Contains(got, runs+": imported (producer-perf)") {
			t.Errorf("%v: no footnote, or several:\n%s", format, got)
		}
	}
}
