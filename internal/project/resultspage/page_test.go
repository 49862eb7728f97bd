package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func TestScenariosArePresets(t *testing.T) {
	got := scenarios()
	presets := slices.DeleteFunc(slices.Clone(scenario.Names()), func(name string) bool {
		return strings.HasPrefix(name, "backpressure-") || strings.HasPrefix(name, "agents-") || onlyNamed(name)
	})
	if len(got) != 15 || !slices.Equal(got, presets[:15]) {
		t.Errorf("the page has %v, the presets are %v", got, presets)
	}
	for _, p := range priors() {
		if len(p.Configurations) == 0 {
			continue
		}
		suite, err := scenario.ReadSuite(p.Scenario, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for _, c := range p.Configurations {
			values = append(values, c.Value)
		}
		if !slices.Equal(values, suite.Axes[0].Values) {
			t.Errorf("%s was reported of %v, and the preset has %v", p.Scenario, values, suite.Axes[0].Values)
		}
	}
}

func save(t *testing.T, out string, r *result.Recorded) {
	t.Helper()
	dir := filepath.Join(out, filepath.Base(r.Dir))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(result.SummaryFile, marshal(t, r.Run))
	var lines []byte
	for _, i := range r.Intervals {
		lines = append(append(lines, marshal(t, i)...), '\n')
	}
	write(result.IntervalsFile, lines)
	write(result.EventsFile, nil)
	write(result.ScenarioFile, []byte("name: "+r.Run.Run.Name+"\n"))
	write(result.HistogramsFile, []byte("large\n"))
	write(result.CurvesFile, marshal(t, result.Curves{SchemaVersion: result.SchemaVersion}))
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var (
	baseline      = sync.OnceValue(resulttest.Baseline().Run)
	overloadTight = sync.OnceValue(resulttest.OverloadTight().Run)
)

func made(plan func() *result.Recorded, name, id string, minutes int) *result.Recorded {
	r := *plan()
	r.Run.Run.Name, r.Run.Run.ID = name, id
	r.Run.Run.StartedAt = r.Run.Run.StartedAt.Add(time.Duration(minutes) * time.Minute)
	r.Dir = filepath.Join("runs", r.Run.Run.StartedAt.Format("20060102T150405Z")+"-"+name+"-"+id)
	return &r
}

func saveSweep(t *testing.T, out string) {
	t.Helper()
	saveCampaign(t, out, result.Campaign{
		SchemaVersion: 1,
		Campaign: result.CampaignInfo{
			ID: "swept1", Name: "sweep-compression", Kind: result.KindRuns,
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 2,
		},
		Axes: []result.Axis{{Path: "load.compression", Values: []string{"none", "zstd"}}},
		Cells: []result.Cell{
			{Name: "sweep-compression-none", Values: []string{"none"}}, {Name: "sweep-compression-zstd", Values: []string{"zstd"}},
		},
	}, baseline, baseline)
}

func saveCampaign(t *testing.T, out string, c result.Campaign, plans ...func() *result.Recorded) {
	t.Helper()
	for i := range c.Cells {
		cell := &c.Cells[i]
		cell.Scenario = resulttest.Settings(map[string]any{})
		for round := range c.Campaign.Repeat {
			r := made(plans[i], cell.Name, fmt.Sprintf("%s%c", c.Campaign.ID[:4], 'a'+c.Campaign.Repeat*i+round), 10+c.Campaign.Repeat*i+round)
			save(t, out, r)
			c.Runs = append(c.Runs, result.CampaignRun{Cell: i, Round: round, Dir: "../" + filepath.Base(r.Dir), Status: result.Valid})
		}
	}
	dir := filepath.Join(out, "20261121T200000Z-"+c.Campaign.Name+"-"+c.Campaign.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, result.CampaignFile), marshal(t, c), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPageOfMadeUpRuns(t *testing.T) {
	out := t.TempDir()
	save(t, out, made(baseline, "baseline", "base01", 0))
	save(t, out, made(overloadTight, "overload-tight", "tight1", 1))
	save(t, out, made(baseline, "somebody-elses", "other1", 2))
	saveSweep(t, out)

	shelf, err := readShelf(out)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(shelf.all()); n != 6 {
		t.Errorf("%d runs are on the shelf, want 6", n)
	}
	page, err := shelf.page()
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"AMD EPYC 9R14, 2 CPUs", "Apache Kafka 4.3.1", "All 6 runs are valid",
		"| `quick` | – | – |", "<br>*before: 12,177*", "| `sweep-compression` |", "17.9 ms to 74.4 ms", "4 valid",
		"**An on/off gate overshoots,** before and here", "2.44 × of the tight one",
		"| `zstd` |", "p99 41.0 ms, 842 GC cycles",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line); n > pageWidth+1 && !strings.ContainsAny(line[:1], "|-!") {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	for _, never := range []string{"<no value>", "%!", "NaN", "n/a"} {
		if strings.Contains(text, never) {
			t.Errorf("the page says %q", never)
		}
	}
}

func TestPictureOfAValidRun(t *testing.T) {
	bad, good := made(baseline, "baseline", "base01", 0), made(baseline, "baseline", "base02", 1)
	bad.Run.Verdict.Status = result.Invalid
	s := newShelf()
	s.of("baseline").cells = []cell{{runs: []*result.Recorded{bad, good}}}
	spec, err := s.spec(picture{chart: "timeline", of: []string{"baseline"}})
	if err != nil || slices.ContainsFunc(spec.Notes, func(n string) bool { return strings.Contains(n, "invalid") }) {
		t.Errorf("%v, notes %q", err, spec.Notes)
	}
}

// A chart that lacks its data leaves a sentence on the page, with the command that records them.
func TestPictureWithoutItsData(t *testing.T) {
	s := newShelf()
	s.of("baseline").cells = []cell{{runs: []*result.Recorded{{Run: made(baseline, "baseline", "base01", 0).Run}}}}
	for file, want := range map[string]string{
		"baseline-timeline": "There is no chart baseline-timeline.svg: baseline has no valid run with intervals.ndjson. " +
			"`make results-runs ONLY=baseline` records it.",
		"bursty-summary": "There is no chart bursty-summary.svg: bursty-light was not recorded. " +
			"`make results-runs ONLY=bursty-light,bursty-heavy,bursty-overload` records it.",
	} {
		if got, err := s.picture(file); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", file, got, err, want)
		}
	}
}

func TestPageOfTwoKernels(t *testing.T) {
	one, other := made(baseline, "baseline", "base01", 0), made(baseline, "quick", "quick1", 1)
	one.Run.Run.Host.Kernel, other.Run.Run.Host.Kernel = "6.1.1", "6.1.2"
	where, err := whereOf([]*result.Recorded{one, other})
	if err != nil || !strings.Contains(where, "linux 6.1.1 and 6.1.2 (each scenario on one)") {
		t.Errorf("%s, %v", where, err)
	}
}

func TestPageOfTwoMachines(t *testing.T) {
	out := t.TempDir()
	save(t, out, made(baseline, "baseline", "base01", 0))
	other := made(baseline, "quick", "quick1", 1)
	other.Run.Run.Host.CPUs = 64
	save(t, out, other)
	shelf, err := readShelf(out)
	if err != nil {
		t.Fatal(err)
	}
	page, err := shelf.page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n- `quick`: ", "\n- `baseline`: ", ", 64 CPUs, "} {
		if strings.Count(string(page), want) != 1 {
			t.Errorf("%q is not once in the page", want)
		}
	}
	if both := []string{"quick", "baseline"}; !shelf.severalMachines(both) || shelf.severalMachines(both[:1]) {
		t.Error("a chart does not know that its scenarios are of different machines")
	}
	if _, err := whereOf(shelf.all()); err == nil || !strings.Contains(err.Error(), "different machines") {
		t.Errorf("one scenario on two machines: error %v", err)
	}
}
