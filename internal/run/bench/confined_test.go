package bench

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// confinedRun is a run whose consumers are in processes of their own, under limits.
func confinedRun(cpu float64, memory unit.Size) *run {
	s := scenario.Defaults()
	s.Consume.Consumers, s.Consume.CPU, s.Consume.Memory = 1, cpu, memory
	return &run{cfg: Config{Scenario: s}, corpus: &payload.Corpus{}}
}

// What the consumers wait for because the scenario holds them back is the experiment
// and not the tool's fault; it is told of them.
func TestConfinedConsumersDoNotStarveTheTool(t *testing.T) {
	waits := snapshot.Pauses{Sched: snapshot.Quantiles{Count: 9, P99: time.Second}, GC: snapshot.Quantiles{Count: 2, P99: time.Millisecond}}
	for name, c := range map[string]struct {
		run  *run
		held bool
	}{
		"half a core": {confinedRun(0.5, 0), true}, "memory": {confinedRun(0, 1<<30), false},
	} {
		r := c.run
		r.atEnd.apart.pauses = waits
		process := r.process(1)
		if starved := process.SchedDelayNs.P99Ns == int64(time.Second); starved == c.held {
			t.Errorf("%s: the tool's own delays are %+v", name, process.SchedDelayNs)
		}
		processes, confined := r.processesOfTheConsumers()
		delay := confined.SchedDelayNs
		if (delay != nil) != c.held || c.held && (delay.P99Ns != int64(time.Second) || confined.GCPauseNs.P99Ns != int64(time.Millisecond)) {
			t.Errorf("%s: of the consumers in %d processes it tells %+v", name, processes, confined)
		}
	}
}
