package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const killed = "killed"

// recorder stands for kafka-bench: it records runs of sweep-acks, which end as ends says, and are
// valid after those.
type recorder struct {
	t      *testing.T
	out    string
	ends   []string
	change func(*result.Run) // of each run; nil changes nothing
	set    []string          // of each new campaign
	calls  [][]string
	made   int
}

func (r *recorder) job() job {
	return job{
		from: r.out, only: []string{"sweep-acks"}, flags: []string{"--cluster", "kafka"}, bench: r.bench,
		makers: campaign.Makers{Host: baseline().Run.Run.Host},
	}
}

func (r *recorder) bench(_ context.Context, args []string, _ io.Writer) error {
	r.t.Helper()
	r.calls = append(r.calls, args)
	journal, err := r.journal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	defer journal.Close()
	for _, place := range journal.Pending() {
		end := result.Valid
		if len(r.ends) > 0 {
			end, r.ends = r.ends[0], r.ends[1:]
		}
		r.made++
		cell := journal.Campaign().Cells[journal.Campaign().Runs[place].Cell]
		run := made(baseline, cell.Name, fmt.Sprintf("made%02d", r.made), r.made)
		run.Run.Scenario = cell.Scenario
		if r.change != nil {
			r.change(&run.Run)
		}
		run.Run.Run.Interrupted = end == result.Interrupted
		if end == result.Invalid {
			run.Run.Verdict.Status = result.Invalid
		}
		if end == killed {
			run.Run.Run.FinishedAt = time.Time{}
		}
		save(r.t, r.out, run)
		if err := journal.Began(place, run.Dir); err != nil {
			r.t.Fatal(err)
		}
		if end == killed {
			return errors.New(killed)
		}
		if err := journal.Ended(place, run.Dir, &run.Run); err != nil {
			r.t.Fatal(err)
		}
		if end == result.Interrupted {
			return errors.New(end)
		}
	}
	return journal.Finish()
}

func (r *recorder) journal(args []string) (*campaign.Journal, error) {
	if i := slices.Index(args, "--resume"); i >= 0 {
		return campaign.Resume(args[i+1])
	}
	suite, err := scenario.ReadSuite("sweep-acks", scenario.Options{Set: r.set})
	if err != nil {
		return nil, err
	}
	suite.Seed = 0 // the written order
	plan, err := campaign.NewPlan([]scenario.Suite{suite}, campaign.PlanOptions{Repeat: repeat})
	if err != nil {
		return nil, err
	}
	c, err := plan.Campaign(result.Tool{})
	if err != nil {
		return nil, err
	}
	return campaign.Create(r.out, c)
}

func filesOf(t *testing.T, dir string) map[string]int {
	count := map[string]int{}
	for _, f := range filesBelow(t, dir) {
		count[filepath.Base(f)]++
	}
	return count
}

