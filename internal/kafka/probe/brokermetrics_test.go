package probe

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The same broker through the JMX exporter, without rules and with the rules of the exporter's
// examples.
const (
	plainText = `
# HELP kafka_network_requestmetrics_count Attribute exposed for management
# TYPE kafka_network_requestmetrics_count untyped
kafka_network_requestmetrics_count{name="TotalTimeMs",request="Produce"} 100.0
kafka_network_requestmetrics_count{name="LocalTimeMs",request="Produce"} 100.0
kafka_network_requestmetrics_count{name="TotalTimeMs",request="FetchConsumer"} 0.0
kafka_network_requestmetrics_mean{name="TotalTimeMs",request="Produce"} 4.5
kafka_network_requestmetrics_mean{name="LocalTimeMs",request="Produce"} 1.5
kafka_network_requestmetrics_99thpercentile{name="TotalTimeMs",request="Produce"} 99.0
kafka_server_brokertopicmetrics_count{name="BytesInPerSec"} 1000.0
kafka_server_brokertopicmetrics_count{name="BytesOutPerSec"} 2000.0
kafka_server_brokertopicmetrics_count{name="BytesInPerSec",topic="t"} 1.0
kafka_server_kafkarequesthandlerpool_count{name="RequestHandlerAvgIdlePercent"} 7.0E9
kafka_server_kafkarequesthandlerpool_count{name="BrokerRequestHandlerAvgIdlePercent"} 5.0E9
kafka_server_kafkarequesthandlerpool_meanrate{name="BrokerRequestHandlerAvgIdlePercent"} 0.9
kafka_server_socket_server_metrics_io_wait_time_ns{listener="PLAINTEXT",networkProcessor="0"} 3.0E9
kafka_server_socket_server_metrics_io_wait_time_ns{listener="CONTROLLER",networkProcessor="0"} 9.0E9
kafka_server_socket_server_metrics_io_wait_time_ns_avg{listener="PLAINTEXT",networkProcessor="0"} 1.0
kafka_server_replicamanager_value{name="UnderReplicatedPartitions"} 3.0
kafka_log_logflushstats_count{name="LogFlushRateAndTimeMs"} 10.0
kafka_log_logflushstats_mean{name="LogFlushRateAndTimeMs"} 2.5
# TYPE jvm_gc_collection_seconds summary
jvm_gc_collection_seconds_count{gc="G1 Young Generation"} 3
jvm_gc_collection_seconds_sum{gc="G1 Young Generation"} 0.026
jvm_memory_used_bytes{area="heap"} 1.7E8
jvm_memory_used_bytes{area="nonheap"} 9.9E9
process_start_time_seconds 1.795324424272E9
kafka_server_replicamanager_value{name="AtMinIsrPartitionCount"} NaN
`
	ruledText = `
kafka_network_requestmetrics_totaltimems_count{request="Produce"} 100.0
kafka_network_requestmetrics_totaltimems{request="Produce",quantile="0.99"} 99.0
kafka_server_brokertopicmetrics_bytesin_total 1000.0
kafka_server_brokertopicmetrics_bytesin_total{topic="t"} 1.0
kafka_server_brokertopicmetrics_bytesoutpersec_count 2000.0
kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent 0.9
kafka_network_socketserver_networkprocessoravgidle_percent 0.75
kafka_server_replicamanager_underreplicatedpartitions 3.0
jvm_memory_bytes_used{area="heap"} 1.7E8
`
)

func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func TestBrokerIsReadByItsUsualNames(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want map[string]float64
	}{
		"without rules": {plainText, map[string]float64{
			"produce": 100, "produce mean": 4.5, "local mean": 1.5, "handler idle": 5e9, "network idle": 3e9, "network ratio": math.NaN(),
			"flushes": 10, "flush mean": 2.5, "gc": 3, "gc s": 0.026, "started": 1.795324424272e9,
		}},
		"with rules": {ruledText, map[string]float64{
			"produce": 100, "produce mean": math.NaN(), "local mean": math.NaN(), "handler idle": math.NaN(), "network idle": 0,
			"network ratio": 0.75, "flushes": math.NaN(), "flush mean": math.NaN(), "gc": 0, "gc s": 0, "started": math.NaN(),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := parseBroker(strings.NewReader(test.text))
			if err != nil {
				t.Fatal(err)
			}
			test.want["bytes in"], test.want["bytes out"], test.want["under-replicated"], test.want["heap"] = 1000, 2000, 3, 1.7e8
			got := map[string]float64{
				"produce": value(c.Requests["Produce"][Total].Count), "produce mean": value(c.Requests["Produce"][Total].Mean),
				"local mean": value(c.Requests["Produce"][Local].Mean), "handler idle": value(c.HandlerIdle),
				"network idle": c.NetworkIdle["PLAINTEXT"]["0"], "network ratio": value(c.NetworkIdleRatio),
				"flushes": value(c.LogFlush.Count), "flush mean": value(c.LogFlush.Mean),
				"gc": c.GC["G1 Young Generation"].Count, "gc s": c.GC["G1 Young Generation"].Seconds, "started": value(c.Started),
				"bytes in": value(c.BytesIn), "bytes out": value(c.BytesOut), "under-replicated": value(c.UnderReplicated), "heap": value(c.HeapBytes),
			}
			for what, want := range test.want {
				if g := got[what]; g != want && !(math.IsNaN(g) && math.IsNaN(want)) {
					t.Errorf("%s: %v, want %v", what, g, want)
				}
			}
		})
	}
}

