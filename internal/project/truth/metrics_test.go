package truth

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/follow"
	"kafkabench.example/kafka-bench/internal/show/promrun"
)

// shadow follows a run as an exporter does.
type shadow struct {
	t         *testing.T
	collector *promrun.Collector
	done      chan struct{}
	written   []time.Time
	seen      []result.Interval
	seenAt    []time.Time
	events    int
}

// Began implements observe.Watcher.
func (s *shadow) Began(dir string) { go s.follow(dir) }

func (s *shadow) Interval(result.Interval) { s.written = append(s.written, time.Now()) }

func (s *shadow) Event(result.Event) {}

// A Follower checks the files each 100 ms.
const mostLate = 100 * time.Millisecond

func (s *shadow) follow(dir string) {
	defer close(s.done)
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer root.Close()
	f, err := follow.Open(root, filepath.Base(dir))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer f.Close()
	f.Histograms = true
	for ended := false; !ended; {
		change, err := f.Next(s.t.Context())
		if err != nil {
			s.t.Error(err)
			return
		}
		s.collector.Take(change)
		for _, i := range change.Intervals {
			s.seen = append(s.seen, i)
			s.seenAt = append(s.seenAt, time.Now())
		}
		s.events += len(change.Events)
		ended = change.Ended
	}
}

func shadowed(t *testing.T, c *virtual.Cluster, s scenario.Scenario) (*result.Recorded, map[string][]*dto.Metric) {
	t.Helper()
	cfg := config(t, c, s)
	shade := &shadow{t: t, collector: promrun.New(), done: make(chan struct{})}
	cfg.Watch = shade
	r := run(t, cfg)
	<-shade.done
	if !reflect.DeepEqual(shade.seen, r.Intervals) || shade.events != len(r.Events) {
		t.Errorf("%d intervals and %d events were seen, want the %d and %d of the run", len(shade.seen), shade.events,
			len(r.Intervals), len(r.Events))
	}
	for n, at := range shade.seenAt {
		if late := at.Sub(shade.written[n]); late > mostLate {
			t.Errorf("interval %d was seen %v after it was written", n, late)
		}
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(shade.collector); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]*dto.Metric)
	for _, f := range families {
		all[f.GetName()] = f.GetMetric()
		for _, m := range f.GetMetric() {
			if labelOf(m, "run") != r.Run.Run.ID || labelOf(m, "name") != r.Run.Run.Name {
				t.Errorf("%s has the labels %v, not those of the run", f.GetName(), m.GetLabel())
			}
		}
	}
	return r, all
}

func labelOf(m *dto.Metric, name string) string {
	i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == name })
	if i < 0 {
		return ""
	}
	return m.GetLabel()[i].GetValue()
}

func wantCounter(t *testing.T, all map[string][]*dto.Metric, name string, want *int64) {
	t.Helper()
	series := all["kafka_bench_"+name+"_total"]
	switch {
	case want == nil && len(series) > 0:
		t.Errorf("%s is %v, of which the run knows nothing", name, series)
	case want != nil && len(series) != 1:
		t.Errorf("%s has %d series, want 1", name, len(series))
	case want != nil:
		wantCount(t, name, int64(series[0].GetCounter().GetValue()), *want)
	}
}

