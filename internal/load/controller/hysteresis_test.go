package controller_test

import (
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
)

func hysteresis(t rapid.TB, maxLag, resume int64) *controller.Hysteresis {
	t.Helper()
	h, err := controller.NewHysteresis(maxLag, resume)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHysteresisLaw(t *testing.T) {
	h := hysteresis(t, 5000, 1000)
	for _, c := range []struct {
		name   string
		lag    int64
		open   bool
		admits bool
		reason string
	}{
		{"far behind", 9000, true, false, "lag 9000 is above 5000"},
		{"at the bound it stays open", 5000, true, true, "lag 5000 has not passed 5000"},
		{"between, open", 3000, true, true, "lag 3000 has not passed 5000"},
		{"between, closed", 3000, false, false, "lag 3000 has not fallen below 1000"},
		{"at the resume mark it stays closed", 1000, false, false, "lag 1000 has not fallen below 1000"},
		{"caught up", 999, false, true, "lag 999 is below 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := h.Decide(lagcontrol.Observation{Lag: c.lag, Open: c.open, Admitted: 1})
			if admits := d.Ceiling > 1; admits != c.admits || d.Reason != c.reason {
				t.Errorf("lag %d, open %v: ceiling %d, %q; want admits %v, %q", c.lag, c.open, d.Ceiling, d.Reason, c.admits, c.reason)
			}
		})
	}
}

func TestHysteresisNeverSkipsAThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		resume := rapid.Int64Range(1, 1000).Draw(t, "resume")
		maxLag := resume + rapid.Int64Range(1, 1000).Draw(t, "span")
		gate, err := lagcontrol.New(lagcontrol.Config{Controller: hysteresis(t, maxLag, resume)})
		if err != nil {
			t.Fatal(err)
		}
		open := true
		for range rapid.IntRange(1, 100).Draw(t, "readings") {
			lag := rapid.Int64Range(0, 2*maxLag).Draw(t, "lag")
			change := gate.Report(gate.Mark(), lagcontrol.Reading{Lag: lag})
			switch {
			case lag > maxLag:
				open = false
			case lag < resume:
				open = true
			}
			if gate.Open() != open {
				t.Fatalf("lag %d: open is %v, want %v", lag, gate.Open(), open)
			}
			if change != nil && change.Open != open {
				t.Fatalf("lag %d: change says open %v", lag, change.Open)
			}
		}
	})
}