func TestRecordingGoesOn(t *testing.T) {
	r := &recorder{t: t, out: filepath.Join(t.TempDir(), "results"), ends: []string{
		result.Invalid, result.Valid, result.Interrupted, result.Valid, killed, result.Valid, result.Invalid,
	}}
	save(t, r.out, made(baseline, "baseline", "base01", 0))
	save(t, r.out, made(baseline, "sweep-acks-0", "lost01", 0)) // its campaign is gone
	for call, want := range []struct {
		args  string
		made  int // by all calls
		files map[string]int
		fails bool
	}{
		{"run sweep-acks --repeat 5 --out " + r.out, 3, map[string]int{result.SummaryFile: 2 + 3, result.HistogramsFile: 2 + 1}, true},
		{"run --resume ", 5, map[string]int{result.SummaryFile: 2 + 4, result.HistogramsFile: 2 + 1}, true},
		{"run --resume ", 18, map[string]int{result.SummaryFile: 1 + 16, result.HistogramsFile: 1}, false}, // a run was planned for the invalid one
		{"run --resume ", 19, map[string]int{result.SummaryFile: 1 + 17, result.HistogramsFile: 1}, false}, // and for another
		{"", 19, map[string]int{result.SummaryFile: 1 + 17, result.HistogramsFile: 1}, false},
	} {
		r.calls = nil
		if err := r.job().makeRuns(t.Context(), io.Discard); (err != nil) != want.fails {
			t.Fatalf("call %d: %v", call, err)
		}
		if want.args == "" && r.calls != nil ||
			want.args != "" && (len(r.calls) != 1 || !strings.HasPrefix(strings.Join(r.calls[0], " "), want.args)) {
			t.Errorf("call %d: %q, want %q", call, r.calls, want.args)
		}
		got := filesOf(t, r.out)
		for name, n := range want.files {
			if r.made != want.made || got[name] != n {
				t.Errorf("call %d: %d made and %d × %s; want %d and %d", call, r.made, got[name], name, want.made, n)
			}
		}
	}
	// The first run of a cell has its series, and after an invalid one the first valid run.
	if n := filesOf(t, r.out)[result.IntervalsFile]; n != 1+4 {
		t.Errorf("%d runs have their series", n)
	}
	s, err := readShelf(r.out)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := leftOut(s.of("sweep-acks").runs()),
		"2 of the 17 runs are invalid and in no figure: 1 of `sweep-acks-0`, 1 of `sweep-acks-1`. Further runs replace 2 of them."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if s.one("baseline") == nil {
		t.Error("the run of another scenario is gone")
	}
}

// ofLongAgo gives the campaign's folder an early name, and returns the text of every file.
func (r *recorder) ofLongAgo() map[string]string {
	r.t.Helper()
	all, err := result.ListCampaigns(r.out)
	if err != nil || len(all) != 1 {
		r.t.Fatal(len(all), err)
	}
	if err := os.Rename(all[0].Dir, filepath.Join(r.out, "20200101T000000Z-former")); err != nil {
		r.t.Fatal(err)
	}
	return r.texts()
}

func (r *recorder) texts() map[string]string {
	r.t.Helper()
	texts := map[string]string{}
	for _, file := range filesBelow(r.t, r.out) {
		text, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			r.t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

func (r *recorder) entry() *entry {
	r.t.Helper()
	s, err := readShelf(r.out)
	if err != nil {
		r.t.Fatal(err)
	}
	return s.of("sweep-acks")
}

var (
	byFormerMethod = func(run *result.Run) { run.Run.MethodVersion = 1 }
	onOtherKernel  = func(run *result.Run) { run.Run.Host.Kernel = "6.13.0" }
)

// A campaign that cannot go on stays as it is, and counts, until a new one is complete.
func TestRecordingAnew(t *testing.T) {
	for name, c := range map[string]struct {
		ends  []string // of the former runs
		was   func(*result.Run)
		set   []string
		shown int // runs until the new campaign is complete
		left  string
	}{
		"another method": {[]string{result.Invalid}, byFormerMethod, nil, 15, "All 15 runs are valid."},
		"another kernel, a run is invalid": {[]string{result.Invalid}, onOtherKernel, nil, 15,
			"1 of the 16 runs is invalid and in no figure: 1 of `sweep-acks-0`. A further run replaces it."},
		"another kernel, not finished": {[]string{result.Valid, result.Interrupted}, onOtherKernel, nil, 2, "All 15 runs are valid."},
		"another preset":               {[]string{result.Invalid}, nil, []string{"load.rate=9k/s"}, 15, "All 15 runs are valid."},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{t: t, out: filepath.Join(t.TempDir(), "results"), ends: c.ends, change: c.was, set: c.set}
			_ = r.job().makeRuns(t.Context(), io.Discard) // the last of the ends may be an interrupt
			former := r.ofLongAgo()
			r.calls, r.ends, r.change, r.set = nil, []string{result.Valid, result.Interrupted}, nil, nil
			if err := r.job().makeRuns(t.Context(), io.Discard); err == nil {
				t.Error("it was not interrupted")
			}
			now := r.texts()
			for file, text := range former {
				if now[file] != text {
					t.Errorf("%s has changed", file)
				}
			}
			if n := len(r.entry().runs()); n != c.shown {
				t.Errorf("%d runs are shown, want %d", n, c.shown)
			}
			for range 2 {
				if err := r.job().makeRuns(t.Context(), io.Discard); err != nil {
					t.Fatal(err)
				}
			}
			if len(r.calls) != 2 || r.calls[0][1] != "sweep-acks" || r.calls[1][1] != "--resume" {
				t.Errorf("%q", r.calls)
			}
			if got := leftOut(r.entry().made()); got != c.left {
				t.Errorf("%q, want %q", got, c.left)
			}
			if n := filesOf(t, r.out); n[result.CampaignFile] != 1 || n[result.SummaryFile] != len(r.entry().made()) ||
				n[result.IntervalsFile] != 3 {
				t.Errorf("files %v", n)
			}
		})
	}
}

