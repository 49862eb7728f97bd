package foreign_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

func read(t *testing.T, name string, o foreign.Options) *foreign.Result {
	t.Helper()
	if filepath.Ext(name) == ".hgrm" {
		o.HlogUnit = time.Millisecond
	}
	r, err := foreign.Read(filepath.Join("testdata", name), o)
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

var samples = map[string]foreign.Format{
	"ssp/results-bp-tight.json": foreign.SSP, "producer-4.txt": foreign.ProducerPerf, "producer-3.txt": foreign.ProducerPerf,
	"producer-steady.txt": foreign.ProducerPerf, "producer-failed.txt": foreign.ProducerPerf,
	"consumer-4.txt": foreign.ConsumerPerf, "consumer-1.txt": foreign.ConsumerPerf, "consumer-detailed.txt": foreign.ConsumerPerf,
	"consumer-gave-up.txt": foreign.ConsumerPerf, "consumer-pasted.txt": foreign.ConsumerPerf,
	"producer-pasted.txt": foreign.ProducerPerf,
	"share-consumer.txt":  foreign.ShareConsumerPerf, "share-consumer-gave-up.txt": foreign.ShareConsumerPerf,
	"e2e-2.txt": foreign.E2ELatency, "e2e-4.txt": foreign.E2ELatency, "poll_time.hgrm": foreign.Hgrm,
	"omb.json": foreign.OMB, "omb-2020.json": foreign.OMB, "omb-2020-below.json": foreign.OMB,
	"omb-2020-stalled.json": foreign.OMB, "omb-redpanda.json": foreign.OMB,
}

func TestFormatsAreDetected(t *testing.T) {
	for name, want := range samples {
		if got := read(t, name, foreign.Options{}).Run.Run.Imported.Format; got != string(want) {
			t.Errorf("%s is taken for %s, want %s", name, got, want)
		}
	}
	for _, content := range []string{"", " \n", "hello", "{}", "[1,2]", "\xff\xfe"} {
		if _, err := foreign.Parse("x", []byte(content), foreign.Options{}); !errors.Is(err, foreign.ErrFormat) {
			t.Errorf("%q: %v, want %v", content, err, foreign.ErrFormat)
		}
	}
}

func TestSavedRunsAreRead(t *testing.T) {
	for name := range samples {
		r := read(t, name, foreign.Options{Modified: time.Unix(1_800_000_000, 0)})
		dir, err := r.Save(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := result.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(recorded.Notes) > 0 || !recorded.Run.Finished() {
			t.Errorf("%s: notes %v, finished %v", name, recorded.Notes, recorded.Run.Finished())
		}
		if len(recorded.Intervals) != len(r.Intervals) || len(recorded.Events) != len(r.Events) {
			t.Errorf("%s: %d intervals and %d events, want %d and %d", name, len(recorded.Intervals), len(recorded.Events), len(r.Intervals), len(r.Events))
		}
		if !reflect.DeepEqual(recorded.Run.Time, r.Run.Time) || !reflect.DeepEqual(recorded.Run.Run.Imported, r.Run.Run.Imported) {
			t.Errorf("%s: it is read otherwise than it was written", name)
		}
	}
}

// The first warning says that the run was not judged; each unknown number is named.
func TestNothingIsClaimedSilently(t *testing.T) {
	for name := range samples {
		run := read(t, name, foreign.Options{}).Run
		if w := run.Verdict.Warnings; len(w) < 2 || !strings.Contains(w[0], "not judged by the rules of kafka-bench") {
			t.Errorf("%s: warnings %q", name, w)
		}
		for _, path := range []string{"load.scheduled", "load.shed", "load.deferred", "delivery.lost", "delivery.duplicates", "lag.time_lag_peak_ns", "warmup.load.acked", "process.alloc_bytes"} {
			if run.Says(path) {
				t.Errorf("%s claims %s", name, path)
			}
		}
		for _, block := range []struct {
			name  string
			value any
		}{{"load", run.Load}, {"delivery", run.Delivery}, {"lag", run.Lag}, {"consumer", run.Consumer}, {"process", run.Process}} {
			checkZeros(t, name, &run, block.name, reflect.ValueOf(block.value))
		}
		for metric, time := range run.Time {
			checkZeros(t, name, &run, "time."+metric, reflect.ValueOf(time))
		}
	}
}

// realZeros are zero in a sample because the source says so.
var realZeros = []string{
	"load.failed", "load.closed_loop", "delivery.checked", "load.acked", "load.acked_per_s", "load.bytes",
	"time.send_service_time.count", "time.send_service_time.mean_ns", "time.send_service_time.p50_ns", "time.send_service_time.p95_ns",
	"time.send_service_time.p99_ns", "time.send_service_time.p99_9_ns", "time.send_service_time.max_ns",
	"time.e2e_service_time.p50_ns",
}

func checkZeros(t *testing.T, name string, run *result.Run, path string, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		field, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		at := path + "." + field
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			checkZeros(t, name, run, at, f)
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
			if f.IsZero() && run.Says(at) && !slices.Contains(realZeros, at) {
				t.Errorf("%s: %s is zero, and counts as told", name, at)
			}
		}
	}
}

