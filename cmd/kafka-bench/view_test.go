package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// The line of a run has a percentile only if ten records lie beyond it, like the run's report.
func TestInBrief(t *testing.T) {
	text, err := baseline()
	if err != nil {
		t.Fatal(err)
	}
	var made result.Run
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		count int64
		want  string
	}{
		{1_000, "e2e response time p50 6.65 ms, p99 8.57 ms"},
		{999, "e2e response time p50 6.65 ms, p99 n/a"},
		{19, "e2e response time p50 n/a, p99 n/a"},
	} {
		o := &bench.Outcome{Run: made}
		d := o.Run.Time["e2e_response_time"]
		d.Count = c.count
		o.Run.Time["e2e_response_time"] = d
		if got := inBrief(o); !strings.HasPrefix(got, "valid · kept up · acked ") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%d records: %q, want %q", c.count, got, c.want)
		}
	}
}

func TestFillIsTold(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		l.embedded.ProduceDelay = time.Millisecond // otherwise the fill takes no time
		out := t.TempDir()
		got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--repeat", "2",
			"--set", "topic.fill=100kB", "--set", "load.record.size=100B")
		if n := strings.Count(got.stderr, "  filling the topic with 100 kB\n  filled: 1,000 records in "); n != 2 {
			t.Errorf("of 2 fills %d are told of:\n%s%s", n, got.stdout, got.stderr)
		}
	})
}

func TestColumnsOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for said, want := range map[string]int{"": 0, "80": 80, "wide": 0, "-3": 0} {
		t.Setenv("COLUMNS", said)
		if got := columnsOf(w); got != want {
			t.Errorf("COLUMNS=%q: %d columns, want %d", said, got, want)
		}
	}
}
