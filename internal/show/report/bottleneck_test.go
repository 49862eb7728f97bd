package report_test

import (
	"bytes"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func pointer[T any](v T) *T { return &v }

func limited(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Baseline())
	run := &r.Run
	run.Run.Name = "limited"
	run.Bottleneck = &result.Bottleneck{
		Resource: "client CPU", Saturation: 0.97, Evidence: "97 % of 2 cores",
		Remedy: "larger batches and a cheaper codec cost less for each record; else use more machines or cores",
		Resources: []result.Resource{
			{Name: "client CPU", Saturation: 0.97}, {Name: "host CPU", Saturation: 0.95}, {Name: "in-flight limit", Saturation: 0.614},
			{Name: "request handlers", Saturation: 0.4}, {Name: "disk", Saturation: 0.07}, {Name: "quota", Saturation: 0}, {Name: "linger", Saturation: 0},
		},
	}
	run.Clients = &result.Clients{
		Produce: &result.ClientRequests{Count: 10_000, PerS: 500, MeanMs: pointer(6.14), InFlightMean: 3.07, Connections: 1},
		Fetch:   &result.ClientRequests{Count: 4_000, PerS: 200, MeanMs: pointer(4.9), InFlightMean: 0.98, Connections: 4},
	}
	run.HostUse = &result.HostUse{
		Disks:          []result.DiskUse{{Name: "nvme0n1", WrittenBytes: 51e6, BusyRatio: pointer(0.0712), QueueMean: pointer(0.34), RequestMeanMs: pointer(2.1), HoldsLogs: true}},
		Networks:       []result.NetUse{{Name: "eth0", ReceivedBytes: 700, SentBytes: 1200}, {Name: "lo", ReceivedBytes: 150e6, SentBytes: 150e6}},
		PageCacheBytes: pointer(int64(3e9)), DirtyPeakBytes: pointer(int64(64e6)), IOPressureRatio: pointer(0.021),
	}
	run.Storage = &result.Storage{
		DiskBytes: 45.1e6, Replicas: 1, WireBytesPerRecord: pointer(235.4), DiskBytesPerRecord: pointer(225.5), DiskRatio: pointer(2.27),
	}
	run.Process.CPUWaitRatio, run.Broker[0].CPUWaitRatio = pointer(0.08), pointer(0.31)
	run.Broker[0].Metrics = &result.BrokerMetrics{
		Requests: []result.RequestUse{
			{Type: "Produce", Count: 10_000, PerS: 500, TotalMs: pointer(3.9), QueueMs: pointer(0.4), LocalMs: pointer(0.5), RemoteMs: pointer(2.9), ThrottleMs: pointer(0.0), ResponseQueueMs: pointer(0.04), ResponseSendMs: pointer(0.06)},
			{Type: "FetchConsumer", Count: 4_000, PerS: 200, TotalMs: pointer(4.7)},
			{Type: "Metadata", Count: 2, PerS: 0.1, TotalMs: pointer(1.0)},
		},
		HandlerIdleRatio: pointer(0.6), HandlerIdleRatioMin: pointer(0.41), NetworkIdleRatio: pointer(0.88), NetworkIdleRatioMin: pointer(0.88),
		UnderReplicatedPeak: pointer(int64(3)), GCCount: pointer(int64(4)), GCTimeMs: pointer(31.5), HeapPeakBytes: pointer(int64(410e6)),
	}
	run.Broker = append(run.Broker, result.Broker{ID: 2, Metrics: &result.BrokerMetrics{UnderReplicatedPeak: pointer(int64(0))}})
	return r
}

func TestTextOfFollowersBehind(t *testing.T) {
	r := limited(t)
	r.Run.Storage.Replicas, r.Run.Storage.BehindBytes = 3, 200e6
	if got := string(text(t, r, report.Options{Width: 200})); !strings.Contains(got, "on disk in 3 replicas · 200 MB of it not yet with the followers when the run had ended") {
		t.Errorf("it says\n%s", got)
	}
}

func TestEmbeddedBrokerHasNoDisk(t *testing.T) {
	r := limited(t)
	r.Run.Run.Cluster.Kind = "embedded"
	if got := string(text(t, r, report.Options{Width: 200})); !strings.Contains(got, " in memory in 1 replica") || strings.Contains(got, " on disk in") {
		t.Errorf("it says\n%s", got)
	}
}

func TestTextOfTheBottleneck(t *testing.T) {
	for name, width := range map[string]int{"bottleneck": layout.Width, "bottleneck-80": 80} {
		got := text(t, limited(t), report.Options{Width: width})
		showtest.Screens(t, got, width, 97)
		showtest.Golden(t, name, got)
	}
}

func TestMarkdownOfTheBottleneck(t *testing.T) {
	var b bytes.Buffer
	if err := report.Runs(&b, []*result.Recorded{limited(t)}, report.Options{Format: report.AsMarkdown}); err != nil {
		t.Fatal(err)
	}
	showtest.Golden(t, "bottleneck.md", b.Bytes())
}
