package fleet_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// The consumers are too slow, so the drain is long.
const watched = `
name: watched
topic: {partitions: 8}
load: {rate: 2k/s, producers: 4, pacer: frugal, acks: all, record: {size: 100B}BOUND}
consume: {consumers: 4, commit: 100ms, work: {time: 2500us}}
phases: {warmup: 1s, measure: 8s, drain: 5s}
sampling: {interval: 500ms, lag: 1s, brokers: 3s}
`

// metered is a cluster whose one broker counts 100 requests between two readings.
type metered struct {
	*virtual.Cluster
	url string
}

func (m metered) MetricsEndpoints() []cluster.MetricsEndpoint {
	return []cluster.MetricsEndpoint{{ID: 7, URL: m.url}}
}

func startMetrics(t *testing.T) (url string, readings *atomic.Int64) {
	readings = &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := readings.Add(1)
		fmt.Fprintf(w, "process_start_time_seconds 1\n"+
			"kafka_network_requestmetrics_count{name=\"TotalTimeMs\",request=\"Produce\"} %d\n"+
			"kafka_network_requestmetrics_mean{name=\"TotalTimeMs\",request=\"Produce\"} 2\n"+
			"kafka_server_replicamanager_value{name=\"UnderReplicatedPartitions\"} %d\n", 100*n, n)
	}))
	server.Config.SetKeepAlivesEnabled(false) // an open connection would stop the virtual clock
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, readings
}

// onBrokers makes a run of two agents. Their coordinator sees the cluster that the function
// returns.
func onBrokers(t *testing.T, yaml string, of func(*virtual.Cluster) cluster.Cluster, set func(*bench.Config)) (
	r result.Run,
) {
	within(t, 2, func(w *world) {
		w.agents(2)
		lead := w.coordinator()
		cfg := w.base()
		cfg.Cluster, cfg.Scenario, cfg.Fleet, cfg.Driver = of(w.cluster), w.scenario(yaml), lead, franz.New()
		if set != nil {
			set(&cfg)
		}
		o, err := bench.Run(w.t.Context(), cfg)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := lead.Close(w.t.Context()); err != nil {
			w.t.Error(err)
		}
		r = o.Run
	})
	return r
}

func TestBrokersWithAgents(t *testing.T) {
	for name, c := range map[string]struct {
		bound     string
		interrupt time.Duration
		least     float64 // of the window, in seconds
	}{
		"whole window":               {least: 8},
		"the records end":            {bound: ", records: 8001", least: 4},
		"interrupted":                {interrupt: 6 * time.Second, least: 5},
		"interrupted in the warm-up": {interrupt: 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			url, readings := startMetrics(t)
			r := onBrokers(t, strings.Replace(watched, "BOUND", c.bound, 1),
				func(c *virtual.Cluster) cluster.Cluster { return metered{c, url} },
				func(cfg *bench.Config) {
					if c.interrupt > 0 {
						interrupt := make(chan struct{})
						cfg.Interrupt = interrupt
						cfg.Watch = onStart(func() { time.AfterFunc(c.interrupt, func() { close(interrupt) }) })
					}
				})
			window := windowS(r)
			if window < c.least || c.least == 0 && window > 0 {
				t.Fatalf("the window is %v s long", window)
			}
			if c.least == 0 {
				if len(r.Broker) != 0 || readings.Load() != 0 {
					t.Errorf("without a window there are the brokers %+v", r.Broker)
				}
				return
			}
			if len(r.Broker) != 1 || r.Broker[0].ID != 7 || r.Broker[0].Metrics == nil ||
				len(r.Broker[0].Metrics.Requests) != 1 {
				t.Fatalf("the brokers are %+v", r.Broker)
			}
			each := func(bytes int64) float64 { return float64(bytes) / float64(r.Load.Acked+r.Warmup.Load.Acked) }
			if s := r.Storage; c.interrupt == 0 && (s == nil || *s.DiskBytesPerRecord != each(s.DiskBytes) ||
				*s.WireBytesPerRecord < *s.DiskBytesPerRecord || *s.WireBytesPerRecord > 2**s.DiskBytesPerRecord) {
				t.Errorf("storage is %+v", r.Storage)
			}
			if r.Says("intervals.host") || !r.Says("broker") || !r.Says("storage.disk_bytes") {
				t.Errorf("not measured is %v", r.Run.NotMeasured)
			}
			m := r.Broker[0].Metrics
			produce, last := m.Requests[0], readings.Load()
			if produce.Count != 100*(last-1) || *m.UnderReplicatedPeak != last {
				t.Errorf("%d requests, at most %d partitions, want those between the first and the last of %d readings",
					produce.Count, *m.UnderReplicatedPeak, last)
			}
			if length := float64(produce.Count) / produce.PerS; math.Abs(length-window) > 0.11 {
				t.Errorf("the readings are %v s apart, and the window is %v s long", length, window)
			}
		})
	}
}

// ownBroker is a local cluster whose only broker process is the test.
type ownBroker struct {
	*virtual.Cluster
	logs string
}

func (o ownBroker) Processes() []cluster.Process {
	return []cluster.Process{{ID: 3, PID: os.Getpid(), DataDirs: []string{o.logs}, HeapMaxBytes: 1 << 30}}
}

func TestLocalBrokersWithAgents(t *testing.T) {
	logs := t.TempDir()
	if err := os.WriteFile(logs+"/0.log", make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	r := onBrokers(t, strings.Replace(watched, "BOUND", "", 1),
		func(c *virtual.Cluster) cluster.Cluster { return ownBroker{c, logs} }, nil)
	if len(r.Broker) != 1 {
		t.Fatalf("the brokers are %+v", r.Broker)
	}
	b := r.Broker[0]
	if b.ID != 3 || b.CPUUserS == nil || b.CPUCoresMax == nil || b.RSSPeakBytes == nil || *b.RSSPeakBytes < 1<<20 ||
		b.LogSizeBytes == nil || *b.LogSizeBytes < 1<<16 || b.HeapMaxBytes != 1<<30 {
		t.Errorf("the broker is %+v", b)
	}
}

// onStart is called when the agents have been started.
type onStart func()

func (onStart) Began(string)             {}
func (onStart) Interval(result.Interval) {}

func (f onStart) Event(e result.Event) {
	if e.What == "2 agents were started" {
		f()
	}
}
