package foreign_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

// The peak lag is of the measured window; times are microseconds.
var sspResults = []struct {
	name                 string
	sent, received, peak int64
	e2eP50us, e2eP99us   int64
}{
	{"acks-1", 195330, 195380, 9703, 3738, 11692},
	{"acks0", 188124, 188167, 9673, 4048, 13860},
	{"acks1", 193629, 193647, 9811, 3999, 48125},
	{"bench", 297899, 297927, 9700, 3894, 30771},
	{"bp-on", 90905, 103673, 25956, 4605622, 9170566},
	{"bp-tight", 77626, 80459, 12177, 1578478, 3810868},
	{"bursty-heavy", 672180, 672325, 29268, 3820, 19147},
	{"bursty-light", 447286, 447327, 14575, 3906, 15301},
	{"bursty-overload", 668012, 716049, 110445, 2229783, 6971000},
	{"comp-gzip", 196925, 196952, 9786, 4012, 22434},
	{"comp-lz4", 195480, 195531, 9794, 3824, 27806},
	{"comp-none", 194646, 194680, 9658, 3959, 17850},
	{"comp-snappy", 194542, 194564, 9587, 4125, 74377},
	{"comp-zstd", 197858, 197900, 9806, 4148, 41028},
	{"payload-json", 119583, 119603, 7804, 3920, 49388},
	{"payload-logline", 119261, 119296, 7887, 3695, 32040},
	{"payload-mixed", 119468, 119498, 7821, 3697, 17267},
	{"payload-random", 119203, 119221, 7819, 3730, 20648},
	{"payload-text", 119739, 119756, 7801, 3822, 48254},
	{"payload-zeros", 119070, 119100, 7839, 4560, 45201},
	{"recovery-aggr", 762461, 780800, 195598, 5943, 19673838},
	{"recovery", 467637, 467660, 7911, 4431, 42697},
	{"size-1024", 116832, 116861, 7678, 3704, 27350},
	{"size-16384", 119739, 119838, 8398, 7789, 223108},
	{"size-256", 118883, 118910, 7850, 3610, 11319},
	{"size-4096", 117980, 118012, 7733, 3876, 28727},
	{"size-64", 118812, 118838, 7845, 3640, 41287},
	{"slow-aggr", 388274, 103223, 309435, 17035009, 31434022},
	{"slow-consumer", 236558, 236588, 7933, 4442, 207975},
}

// sspCommitted have a reduced copy in testdata.
var sspCommitted = []string{"acks0", "bp-tight", "slow-aggr"}

// The published results may be next to the checkout.
func sspFiles(t *testing.T, name string) (paths []string) {
	t.Helper()
	published := filepath.Join("..", "..", "..", "..", "shared", "data", "ssp_kafka")
	if _, err := os.Stat(published); err == nil {
		paths = append(paths, filepath.Join(published, "results-"+name+".json"))
	}
	if slices.Contains(sspCommitted, name) {
		paths = append(paths, filepath.Join("testdata", "ssp", "results-"+name+".json"))
	}
	return paths
}

