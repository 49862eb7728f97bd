package lagcontrol_test

import (
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

func TestAFixedShareInherits(t *testing.T) {
	for name, c := range map[string]struct {
		inherit time.Duration
		own     [4]int64 // the lag after readings that were requested at 0, 29 s, 30 s, and 30 s + 1 ns
	}{
		"by default":   {0, [4]int64{30, 33, 35, 34}},
		"for less":     {29 * time.Second, [4]int64{30, 33, 33, 32}},
		"for a moment": {1, [4]int64{30, 33, 33, 32}},
		"nothing":      {lagcontrol.NoInherit, [4]int64{}},
	} {
		at := &clock{at: time.Hour} // an axis may start anywhere
		gate := newGate(t, lagcontrol.Config{
			Controller: &window{bound: 100}, Share: lagcontrol.Fixed(0.5), Inherit: c.inherit, Now: at.now,
		})
		var marks []lagcontrol.Mark
		for _, after := range []time.Duration{0, 29 * time.Second, 30 * time.Second, 30*time.Second + 1} {
			at.at = time.Hour + after
			marks = append(marks, gate.Mark())
		}
		at.at += time.Minute
		for i, log := range []struct{ committed, end int64 }{{100, 130}, {100, 133}, {100, 135}, {101, 150}} {
			gate.Report(marks[i], topic("a", log.committed, log.end))
			own := c.own[i]
			if s := gate.Stats(); s.Lag != own || s.Ceiling != 50-own {
				t.Errorf("%s, reading %d: an own lag of %d and a ceiling of %d; want %d and %d",
					name, i, s.Lag, s.Ceiling, own, 50-own)
			}
		}
	}
}

func TestInheritNeedsAShare(t *testing.T) {
	_, err := lagcontrol.New(lagcontrol.Config{Controller: &window{bound: 100}, Inherit: time.Second})
	if err == nil || !strings.Contains(err.Error(), "only a gate with a share inherits") {
		t.Error(err)
	}
	for _, inherit := range []time.Duration{0, lagcontrol.NoInherit} {
		gate := newGate(t, lagcontrol.Config{Controller: &window{bound: 100}, Inherit: inherit})
		if gate.Inherit() != 0 {
			t.Errorf("it inherits for %v", gate.Inherit())
		}
	}
}
