package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	words := []string{"rate", "linger", "max_lag", "in_flight"}
	for word, want := range map[string]string{
		"rat": "rate", "raet": "rate", "RATE": "rate", "maxLag": "max_lag", "max-lag": "max_lag", "inflight": "in_flight",
		"lingre": "linger", "zebra": "", "": "", strings.Repeat("r", 100): "", "ta": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	for words, want := range map[[2]string]bool{
		{"max-lag", "maxLag"}: true, {"MAX_LAG", "max lag"}: true, {"rate", "rate"}: true, {"rate", "rates"}: false, {"a.b", "ab"}: false,
	} {
		if Same(words[0], words[1]) != want {
			t.Errorf("%q are the same: %v", words, !want)
		}
	}
}

func TestOneOf(t *testing.T) {
	if got := OneOf([]string{"a"}); got != "a" {
		t.Errorf("one choice is %q", got)
	}
	if got := OneOf([]string{"a", "b", "c"}); got != "one of a, b or c" {
		t.Errorf("three choices are %q", got)
	}
}
