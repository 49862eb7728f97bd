package fleet_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
)

func TestCheck(t *testing.T) {
	const ample = "topic: {partitions: 8}\nload: {producers: 8}\nconsume: {consumers: 8}\n"
	for _, of := range []struct {
		yaml      string
		placement string
		want      []string
	}{
		{ample, bench.Own, nil},
		{ample + "faults: [{at: 1s, kill: consumer 0}]", bench.Own, []string{"faults: ", "leave one of the two out"}},
		{"topic: {partitions: 8}\nload: {producers: 8, processes: 2}\nconsume: {consumers: 8, processes: 2, cpu: 1, memory: 1GiB}", bench.Own,
			[]string{"load.processes: ", "set it to 1", "consume.processes: ", "set it to 1", "consume.cpu: ", "leave it out", "consume.memory: ", "leave it out"}},
		{ample + "backpressure: {controller: credit, max_lag: 1000, signal: delivered}", bench.Own, []string{"backpressure.signal delivered: ", "set it to committed"}},
		{ample + "backpressure: {controller: credit, max_lag: 3}", bench.Own, []string{"backpressure.max_lag: ", "give at least 4"}},
		{"topic: {partitions: 3}\nload: {producers: 3}\nconsume: {consumers: 2}", bench.Own,
			[]string{"load.producers: 3 are fewer than the 4 agents", "give at least 4", "consume.consumers: 2", "give at least 4", "topic.partitions: 3", "give at least 4"}},
		{"topic: {existing: orders}\nload: {producers: 0}\nconsume: {consumers: 8}", bench.Apart, []string{"load.producers: --senders", "give at least 1"}},
		{"topic: {partitions: 8}\nload: {producers: 8}\nconsume: {consumers: 0}", bench.Apart, []string{"consume.consumers: --receivers", "give at least 3"}},
		{"topic: {partitions: 8}\nload: {producers: 1}\nconsume: {consumers: 2}", bench.Apart, []string{"consume.consumers: 2 are fewer than the 3 receivers", "give at least 3"}},
		{"topic: {partitions: 8}\nload: {producers: 8, partitioning: key, record: {keys: {distribution: uniform, count: 10}}}\nconsume: {consumers: 8, groups: 2}", bench.Own,
			[]string{"load.partitioning key: ", "--placement any", "consume.groups: ", "--placement any"}},
		{"topic: {partitions: 8}\nload: {producers: 8, partitioning: key, record: {keys: {distribution: uniform, count: 10}}}\nconsume: {consumers: 8, groups: 2}", bench.Any, nil},
		{"topic: {partitions: 10000}\nload: {producers: 200}\nconsume: {consumers: 8}", bench.Own, []string{"load.producers × topic.partitions: 2000000 lanes", "give fewer of one"}},
		{"topic: {partitions: 8}\nload: {producers: 8, partitioning: key, record: {keys: {distribution: uniform, count: 10}}}\nconsume: {consumers: 8, queue: {engine: offsetmap}}", bench.Own, nil},
		{"topic: {partitions: 8}\nload: {producers: 8, record: {payload: {file: /orders.ndjson, sha256: 00ff}, size: {file: [1B, 2B, 3B]}}}\nconsume: {consumers: 8}", bench.Own,
			[]string{"load.record.payload.file: ", "run without --agents"}},
	} {
		s, err := scenario.Parse("test", []byte("name: refused\n"+of.yaml))
		if err != nil {
			t.Errorf("%s: %v", of.yaml, err)
			continue
		}
		rest := ""
		if err := fleet.Check(s, 4, 1, of.placement); err != nil {
			rest = err.Error()
		}
		if len(of.want) == 0 && rest != "" {
			t.Errorf("%s is refused: %s", of.yaml, rest)
		}
		for _, want := range of.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s: %q is not said, or not in its place, in\n%v", of.yaml, want, fleet.Check(s, 4, 1, of.placement))
				break
			}
			rest = after
		}
	}
}
