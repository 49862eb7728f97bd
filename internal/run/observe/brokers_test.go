package observe

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
)

type teller struct {
	mu sync.Mutex
	told
}

type told struct {
	down                      bool
	started, count, mean, urp float64
}

func (b *teller) set(change func(*told)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.told)
}

func (b *teller) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "process_start_time_seconds %v\n"+
		"kafka_network_requestmetrics_count{name=\"TotalTimeMs\",request=\"Produce\"} %v\n"+
		"kafka_network_requestmetrics_mean{name=\"TotalTimeMs\",request=\"Produce\"} %v\n"+
		"kafka_server_replicamanager_value{name=\"UnderReplicatedPartitions\"} %v\n", b.started, b.count, b.mean, b.urp)
}

func watched(t *testing.T, brokers ...*teller) *Brokers {
	t.Helper()
	writer, err := result.Create(t.TempDir(), "watched", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	axis := load.NewAxis(nil)
	axis.Set(0, time.Hour)
	w := &Brokers{every: time.Hour, axis: axis, journal: NewJournal(axis, writer, nil), brokers: make(map[int32]*brokerReadings)}
	for i, b := range brokers {
		server := httptest.NewServer(b)
		t.Cleanup(server.Close)
		w.endpoints = append(w.endpoints, cluster.MetricsEndpoint{ID: int32(i + 1), URL: server.URL})
	}
	return w
}

func TestBrokersAreDifferenced(t *testing.T) {
	steady := &teller{told: told{started: 1, count: 1000, mean: 8}}
	restarted := &teller{told: told{started: 1, count: 1000, mean: 8}}
	killed := &teller{told: told{started: 1, count: 1000, mean: 8}}
	late := &teller{told: told{down: true}}
	w := watched(t, steady, restarted, killed, late)
	w.look(t.Context(), windowBegins)
	steady.set(func(b *told) { b.urp = 5 })
	killed.set(func(b *told) { b.urp = 7 })
	late.set(func(b *told) { *b = told{started: 1, count: 10, mean: 1} })
	w.look(t.Context(), between)
	steady.set(func(b *told) { b.count, b.mean, b.urp = 1500, 6, 0 }) // 9,000 ms in total, 8,000 of them before
	restarted.set(func(b *told) { *b = told{started: 2, count: 2000, mean: 3} })
	killed.set(func(b *told) { b.down = true })
	w.look(t.Context(), windowEnds)

	all := w.Metrics()
	m := all[1]
	if len(m.Requests) != 1 || m.Requests[0].Type != "Produce" || m.Requests[0].Count != 500 || math.Abs(*m.Requests[0].TotalMs-2) > 1e-9 || m.Requests[0].PerS <= 0 {
		t.Errorf("500 requests of 2 ms are told as %+v", m.Requests)
	}
	if *m.UnderReplicatedPeak != 5 {
		t.Errorf("at most %d partitions were under-replicated, want 5", *m.UnderReplicatedPeak)
	}
	for id, what := range map[int32]string{2: "restarted in the window", 3: "gone at its end", 4: "not there at its begin"} {
		if m := all[id]; m == nil || len(m.Requests) != 0 || m.HandlerIdleRatio != nil || m.UnderReplicatedPeak == nil {
			t.Errorf("a broker that was %s is told as %+v; want its peaks alone", what, m)
		}
	}
	if *all[3].UnderReplicatedPeak != 7 {
		t.Errorf("the peak of a broker that was killed is %d, want 7", *all[3].UnderReplicatedPeak)
	}
}

func TestNothingIsReadOutsideOfTheWindow(t *testing.T) {
	w := watched(t, &teller{told: told{started: 1, urp: 9}})
	w.axis = load.NewAxis(nil)
	w.axis.Set(time.Hour, time.Hour) // in the warm-up
	w.look(t.Context(), between)
	if all := w.Metrics(); len(all) != 0 {
		t.Errorf("the warm-up is told as %+v", all)
	}
	if all := (*Brokers)(nil).Metrics(); all != nil {
		t.Errorf("nobody tells %+v", all)
	}
}

func TestWorstStretch(t *testing.T) {
	at, idle := time.Unix(1e9, 0), 0.0
	read := func(after time.Duration, share float64) probe.BrokerCounts {
		at, idle = at.Add(after), idle+share*float64(after)
		now := idle
		return probe.BrokerCounts{At: at, HandlerIdle: &now}
	}
	var b brokerReadings
	for _, look := range []struct {
		after time.Duration
		share float64
	}{{0, 0}, {5 * time.Second, 0.9}, {time.Second, 0}, {4 * time.Second, 0.5}, {5 * time.Second, 0.8}} {
		b.stretch(read(look.after, look.share), 5*time.Second)
	}
	if b.handlerIdleMin == nil || math.Abs(*b.handlerIdleMin-0.4) > 1e-9 {
		t.Errorf("the worst stretch was idle for %v, want 0.4", b.handlerIdleMin)
	}
}

func TestMetricsJoinTheirBrokers(t *testing.T) {
	m := map[int32]*result.BrokerMetrics{1: {}, 3: {}}
	all := WithMetrics([]result.Broker{{ID: 2}, {ID: 3, HeapMaxBytes: 5}}, m)
	if len(all) != 3 || all[0].ID != 1 || all[0].Metrics == nil || all[1].Metrics != nil || all[2].HeapMaxBytes != 5 || all[2].Metrics == nil {
		t.Errorf("brokers %+v", all)
	}
}
