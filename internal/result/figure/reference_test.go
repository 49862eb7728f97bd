package figure

import (
	"math"
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func of(name, controller, commit, work string, perS float64) *result.Run {
	r := run()
	r.Run.Name = name
	r.Scenario = resulttest.Settings(map[string]any{
		"name": name, "load": map[string]any{"rate": "10k/s"},
		"consume":      map[string]any{"commit": commit, "work": map[string]any{"time": work}},
		"backpressure": map[string]any{"controller": controller, "max_lag": 5000},
	})
	r.Delivery.DeliveredPerS = perS
	if controller == "off" {
		r.Backpressure = nil
	}
	return r
}

func TestReferences(t *testing.T) {
	off := []*result.Run{of("off", "off", "1s", "4ms", 2700), of("off", "off", "1s", "4ms", 2600), of("off", "off", "1s", "4ms", 2650)}
	credit, latency := of("credit", "credit", "1s", "4ms", 2597), of("latency", "latency", "100ms", "4ms", 2650)
	faster, worker := of("faster", "latency", "50ms", "4ms", 2650), of("worker", "credit", "1s", "8ms", 1300)
	near := of("off-100ms", "off", "100ms", "4ms", 2500)
	found := References([][]*result.Run{off, {near}, {credit}, {latency}, {faster}, {worker}, nil})
	for _, c := range []struct {
		run     *result.Run
		name    string
		differs []string
		ratio   float64
	}{
		{off[0], "off", nil, 2700. / 2650},
		{credit, "off", nil, 0.98},
		{latency, "off-100ms", nil, 1.06},              // it commits as often
		{faster, "off", []string{"consume.commit"}, 1}, // the first of those with the same differences
		{worker, "", nil, math.NaN()},                  // other consumers
	} {
		reference := found[c.run]
		if reference.Name != c.name || !slices.Equal(reference.Differs, c.differs) {
			t.Errorf("%s is held against %+v, want %s, which differs in %v", c.run.Run.Name, reference, c.name, c.differs)
		}
		ratio, known := DeliveredOfOff(found).Value(c.run)
		if known != (c.name != "") || known && math.Abs(ratio-c.ratio) > 1e-9 {
			t.Errorf("%s delivered %v of it (known: %t), want %v", c.run.Run.Name, ratio, known, c.ratio)
		}
	}
}

func TestNoReference(t *testing.T) {
	credit := of("credit", "credit", "1s", "4ms", 2600)
	unread, untold, idle := of("off", "off", "1s", "4ms", 2600), of("off", "off", "1s", "4ms", 2600), of("off", "off", "1s", "4ms", 0)
	unread.Consumer.Members, untold.Scenario = 0, result.Settings{}
	for _, off := range []*result.Run{unread, untold, idle} {
		if found := References([][]*result.Run{{off}, {credit}}); len(found) > 0 {
			t.Errorf("%+v", found)
		}
	}
}
