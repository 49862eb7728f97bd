package lagcontrol

import (
	"testing"
	"testing/synctest"
	"time"
)

// A closed gate admits one record each 30 s if the source cannot tell whether the lag has records, and all else is settled.
func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		credit, err := NewCredit(50)
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(Config{Controller: credit})
		if err != nil {
			t.Fatal(err)
		}
		report := func(r Reading) { g.Report(g.Mark(), r) }
		report(Reading{Lag: 40})
		if n := g.Admit(100); n != 10 {
			t.Fatalf("%d are admitted, want 10", n)
		}
		stuck := Reading{Lag: 64, Unreadable: true}
		if report(stuck); g.Open() {
			t.Error("it is open although ten records are not settled")
		}
		g.Done(10)
		var at []time.Duration
		start := time.Now()
		for time.Since(start) < 65*time.Second {
			report(stuck)
			if g.Admit(5) == 1 {
				at = append(at, time.Since(start))
				g.Done(1)
			}
			time.Sleep(time.Second)
		}
		if len(at) != 3 || at[0] != 0 || at[1] < 30*time.Second || at[2]-at[1] < 30*time.Second {
			t.Errorf("probes went at %v", at)
		}
		report(stuck)
		if s := g.Stats(); s.Probes != 3 || s.Admitted != 13 {
			t.Errorf("%d probes, %d admitted", s.Probes, s.Admitted)
		}
		time.Sleep(time.Minute)
		if report(Reading{Lag: 65, Unreadable: true}); g.Open() {
			t.Error("it is open, and the last probe was not consumed")
		}
		if report(Reading{Lag: 64, Committed: 1, Unreadable: true}); !g.Open() {
			t.Error("it is closed, and the last probe was consumed")
		}
		if report(Reading{Lag: 64}); g.Open() {
			t.Error("it is open, and the lag is known")
		}
	})
}
