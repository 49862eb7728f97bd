package main

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

// swept has five runs of each value.
func swept(values []string, set func(value string, round int, r *result.Run)) []cell {
	var cells []cell
	for i, value := range values {
		c := cell{value: value}
		for round := range 5 {
			r := made(baseline, "swept-"+value, value, 10*i+round)
			set(value, round, &r.Run)
			c.runs = append(c.runs, r)
		}
		cells = append(cells, c)
	}
	return cells
}

func TestCyclesBesideTheEarlierOnes(t *testing.T) {
	of := func(zstd int64) string {
		s := newShelf()
		s.of(bySarama).cells = swept([]string{"none", "snappy", "zstd"}, func(codec string, round int, r *result.Run) {
			r.Process.GCCycles = map[string]int64{"none": 16, "snappy": 24, "zstd": zstd}[codec] + int64(round%2)
		})
		text, err := s.cycles()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const alike = "The earlier tool counted 842 GC cycles with zstd, 16.2 to 21.1 times as many as with each other codec; " +
		"with its client, sarama, there are 18 [18, 19] here, from 0.75 (0.72..0.79) times those of snappy to " +
		"1.12 (1.06..1.19) times those of none, so the runs show no such excess."
	if got := of(18); got != alike {
		t.Errorf("got  %s\nwant %s", got, alike)
	}
	if got := of(842); strings.Contains(got, "excess") || !strings.Contains(got, " to 52.") {
		t.Errorf("of as many as before: %s", got)
	}
	if got, err := newShelf().cycles(); got != "" || err != nil {
		t.Errorf("without runs: %q, %v", got, err)
	}
}

func TestCodecsOfPayloads(t *testing.T) {
	s := newShelf()
	s.of("sweep-payload").cells = swept([]string{"zeros", "json"}, func(payload string, round int, r *result.Run) {
		r.Compression = []result.Compression{{Codec: "none", Ratio: 1}, {Codec: "lz4", Ratio: map[string]float64{"zeros": 12, "json": 2}[payload]}}
		if payload == "json" {
			r.Compression = append(r.Compression, result.Compression{Codec: "gzip", Ratio: 2.5 + 0.1*float64(round)})
		}
	})
	s.of("sweep-payload").cells[0].runs[0].Run.Verdict.Status = result.Invalid
	got := strings.Split(s.codecs("sweep-payload"), "\n")
	want := []string{"| method 2 | lz4 | gzip |", "|---|--:|--:|", "| `zeros` | 12.00 | – |", "| `json` | 2.00 | 2.70 [2.50, 2.90] |"}
	if !slices.Equal(got[2:], want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := newShelf().codecs("sweep-payload"); got != "" {
		t.Errorf("without runs: %q", got)
	}
}