func TestCompleteOnAnotherMachine(t *testing.T) {
	r := &recorder{t: t, out: filepath.Join(t.TempDir(), "results"), change: onOtherKernel}
	var said bytes.Buffer
	for range 2 {
		if err := r.job().makeRuns(t.Context(), &said); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.calls) != 1 || !strings.Contains(said.String(), "has 5 valid runs of each configuration") {
		t.Errorf("%q, and it says %s", r.calls, &said)
	}
}

func TestTidySweep(t *testing.T) {
	j := job{from: t.TempDir()}
	saveSweep(t, j.from)
	for range 2 {
		if err := j.tidy("sweep-compression"); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{
			result.CampaignFile: 1, result.SummaryFile: 4, result.CurvesFile: 4,
			result.ScenarioFile: 2, result.IntervalsFile: 2, result.EventsFile: 2,
		}
		if got := filesOf(t, j.from); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	s, err := readShelf(j.from)
	if err != nil {
		t.Fatal(err)
	}
	if e := s.of("sweep-compression"); len(e.cells) != 2 || len(e.cells[0].runs) != 2 || e.cells[1].value != "zstd" {
		t.Errorf("read back: %+v", e)
	}
}

func TestSlopesKeepTheirSeries(t *testing.T) {
	j := job{from: t.TempDir()}
	saveCampaign(t, j.from, result.Campaign{
		SchemaVersion: 1,
		Campaign: result.CampaignInfo{
			ID: "stored1", Name: "throughput-stored-data", Kind: result.KindRuns, Answer: "slope",
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 3,
		},
		Cells: []result.Cell{{Name: "throughput-stored-data-producer-alone", Values: []string{"producer-alone"}}},
	}, baseline)
	if err := j.tidy("throughput-stored-data"); err != nil {
		t.Fatal(err)
	}
	if n := filesOf(t, j.from)[result.IntervalsFile]; n != 3 {
		t.Errorf("%d of 3 runs kept their series", n)
	}
}

func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"-only nothing": `there is no scenario "nothing"; choose from quick, baseline`,
		"extra":         `"extra" is not a flag`,
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(args), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestRunThatFails(t *testing.T) {
	t.Chdir(workTree(t))
	const shelf, page, readme = "results", "docs/RESULTS.md", "README.md"
	if err := os.Mkdir("docs", 0o755); err != nil {
		t.Fatal(err)
	}
	save(t, shelf, made(baseline, "baseline", "base01", 0))
	var out bytes.Buffer
	if err := os.WriteFile(readme, []byte("nothing of a result"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"-from", shelf, "-page", page, "-readme", readme, "-run", "./no-such-binary", "-only", "quick,baseline"}, &out, &out)
	if err == nil || !strings.Contains(err.Error(), "quick: ") || !strings.Contains(err.Error(), "baseline: ") {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), "All 1 runs") {
		t.Errorf("page %.200s, %v", text, err)
	}
}
