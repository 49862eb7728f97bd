package bench

import (
	"runtime"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/result/bottleneck"
)

func (r *run) allowed() bottleneck.Settings {
	s := r.cfg.Scenario
	l, c := s.Load, s.Consume
	clients := l.Clients
	if clients == 0 {
		clients = l.Producers
	}
	return bottleneck.Settings{
		ClientCores: r.clientCores(),
		InFlight:    l.InFlight, BatchBytes: max(0, int64(l.Batch)), LingerNs: int64(l.Linger),
		MaxBuffered:            int64(l.MaxBuffered) * int64(clients),
		Partitions:             r.topic.Partitions,
		FetchMinBytes:          int64(c.Fetch.MinBytes),
		FetchMaxBytes:          r.fetchSetting(int64(c.Fetch.MaxBytes), "FetchMaxBytes"),
		FetchMaxPartitionBytes: r.fetchSetting(int64(c.Fetch.MaxPartitionBytes), "FetchMaxPartitionBytes"),
		FetchMaxWaitNs:         int64(c.Fetch.MaxWait),
		CommitsEachBatch:       c.Commit.EachBatch,
	}
}

func (r *run) clientCores() float64 {
	if r.apart() || r.cfg.Scenario.Consume.Processes > 1 {
		return float64(runtime.NumCPU())
	}
	return float64(runtime.GOMAXPROCS(0))
}

// fetchSetting returns the scenario's value, else the client's own under name, else 0.
func (r *run) fetchSetting(set int64, name string) int64 {
	if set > 0 || len(r.groups) == 0 {
		return set
	}
	for _, s := range r.groups[0].Settings() {
		if s.Name == name {
			n, _ := strconv.ParseInt(strings.Fields(s.Value + " 0")[0], 10, 64)
			return n
		}
	}
	return 0
}
