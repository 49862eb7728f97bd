//go:build proof

package truth

import (
	"context"
	"math"
	"net"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
)

// cable is a connection that delays every write.
type cable struct {
	net.Conn
	delay time.Duration
}

func (c cable) Write(b []byte) (int, error) {
	time.Sleep(c.delay)
	return c.Conn.Write(b)
}

func overCable(delay time.Duration) franz.Option {
	return franz.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return cable{conn, delay}, nil
	})
}

// A run that a busy machine made invalid names no bottleneck.
func wantBottleneck(t *testing.T, r *result.Recorded, want string) {
	t.Helper()
	wantValid(t, r)
	if r.Run.Verdict.Status == result.Invalid {
		t.Logf("the machine was too busy: %q", r.Run.Verdict.Reasons)
		want = bottleneck.NotKnown
	}
	b := r.Run.Bottleneck
	if b == nil || b.Resource != want || b.Evidence == "" {
		t.Errorf("the bottleneck is %+v, want %s", b, want)
		return
	}
	t.Logf("%s, %.2f: %s", b.Resource, b.Saturation, b.Evidence)
}

// orTheMachine returns a limit, or host CPU if the tool or its broker waited for a core in more
// than a fifth of its time.
func orTheMachine(t *testing.T, r *result.Recorded, limit string) string {
	t.Helper()
	waited := r.Run.Process.CPUWaitRatio
	if b := r.Run.Broker[0].CPUWaitRatio; waited == nil || b != nil && *b > *waited {
		waited = b
	}
	if waited == nil || *waited <= 1-bottleneck.Saturated || *r.Run.Process.HostCPUBusy < bottleneck.Saturated {
		return limit
	}
	t.Logf("the machine was %v busy, and the run waited for a core in %v of its time", *r.Run.Process.HostCPUBusy, *waited)
	return bottleneck.HostCPU
}

func TestBottleneckIsOfferedLoad(t *testing.T) {
	r := run(t, config(t, clustertest.Shared(t), smallScenario(t, "low", "load.rate=200/s", "phases.warmup=1s", "phases.measure=2s")))
	wantBottleneck(t, r, bottleneck.OfferedLoad)
	wantBrokerFigures(t, r)
}

func TestBottleneckIsInFlight(t *testing.T) {
	s := smallScenario(t, "in-flight", "load.rate=max", "load.producers=1", "topic.partitions=1", "load.in_flight=1",
		"load.batch=4KiB", "load.acks=all", "consume.consumers=0")
	r := run(t, withDriver(config(t, clustertest.Shared(t), s), franz.New(overCable(5*time.Millisecond))))
	wantBottleneck(t, r, orTheMachine(t, r, bottleneck.InFlight))
	p := r.Run.Clients.Produce
	if p.Connections != 1 || p.MeanMs == nil || *p.MeanMs < 5 || p.InFlightMean > 1.05 {
		t.Errorf("requests %+v over a cable of 5 ms, one at a time", *p)
	}
}

// A filled topic is read in small pieces over a slow connection.
func TestBottleneckIsFetchSize(t *testing.T) {
	s := smallScenario(t, "fetch-size", "load.producers=0", "load.rate=max", "topic.partitions=1", "topic.fill=200kB", "load.batch=1KiB",
		"consume.fetch.max_partition_bytes=1KiB", "phases.warmup=0s", "phases.measure=3s")
	r := run(t, withDriver(config(t, clustertest.Shared(t), s), franz.New(overCable(5*time.Millisecond))))
	wantBottleneck(t, r, orTheMachine(t, r, bottleneck.FetchSize))
}

func TestBottleneckIsConsumerWork(t *testing.T) {
	s := smallScenario(t, "work", "load.rate=600/s", "consume.work.time=4ms", "consume.parallel=consumer")
	wantBottleneck(t, run(t, config(t, clustertest.Shared(t), s)), bottleneck.ConsumerWork)
}

// The broker's own metrics and the run's counts cover slightly different times.
func wantBrokerFigures(t *testing.T, r *result.Recorded) {
	t.Helper()
	if len(r.Run.Broker) != 1 || r.Run.Broker[0].Metrics == nil {
		t.Fatalf("no broker tells of itself: %+v", r.Run.Broker)
	}
	m := r.Run.Broker[0].Metrics
	counts := make(map[string]int64)
	for _, q := range m.Requests {
		counts[q.Type] = q.Count
	}
	alike := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.15*want+5 {
			t.Errorf("%s: the broker says %v, the clients %v", what, got, want)
		}
	}
	alike("produce requests", float64(counts["Produce"]), float64(r.Run.Clients.Produce.Count))
	alike("commits", float64(counts["OffsetCommit"]), float64(r.Run.Consumer.Commits))
	if m.BytesInPerS == nil || *m.BytesInPerS < 0.8*100*r.Run.Load.AckedPerS {
		t.Errorf("bytes in: %v of %v records/s of 100 B", m.BytesInPerS, r.Run.Load.AckedPerS)
	}
	for what, idle := range map[string]*float64{"handlers": m.HandlerIdleRatio, "network threads": m.NetworkIdleRatio} {
		if idle == nil || *idle < 0.3 || *idle > 1 {
			t.Errorf("the %s of a broker with little to do are idle for %v of the time", what, idle)
		}
	}
	if m.UnderReplicatedPeak == nil || *m.UnderReplicatedPeak != 0 || m.HeapPeakBytes == nil || m.GCCount == nil {
		t.Errorf("under-replicated %v, heap %v, GC %v", m.UnderReplicatedPeak, m.HeapPeakBytes, m.GCCount)
	}
	s := r.Run.Storage
	if s == nil || s.Replicas != 1 || s.DiskBytesPerRecord == nil || *s.DiskBytesPerRecord < 100 || *s.DiskRatio > 1.1 || s.WireBytesPerRecord == nil {
		t.Errorf("storage %+v of random records of 100 B", s)
	}
	if h := r.Run.HostUse; h == nil || len(h.Networks) == 0 || h.PageCacheBytes == nil {
		t.Errorf("host use %+v", h)
	}
}