func TestWhatIsNoBrokerIsAnError(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answer == "" {
			http.Error(w, "no", http.StatusTeapot)
		}
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	for text, want := range map[string]string{"": "418", "go_goroutines 7\n": "no metric of a Kafka broker", "{": "parsing error"} {
		answer = text
		if _, err := ReadBroker(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	answer = plainText
	before := time.Now()
	if c, err := ReadBroker(t.Context(), server.URL); err != nil || c.At.Before(before) || c.At.After(time.Now()) {
		t.Errorf("read at %v: %v", c.At, err)
	}
}

type broker struct {
	started float64
	times   []float64
	idle    float64
}

func (b *broker) read(at time.Time) BrokerCounts {
	n, sum := float64(len(b.times)), 0.0
	for _, ms := range b.times {
		sum += ms
	}
	mean := 0.0
	if n > 0 {
		mean = sum / n
	}
	var produce RequestCounts
	produce[Total] = Histogram{Count: &n, Mean: &mean}
	idle := b.idle
	return BrokerCounts{
		At: at, Started: &b.started, HandlerIdle: &idle, Requests: map[string]RequestCounts{"Produce": produce},
		NetworkIdle: map[string]map[string]float64{"CLIENTS": {"0": idle}, "UNUSED": {"0": float64(at.UnixNano())}},
	}
}

// TestHandlersOfBrokerAndController: before Kafka 4.2 the idleness is the sum of two pools, and later their mean.
func TestHandlersOfBrokerAndController(t *testing.T) {
	const pool = `kafka_server_kafkarequesthandlerpool_count{name="%sRequestHandlerAvgIdlePercent"} %v` + "\n"
	const controller = `kafka_controller_kafkacontroller_value{name="ActiveControllerCount"} 1` + "\n"
	for _, test := range []struct {
		name, text string
		idle, want float64
	}{
		{"broker and controller, busy", controller + fmt.Sprintf(pool, "", "%v"), 1.25e9, 0.25},
		{"broker and controller, idle", controller + fmt.Sprintf(pool, "", "%v"), 2.02e9, 1},
		{"broker and controller, a sum or a mean", controller + fmt.Sprintf(pool, "", "%v"), 0.9e9, math.NaN()},
		{"broker", fmt.Sprintf(pool, "", "%v"), 0.9e9, 0.9},
		{"broker's own count", controller + fmt.Sprintf(pool, "", 7) + fmt.Sprintf(pool, "Broker", "%v"), 0.9e9, 0.9},
	} {
		began := time.Unix(1e9, 0)
		var readings []BrokerCounts
		for i, idle := range []float64{0, test.idle} {
			c, err := parseBroker(strings.NewReader(fmt.Sprintf(test.text, idle)))
			if err != nil {
				t.Fatal(err)
			}
			c.At = began.Add(time.Duration(i) * time.Second)
			readings = append(readings, c)
		}
		use, ok := readings[1].Since(readings[0])
		if got := value(use.HandlerIdle); !ok || math.Abs(got-test.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(test.want) {
			t.Errorf("%s: idle for %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDifferenceIsOfTheWindowAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.SliceOf(rapid.IntRange(0, 1000))
		began := time.Unix(1e9, 0)
		b := broker{started: 1}
		sum, count := 0.0, 0
		add := func(all []int) {
			sum, count = 0, len(all)
			for _, v := range all {
				b.times = append(b.times, float64(v))
				sum += float64(v)
			}
		}
		add(ms.Draw(t, "before"))
		first := b.read(began)
		add(ms.Draw(t, "within"))
		share := rapid.Float64Range(0, 1).Draw(t, "idle")
		b.idle += share * 1e10
		use, ok := b.read(began.Add(10 * time.Second)).Since(first)
		if !ok || math.Abs(value(use.HandlerIdle)-share) > 1e-6 || math.Abs(value(use.NetworkIdle)-share) > 1e-6 {
			t.Fatalf("idle for %v: %+v, %v", share, use, ok)
		}
		if count == 0 {
			if len(use.Requests) != 0 {
				t.Fatalf("no request is told as %+v", use.Requests)
			}
			return
		}
		got := use.Requests["Produce"][Total]
		if value(got.Count) != float64(count) || math.Abs(value(got.Mean)-sum/float64(count)) > 1e-6 {
			t.Fatalf("%d requests of %v ms are told as %v of %v", count, sum/float64(count), value(got.Count), value(got.Mean))
		}
	})
}

func TestRestartIsNoDifference(t *testing.T) {
	at := time.Unix(1e9, 0)
	old := broker{started: 1, times: []float64{1, 2, 3}, idle: 5}
	anew := broker{started: 2, times: []float64{1, 2, 3, 4}, idle: 6}
	if use, ok := anew.read(at.Add(time.Second)).Since(old.read(at)); ok {
		t.Errorf("another process is told as %+v", use)
	}
	silent := anew
	silent.times = nil
	after, before := silent.read(at.Add(time.Second)), old.read(at)
	after.Started, before.Started = nil, nil
	if use, ok := after.Since(before); ok {
		t.Errorf("fewer requests than before are told as %+v", use)
	}
	if use, ok := old.read(at).Since(old.read(at)); ok {
		t.Errorf("no time is told as %+v", use)
	}
}
