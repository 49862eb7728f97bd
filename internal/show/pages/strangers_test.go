package pages_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/pages"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// strangersSeeds are the files of one small run and a campaign of it.
var strangersSeeds = sync.OnceValue(func() map[string][]byte {
	run := resulttest.OverloadTight().Run()
	lines := func(all ...any) (text []byte) {
		for _, v := range all {
			line, _ := json.Marshal(v)
			text = append(append(text, line...), '\n')
		}
		return text
	}
	c := result.Campaign{
		SchemaVersion: 1, Campaign: result.CampaignInfo{ID: "k3x7qa", Name: "c", Kind: result.KindRuns, Order: "interleaved", Repeat: 1, Question: "Is it?"},
		Axes:  []result.Axis{{Path: "load.acks", Values: []string{"1", "all"}}},
		Cells: []result.Cell{{Name: "a", Values: []string{"1"}, Scenario: run.Run.Scenario}, {Name: "b", Values: []string{"all"}, Scenario: run.Run.Scenario}},
		Runs:  []result.CampaignRun{{Dir: "../run", Status: result.Valid}, {Cell: 1, Status: result.Failed, Error: "no"}},
	}
	preset, _ := scenario.PresetText("kmq-study")
	return map[string][]byte{
		"run/" + result.SummaryFile: lines(run.Run), "run/" + result.IntervalsFile: lines(run.Intervals[0], run.Intervals[1], run.Intervals[2]),
		"run/" + result.EventsFile: lines(run.Events[0], run.Events[1]), "c/" + result.CampaignFile: lines(c),
		"scenario.yaml": preset,
	}
})

var strangersTokens = []string{
	"null", "-1", "0", "1e308", "9223372036854775807", "-9223372036854775808", "[]", "{}", `""`, `"\u001b[2K\n"`, "true", "[[[[", "{{", `"../../x"`,
	"\"\xe2\x80\xae\"", "\x00", "\xff", "${HOME}", "*a", "&a", "<<: *a", "!!x", ",", "\n",
}

// mutate changes a few places of a file, always alike for a random source.
func mutate(text []byte, r *rand.Rand) []byte {
	text = slices.Clone(text)
	for range 1 + r.IntN(4) {
		if len(text) == 0 {
			return text
		}
		from := r.IntN(len(text))
		to := min(len(text), from+1+r.IntN(40))
		switch r.IntN(5) {
		case 0:
			text[from] = byte(r.IntN(256))
		case 1:
			text = slices.Delete(text, from, to)
		case 2:
			text = slices.Insert(text, from, slices.Clone(text[from:to])...)
		case 3:
			if r.IntN(8) == 0 {
				text = text[:from]
			}
		case 4: // in the place of a value
			if colon := bytes.IndexByte(text[from:], ':'); colon >= 0 {
				from += colon + 1
				if end := bytes.IndexAny(text[from:], ",}]\n"); end >= 0 {
					text = slices.Replace(text, from, from+end, []byte(strangersTokens[r.IntN(len(strangersTokens))])...)
				}
			}
		}
	}
	return text
}

// checkStranger reads and shows a run and a campaign after a mutation of one file. Errors are fine; a panic, or a
// control character in what is shown, is not.
func checkStranger(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	dir, seeds := t.TempDir(), strangersSeeds()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range seeds {
			if !yield(name) {
				return
			}
		}
	})
	changed := names[seed%uint64(len(names))]
	for _, name := range names {
		text := seeds[name]
		if name == changed {
			text = mutate(text, r)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	if changed == "scenario.yaml" {
		_, _ = scenario.ReadSuite(filepath.Join(dir, changed), scenario.Options{Env: func(string) (string, bool) { return "canary", true }})
		return
	}
	if run, err := result.Read(filepath.Join(dir, "run")); err == nil {
		_ = report.Runs(&said, []*result.Recorded{run}, report.Options{})
		_ = pages.Runs([]*result.Recorded{run}).Write(io.Discard, pages.Options{})
	}
	if c, err := result.ReadCampaign(filepath.Join(dir, "c")); err == nil {
		_ = campaigns.Write(&said, c, report.Options{})
		_, _ = campaign.Saved(&c.Campaign)
	}
	if text := said.String(); textfile.Lines(text) != text {
		t.Errorf("seed %d, %s: control characters in\n%.1000q", seed, changed, text)
	}
}

// The corpus of the quick tier are the first seeds; the proof tier has more.
func FuzzStrangersFiles(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(checkStranger)
}