func TestSSPFigures(t *testing.T) {
	tested := 0
	for _, want := range sspResults {
		for _, path := range sspFiles(t, want.name) {
			all, err := foreign.Read(path, foreign.Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			r := all[0]
			tested++
			run, e2e := r.Run, r.Run.Time["e2e_service_time"]
			if run.Load.Acked != want.sent || run.Delivery.Delivered != want.received {
				t.Errorf("%s: %d sent and %d received, want %d and %d", path, run.Load.Acked, run.Delivery.Delivered, want.sent, want.received)
			}
			if *run.Lag.PeakRecords != want.peak {
				t.Errorf("%s: peak lag %d, want %d", path, *run.Lag.PeakRecords, want.peak)
			}
			if e2e.P50Ns != want.e2eP50us*1000 || e2e.P99Ns != want.e2eP99us*1000 || e2e.Count != want.received {
				t.Errorf("%s: e2e service time %+v", path, e2e)
			}
			if _, claimed := run.Time["e2e_response_time"]; claimed || run.Verdict.Status != result.Unchecked {
				t.Errorf("%s: response time claimed: %v, verdict %+v", path, claimed, run.Verdict)
			}
			checkSSPSeries(t, path, r)
		}
	}
	if tested < len(sspCommitted) {
		t.Errorf("%d results were tested, want at least %d", tested, len(sspCommitted))
	}
}

// The intervals are consecutive and add up to the totals, with each lag sample in its interval.
func checkSSPSeries(t *testing.T, path string, r *foreign.Result) {
	t.Helper()
	var acked, delivered, gc, at int64
	at = r.Intervals[0].StartNs
	for n, i := range r.Intervals {
		if i.StartNs != at || i.EndNs <= i.StartNs {
			t.Errorf("%s: interval %d is from %d to %d after %d", path, n, i.StartNs, i.EndNs, at)
		}
		for _, s := range i.LagSamples {
			if s.AtNs > i.EndNs && n < len(r.Intervals)-1 {
				t.Errorf("%s: a sample of %d is in the interval to %d", path, s.AtNs, i.EndNs)
			}
			if len(s.Partitions) != 12 {
				t.Errorf("%s: lag of %d partitions", path, len(s.Partitions))
			}
		}
		acked, delivered, gc, at = acked+i.Acked, delivered+i.Delivered, gc+i.GCCycles, i.EndNs
	}
	if r.Intervals[0].Phase != "warm-up" || r.Intervals[0].EndNs != 0 {
		t.Errorf("%s: it begins with %+v", path, r.Intervals[0])
	}
	if acked != r.Run.Load.Acked || delivered != r.Run.Delivery.Delivered {
		t.Errorf("%s: the intervals have %d acked and %d delivered, the run %d and %d", path, acked, delivered, r.Run.Load.Acked, r.Run.Delivery.Delivered)
	}
}

// The samples' clock began three seconds before the measured window.
func TestSSPAxis(t *testing.T) {
	r := read(t, "ssp/results-bp-tight.json", foreign.Options{})
	warmup, first := r.Intervals[0], r.Intervals[1]
	if len(warmup.LagSamples) != 2 || warmup.LagSamples[0].AtNs != -1_999_996_458 {
		t.Errorf("lag samples of the warm-up: %+v", warmup.LagSamples)
	}
	i := slices.IndexFunc(first.LagSamples, func(s result.LagSample) bool { return s.Records == 12177 })
	if i < 0 || first.LagSamples[i].AtNs != 1_000_003_667 {
		t.Errorf("the peak is not at 1.000003667 s: %+v", first.LagSamples)
	}
	if got := first.LagSamples[i].Partitions[2]; got != 1002 {
		t.Errorf("partition 2 lags %d, want 1002: partitions are in the order of their numbers, not of their names", got)
	}
}

func TestSSPSetup(t *testing.T) {
	run := read(t, "ssp/results-bp-tight.json", foreign.Options{}).Run
	if b := run.Backpressure; b == nil || b.MaxLag != 5000 || b.ResumeLag != 1000 || b.PollNs != 100e6 || b.Decisions != 8 || b.ClosedS != 31.995206457 {
		t.Errorf("backpressure %+v", b)
	}
	if run.Consumer.Members != 1 || run.Consumer.Workers != 12 {
		t.Errorf("consumer %+v, want one member with a worker for each partition", run.Consumer)
	}
	if n := len(run.Compression); n != 4 || run.Compression[2].Codec != "snappy" || !run.Compression[2].UsedByThisRun {
		t.Errorf("compression %+v", run.Compression)
	}
	for path, want := range map[string]string{"rate": "10k/s", "batch": "64KiB", "linger": "5ms", "acks": "1"} {
		if got := run.Scenario.Get("load." + path); got != want {
			t.Errorf("load.%s is %s, want %s", path, got, want)
		}
	}
	all := strings.Join(run.Verdict.Warnings, "\n")
	for _, known := range []string{
		"the requested rate was 10k/s, and 1,938/s was sent", "service times", "80,459 records were received of 77,626 sent",
		"shifted by its 3s", "not yet committed", "one member reads all 12 partitions", "the cap of 5,000 is exceeded", "one concatenated block",
	} {
		if !strings.Contains(all, known) {
			t.Errorf("no warning says %q:\n%s", known, all)
		}
	}
}

// What the tool shows of its distributions and of its garbage collector is kept.
func TestSSPDistributionsAndCollector(t *testing.T) {
	r := read(t, "ssp/results-slow-aggr.json", foreign.Options{})
	e2e := r.Run.Time["e2e_service_time"]
	if e2e.MADNs == nil || *e2e.MADNs != 7_366_939_000 {
		t.Errorf("MAD %v, want 7.366939 s", e2e.MADNs)
	}
	want := []result.CDFPoint{{AtMostNs: 5e9, Count: 9272}, {AtMostNs: 10e9, Count: 26934}, {AtMostNs: 20e9, Count: 61857}, {AtMostNs: 31_871_661_000, Count: 103223}}
	if got := e2e.CDF; len(got) != 19 || !slices.Equal(got[15:], want) || got[14].Count != 0 {
		t.Errorf("CDF %v, want … %v", got, want)
	}
	if pauses := r.Run.Process.GCPauseTotalNs; pauses == nil || *pauses != 3_224_914 {
		t.Errorf("pauses %v, want the 4.036874 ms of the last sample without the 0.81196 of the warm-up", pauses)
	}
	p := r.Intervals[1].Processes
	if len(p) != 1 || p[0].HeapBytes == nil || p[0].GCPauseNs == nil || p[0].Goroutines == nil || *p[0].Goroutines == 0 {
		t.Errorf("the process in the first interval: %+v", p)
	}
	if r := read(t, "ssp/results-acks0.json", foreign.Options{}); r.Run.Time["e2e_service_time"].MADNs != nil || r.Run.Process.GCPauseTotalNs != nil {
		t.Error("a file without MAD and pauses has them")
	}
	other := strings.Replace(string(content(t, "ssp/results-slow-aggr.json")), "9272, 17662, 34923, 41366, 0", "0, 9272, 17662, 34923, 41366", 1)
	contradicting, err := foreign.Parse("x", []byte(other), foreign.Options{})
	if err != nil || contradicting.Run.Time["e2e_service_time"].CDF != nil || contradicting.Run.Time["send_service_time"].CDF == nil ||
		!strings.Contains(strings.Join(contradicting.Run.Verdict.Warnings, "\n"), "the CDF of e2e_service_time is left out") {
		t.Errorf("buckets that contradict the percentiles: %v", err)
	}
}
