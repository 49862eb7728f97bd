package truth

import (
	"path/filepath"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/latency/latencytest"
	"kafkabench.example/kafka-bench/internal/result"
)

// testJava lets HistogramLogProcessor, out of HdrHistogram's Java artefact, read
// the histogram log of a run. It agrees with our own reader on every tag, and
// with run.json on count, median, 99th percentile and maximum of every metric.
func testJava(t *testing.T, r *result.Recorded) {
	t.Helper()
	jars, err := filepath.Glob(filepath.Join(realKafka(t).Dist().Lib(), "HdrHistogram-*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("the jars are %v, %v", jars, err)
	}
	summaries := latencytest.CheckJava(t, jars[0], filepath.Join(r.Dir, result.HistogramsFile))
	if len(r.Run.Time) < 7 {
		t.Errorf("run.json has %d metrics", len(r.Run.Time))
	}
	for metric, told := range r.Run.Time {
		want := latency.Summary{Count: told.Count, P50Ns: told.P50Ns, P99Ns: told.P99Ns, MaxNs: told.MaxNs}
		if got := summaries[metric]; got != want {
			t.Errorf("%s: HistogramLogProcessor reads %+v, run.json has %+v", metric, got, want)
		}
	}
}
