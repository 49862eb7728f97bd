package lagcontrol_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// A group that could take 1000/s commits each second. Below a bound of 1000 it waits for records.
func TestABoundBelowTheCommitIntervalIsReported(t *testing.T) {
	for _, c := range []struct {
		name           string
		bound, perTick int64 // perTick is what the group can take in 10 ms
		want           bool
	}{
		{"too small", 300, 10, true},
		{"large enough", 5000, 10, false},
		{"a slow group", 300, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := &clock{}
			var told []string
			credit, err := lagcontrol.NewCredit(c.bound)
			if err != nil {
				t.Fatal(err)
			}
			gate := newGate(t, lagcontrol.Config{Controller: credit, Now: at.now, OnChange: func(c lagcontrol.Change) {
				if c.Kind == lagcontrol.Small {
					told = append(told, c.Reason)
				}
			}})
			var end, taken, committed int64
			for range 3000 { // 30 s
				if at.at%everyReading == 0 {
					report(gate, topic("orders", committed, end))
				}
				n := gate.Admit(20)
				gate.Done(n)
				end += n
				taken = min(taken+c.perTick, end)
				at.at += 10 * time.Millisecond
				if at.at%time.Second == 0 {
					committed = taken
				}
			}
			if (len(told) == 1) != c.want || len(told) > 1 {
				t.Errorf("reported %q", told)
			}
			if c.want && !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "commits only each 1s") }) {
				t.Errorf("reported %q, which does not name the interval", told)
			}
		})
	}
}
