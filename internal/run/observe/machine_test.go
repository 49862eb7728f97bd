package observe

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestConfinedConsumersDoNotStarveTheTool(t *testing.T) {
	waits := snapshot.Pauses{Sched: snapshot.Quantiles{Count: 9, P99: time.Second}, GC: snapshot.Quantiles{Count: 2, P99: time.Millisecond}}
	for name, c := range map[string]struct {
		limits result.Confined
		held   bool
	}{
		"half a core": {result.Confined{CPU: 0.5}, true}, "memory": {result.Confined{MemoryBytes: 1 << 30}, false},
	} {
		m := Machine{Consumers: 1, Confined: &c.limits}
		var a, b Reading
		b.apart.pauses = waits
		process := m.process(a, b, 1, Peaks{})
		if starved := process.SchedDelayNs.P99Ns == int64(time.Second); starved == c.held {
			t.Errorf("%s: the tool's own delays are %+v", name, process.SchedDelayNs)
		}
		confined := m.confined(a, b)
		delay := confined.SchedDelayNs
		if (delay != nil) != c.held || c.held && (delay.P99Ns != int64(time.Second) || confined.GCPauseNs.P99Ns != int64(time.Millisecond)) {
			t.Errorf("%s: of the consumers it tells %+v", name, confined)
		}
	}
}
