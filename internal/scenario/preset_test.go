package scenario

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the presets repeat is an earlier tool's set of runs; a figure that moved
// here would compare with nothing.
func TestPresetFigures(t *testing.T) {
	cases := []struct {
		name, rate, payload, phases string
		producers, consumers        int
		work, backpressure          string
	}{
		{"quick", "5k/s", "mixed", "2s 5s 10s", 4, 2, "0s", "off"},
		{"baseline", "10k/s", "mixed", "5s 30s 30s", 8, 4, "0s", "off"},
		{"slow-consumer", "8k/s", "json", "3s 30s 30s", 8, 2, "500µs+200µs", "off"},
		{"overload", "10k/s", "json", "3s 40s 1m", 8, 2, "4ms+1ms", "off"},
		{"overload-loose", "10k/s", "json", "3s 40s 1m", 8, 2, "4ms+1ms", "20000 5000 200ms shed"},
		{"overload-tight", "10k/s", "json", "3s 40s 1m", 8, 2, "4ms+1ms", "5000 1000 100ms shed"},
	}
	for _, c := range cases {
		s, err := Preset(c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		l, g, b := s.Load, s.Consume, s.Backpressure
		work := g.Work.Time.String()
		if g.Work.Jitter > 0 {
			work += "+" + g.Work.Jitter.String()
		}
		pressure := b.Controller
		if pressure == "hysteresis" {
			pressure = strings.Join([]string{fmt.Sprint(b.MaxLag), fmt.Sprint(b.ResumeLag), b.Poll.String(), b.Excess}, " ")
		}
		phases := s.Phases.Warmup.String() + " " + s.Phases.Measure.String() + " " + s.Phases.Drain.String()
		got := []any{l.Rate.String(), l.Record.Payload, phases, l.Producers, g.Consumers, work, pressure}
		want := []any{c.rate, c.payload, c.phases, c.producers, c.consumers, c.work, c.backpressure}
		if !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", c.name, got, want)
		}
		if l.Acks != "1" || l.Compression != "snappy" || l.Linger.String() != "5ms" || l.Batch.String() != "64KiB" ||
			l.Record.Size.Values[0] != 512 || s.Topic.Partitions != 12 || l.Record.Seed != 42 || g.Parallel != "partition" {
			t.Errorf("%s differs in what all presets share: %+v", c.name, s)
		}
	}
	if len(cases) != len(Names()) {
		t.Errorf("%d presets are checked, and there are %v", len(cases), Names())
	}
}

func TestPresetsDescribeThemselves(t *testing.T) {
	files, err := fs.Glob(presetFiles, "presets/*.yaml")
	if err != nil || len(files) != len(Names()) {
		t.Errorf("the files %v (%v) are not the names %v", files, err, Names())
	}
	for _, name := range Names() {
		text, err := PresetText(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s does not begin with a comment that teaches", name)
		}
		s, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != name || s.Description == "" || len(s.Description) > 80 || strings.Contains(s.Description, "\n") {
			t.Errorf("preset %s: name %q, description %q", name, s.Name, s.Description)
		}
		if warnings := s.Warnings(48); len(warnings) > 0 {
			t.Errorf("preset %s warns: %q", name, warnings)
		}
	}
	s, _ := Preset("overload")
	if least, most := s.Duration(); least != 43*time.Second || most != 103*time.Second {
		t.Errorf("overload takes %s to %s", least, most)
	}
	if _, err := Preset("overlode"); err == nil || !strings.Contains(err.Error(), "choose one of quick,") {
		t.Errorf("an unknown preset: %v", err)
	}
}