func wantMetrics(t *testing.T, r *result.Recorded, all map[string][]*dto.Metric) {
	t.Helper()
	load, warm := r.Run.Load, r.Run.Warmup.Load
	got, early := r.Run.Delivery, r.Run.Warmup.Delivery.Delivery
	for name, want := range map[string]int64{
		"scheduled_records": load.Scheduled + warm.Scheduled, "admitted_records": load.Admitted + warm.Admitted,
		"shed_records": load.Shed + warm.Shed, "acked_records": load.Acked + warm.Acked,
		"failed_records": load.Failed + warm.Failed, "unknown_records": load.Unknown + warm.Unknown,
		"delivered_records": got.Delivered + early.Delivered, "duplicate_records": got.Duplicates + early.Duplicates,
	} {
		wantCounter(t, all, name, &want)
	}
	queue := [3]*int64{}
	if q := r.Run.Queue; q != nil {
		queue = [3]*int64{&q.UniqueAcked, &q.Redelivered, &q.DeadLettered}
	}
	wantCounter(t, all, "queue_acked_records", queue[0])
	wantCounter(t, all, "redelivered_records", queue[1])
	wantCounter(t, all, "dead_lettered_records", queue[2])
	times := 0
	for metric, want := range r.Run.Time {
		for _, m := range all["kafka_bench_"+metric+"_seconds"] {
			if labelOf(m, "book") == "measured" {
				wantHistogram(t, metric, m.GetHistogram(), want)
				times++
			}
		}
	}
	if times == 0 {
		t.Error("no time is exported")
	}
	phase := all["kafka_bench_run_phase"]
	if len(phase) != 1 || labelOf(phase[0], "phase") != "ended" || labelOf(phase[0], "verdict") != r.Run.Verdict.Status {
		t.Errorf("the phase is %v", phase)
	}
}

func wantHistogram(t *testing.T, metric string, h *dto.Histogram, want result.Time) {
	t.Helper()
	wantCount(t, "values of "+metric, int64(h.GetSampleCount()), want.Count)
	if sum := want.MeanNs * float64(want.Count) / 1e9; !near(h.GetSampleSum(), sum) {
		t.Errorf("the sum of %s is %v s, want %v", metric, h.GetSampleSum(), sum)
	}
	if want.NotEnded > 0 {
		return // run.json's percentiles also include records that have not ended
	}
	rank := (want.Count*99 + 99) / 100
	p99 := float64(want.P99Ns) / 1e9
	if low, high := classicBucket(h, uint64(rank)); p99 <= low || p99 > high {
		t.Errorf("p99 of %s is %v s, outside of its bucket (%v, %v]", metric, p99, low, high)
	}
	if low, high := nativeBucket(h, rank); p99 <= low || p99 > high {
		t.Errorf("p99 of %s is %v s, outside of its native bucket (%v, %v]", metric, p99, low, high)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// classicBucket returns the ends of the bucket of the value at a rank.
func classicBucket(h *dto.Histogram, rank uint64) (low, high float64) {
	low = math.Inf(-1)
	for _, b := range h.GetBucket() {
		if b.GetCumulativeCount() >= rank {
			return low, b.GetUpperBound()
		}
		low = b.GetUpperBound()
	}
	return low, math.Inf(1)
}

// nativeBucket is classicBucket for native buckets.
func nativeBucket(h *dto.Histogram, rank int64) (low, high float64) {
	rank -= int64(h.GetZeroCount())
	if rank <= 0 {
		return math.Inf(-1), h.GetZeroThreshold()
	}
	base := math.Pow(2, math.Pow(2, -float64(h.GetSchema())))
	var index int32
	var count int64
	deltas := h.GetPositiveDelta()
	for _, span := range h.GetPositiveSpan() {
		index += span.GetOffset()
		for range span.GetLength() {
			count += deltas[0]
			deltas = deltas[1:]
			if rank -= count; rank <= 0 {
				return math.Pow(base, float64(index-1)), math.Pow(base, float64(index))
			}
			index++
		}
	}
	return math.NaN(), math.NaN()
}

// All intervals are seen within 100 ms, and the final metrics equal run.json.
func TestMetricsAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(t *testing.T) scenario.Scenario{
		"shed": func(t *testing.T) scenario.Scenario {
			return smallScenario(t, "metrics-shed", "consume.work=4ms", "backpressure.controller=credit",
				"backpressure.max_lag=100", "backpressure.excess=shed", "backpressure.poll=20ms")
		},
		"queue": func(t *testing.T) scenario.Scenario {
			return ofQueue(t, "metrics-queue", "markers", "consume.queue="+
				"{engine: markers, threads: 4, in_flight: 30000, drop: {share: 50%}, visibility: 2s, max_deliveries: 3}")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
				r, all := shadowed(t, c, of(t))
				wantMetrics(t, r, all)
				if name == "shed" && r.Run.Load.Shed == 0 || name == "queue" && r.Run.Queue.DeadLettered == 0 {
					t.Error("the run did not do what it is for")
				}
			})
		})
	}
}
