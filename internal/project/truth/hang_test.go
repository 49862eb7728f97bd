package truth

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
)

// TestHungProcessBlindsNobody stops one process of two for two seconds, less than it
// takes to give it up: the intervals go on, with what the other one does, and say whose
// figures are old; afterwards nothing is missing.
func TestHungProcessBlindsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		who       string
		overrides []string
		goesOn    func(result.Interval) int64
	}{
		"consumers": {"process 1 of the consumers", []string{"consume.consumers=2", "consume.processes=2"}, func(iv result.Interval) int64 { return iv.Delivered }},
		"producers": {"process 1", []string{"load.processes=2"}, func(iv result.Interval) int64 { return iv.Acked }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallScenario(t, "hung", append(c.overrides, "phases.measure=4s", "sampling.interval=250ms")...)
			cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), s)
			cfg.Watch = &outsider{who: c.who, sends: map[time.Duration]syscall.Signal{time.Second: syscall.SIGSTOP, 3 * time.Second: syscall.SIGCONT}}
			r := run(t, cfg)
			wantBalance(t, r)
			wantHistograms(t, r)
			wantCount(t, "lost", r.Run.Delivery.Lost, 0)
			late := 0
			for _, iv := range r.Intervals {
				if length := time.Duration(iv.EndNs - iv.StartNs); length > 1500*time.Millisecond {
					t.Errorf("an interval is %v long", length)
				}
				if !slices.ContainsFunc(iv.Late, func(name string) bool { return strings.HasPrefix(name, c.who) }) {
					continue
				}
				if late++; c.goesOn(iv) == 0 && late > 1 {
					t.Errorf("nothing is known of the other process from %d to %d", iv.StartNs, iv.EndNs)
				}
			}
			if late < 3 {
				t.Errorf("%d intervals tell of a late process; it stood still for 2s", late)
			}
			for _, says := range []string{" does not answer", " answers again"} {
				if !slices.ContainsFunc(r.Events, func(e result.Event) bool {
					return strings.HasPrefix(e.What, c.who) && strings.HasSuffix(e.What, says)
				}) {
					t.Errorf("no event says that it%s", says)
				}
			}
		})
	}
}
