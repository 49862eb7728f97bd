package cluster

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	// The name contains text that looks like the fields after it.
	const stat = "4242 (a) R 1 (b) S 1 4242 4242 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 100"
	state, started, err := parseStat(stat)
	if state != "S" || started != "987654" || err != nil {
		t.Errorf("parseStat() = %q, %q, %v", state, started, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 33 1000 100")
	f.Add("1 (x")
	f.Fuzz(func(t *testing.T, stat string) {
		state, started, err := parseStat(stat)
		if err == nil && (state == "" || started == "" || strings.ContainsAny(state+started, " )")) {
			t.Errorf("parseStat(%q) = %q, %q", stat, state, started)
		}
	})
}