func TestNames(t *testing.T) {
	if r := read(t, "producer-4.txt", foreign.Options{}); r.Run.Run.Name != "producer-4" || r.Run.Run.Imported.File != "producer-4.txt" {
		t.Errorf("name %q, file %q", r.Run.Run.Name, r.Run.Run.Imported.File)
	}
	if r := read(t, "producer-4.txt", foreign.Options{Name: "mine"}); r.Run.Run.Name != "mine" {
		t.Errorf("name %q, want mine", r.Run.Run.Name)
	}
}

func TestFaultsNameTheLine(t *testing.T) {
	sample := func(name string) string {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	cut, _, _ := strings.Cut(sample("omb.json"), "[ 4, 19")
	for _, c := range []struct{ name, content, want string }{
		{"cut JSON", cut, "x:12: it is not JSON: unexpected end of JSON input"},
		{"a list of another length", strings.Replace(sample("omb.json"), "[ 4, 19, 7 ]", "[ 4, 19 ]", 1), "x:12: backlog: it has 2 entries where publishRate has 3"},
		{"a negative rate", strings.Replace(sample("omb.json"), "4999.5", "-4999.5", 1), "x:9: publishRate[1]: -4999.5 cannot be: it must be 0 or above"},
		{"no aggregates", `{"publishRate": [1]}`, "x: aggregatedPublishLatencyAvg is missing\nx: aggregatedPublishLatency50pct is missing\nx: aggregatedPublishLatency99pct is missing\nx: aggregatedPublishLatencyMax is missing"},
		{"time goes back", strings.Replace(sample("ssp/results-bp-tight.json"), "8.000137625", "3.5", 1), "x:90: timeline[1].elapsed_s: 3.5 does not come after 4.0003185"},
		{"a text for a number", strings.Replace(sample("ssp/results-bp-tight.json"), `"messages_sent": 77626`, `"messages_sent": "many"`, 1), "x:34: final.messages_sent is a string and must be of type int64"},
		{"no totals", sample("producer-4.txt")[:280], `x:3: "12636 records sent, 12022.8 records/sec (2.29 MB/sec), 1420.0 ms avg latency, 16…" is not a whole line of kafka-producer-perf-test`},
		{"cut between lines", "10 records sent, 5.0 records/sec (0.04 MB/sec), 2.0 ms avg latency, 9.0 ms max latency.\n", "x:2: the output ends without its line of totals (… ms 50th, … ms 99.9th.): the tool did not come to its end"},
		{"thousands or decimals", "10 records sent, 5,000 records/sec (0,04 MB/sec), 2,0 ms avg latency, 9,0 ms max latency.\n", `x:1: "5,000" is not clearly a number; write it with a decimal point and no other separator, as in 9984.4`},
		{"a separator of thousands", "49,932 records sent, 5.0 records/sec (0.04 MB/sec), 2.0 ms avg latency, 9.0 ms max latency.\n", `x:1: "49,932 records sent, 5.0 records/sec (0.04 MB/sec), 2.0 ms avg latency, 9.0 ms m…" is not a whole line of kafka-producer-perf-test; copy it whole, or remove it`},
		{"a row cut short", sample("consumer-4.txt")[:200], "x:2: the row has 3 columns where the header has 10; copy the row whole, with its commas as they were printed"},
		{"no row", "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec\n", "x:2: the output ends without a row of figures: the tool did not come to its end"},
		{"unknown columns", "start.time, end.time, data.consumed.in.MB, speed\n", "x:1: the columns are not those of kafka-consumer-perf-test: start.time, end.time, data.consumed.in.MB, speed"},
		{"no histogram", "#[Histogram log format version 1.3]\n", "x:2: the log ends without a histogram"},
		{"half a histogram", "#[Histogram log format version 1.3]\nTag=a,0.0,1.0,1.0,HISTFAAA\n", "x:2: the histogram cannot be read: "},
	} {
		_, err := foreign.Parse("x", []byte(c.content), foreign.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	_, err := foreign.Parse("x", nil, foreign.Options{Format: "csv"})
	if want := `there is no format "csv"; choose one of auto, ssp, producer-perf, consumer-perf, share-consumer-perf, e2e-latency, omb, hlog, hgrm`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := foreign.Read("testdata", foreign.Options{}); err == nil || err.Error() != "testdata is a folder; name a file in it" {
		t.Errorf("a folder: %v", err)
	}
}

func TestContradictions(t *testing.T) {
	content, err := os.ReadFile("testdata/producer-4.txt")
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(content), "1614 ms 95th", "16 ms 95th", 1)
	r, err := foreign.Parse("x", []byte(wrong), foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Run.Verdict; v.Status != result.Invalid || len(v.Reasons) != 1 || v.Reasons[0] != "p95 of send_service_time is 16ms, below p50, which is 1.353s" {
		t.Errorf("verdict %+v", v)
	}
}
