package report

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/result"
)

// Wrapping loses no word, and no line is too long unless one word is.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("aµ→")), 1, 12, -1), 1, 30).Draw(t, "words")
		text := words[0]
		for _, word := range words[1:] {
			text += rapid.SampledFrom([]string{" ", separator}).Draw(t, "between") + word
		}
		width := rapid.IntRange(1, 40).Draw(t, "width")
		lines := wrap(text, width)
		for _, line := range lines {
			if columns(line) > width && strings.Contains(line, " ") {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
		flat := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "·", " ")), " ") }
		if got := flat(strings.Join(lines, " ")); got != flat(text) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// Four ticks hold the peak, and the scale is not wasteful.
func TestRoundTick(t *testing.T) {
	for n, want := range map[int64]int64{1: 1, 4: 1, 5: 2, 8: 2, 9: 5, 21: 10, 75: 20, 253: 100, 400: 100, 401: 200, 168_887: 50_000, 99_999: 50_000} {
		if got := roundTick(n); got != want {
			t.Errorf("roundTick(%d) is %d, want %d", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<60).Draw(t, "n")
		if tick := roundTick(n); 4*tick < n || tick > 1 && tick >= n {
			t.Fatalf("roundTick(%d) is %d", n, tick)
		}
	})
}

// A picture draws the highest sample of each column, so that its peak is the one
// that its head names, below the tick above it.
func TestPictureDrawsTheSamples(t *testing.T) {
	end := int64(40)
	peak := int64(253)
	r := &result.Recorded{Run: result.Run{Run: result.Info{Name: "sampled", ID: "s4m9le", FinishedAt: time.Unix(1, 0)}, Lag: result.Lag{PeakRecords: &peak}}}
	r.Intervals = []result.Interval{
		{StartNs: 0, EndNs: 1e9, LagRecords: &end, LagSamples: []result.LagSample{{AtNs: 1e8, Records: 253}, {AtNs: 6e8, Records: 40}}},
		{StartNs: 1e9, EndNs: 2e9, LagRecords: &end, LagSamples: []result.LagSample{{AtNs: 15e8, Records: 40}}},
	}
	other := *r
	other.Run.Run.ID = "o7her0"
	draw := func() string {
		p := newPage(Options{})
		p.pictures([]variant{{name: "sampled", runs: []*result.Recorded{r, &other}, all: 2, valid: 2}})
		return p.b.String()
	}
	want := []string{"over time; one scale", "sampled, peak 253; run s4m9le, of 2 the one with the median peak", "300 ┤\n", "200 ┤   █", "100 ┤   █"}
	for _, text := range want {
		if got := draw(); !strings.Contains(got, text) {
			t.Errorf("no %q in\n%s", text, got)
		}
	}
	for i := range r.Intervals {
		r.Intervals[i].LagSamples = nil
	}
	if got := draw(); !strings.Contains(got, "at the ends of intervals") || !strings.Contains(got, "at most 40 at the ends, peak 253") {
		t.Errorf("without samples\n%s", got)
	}
}

// The height of a bar is its value on the scale, to the eighth of a row.
func TestBars(t *testing.T) {
	f := frame{tick: 16, top: 64, each: 2, start: 0, end: 64}
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.Int64Range(0, 64).Draw(t, "height")
		var eighths int64
		for row := range pictureRows {
			eighths += int64(bytes.IndexRune([]byte(string(blocksOf)), f.block(h, row)) / 3)
			if f.block(h, row) != ' ' {
				eighths++ // the space is one byte, the blocks are three
			}
		}
		if h > 0 && eighths != h {
			t.Fatalf("a bar for %d of 64 is %d eighths high", h, eighths)
		}
	})
}

// Any run that can be read can be rendered.
func FuzzRender(f *testing.F) {
	golden, err := os.ReadFile("../../result/testdata/20261121T195900Z-overload-tight-t3va6k/run.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden, []byte(`{"start_ns":-1000000000,"end_ns":0,"lag_records":5,"time":{}}`), 1)
	f.Add([]byte(`{"load":{"scheduled":-1},"backpressure":{"max_lag_records":1}}`), []byte(`{"start_ns":9,"end_ns":1,"lag_records":-9}`), 80)
	f.Fuzz(func(t *testing.T, summary, interval []byte, width int) {
		var r result.Recorded
		var i result.Interval
		if json.Unmarshal(summary, &r.Run) != nil || json.Unmarshal(interval, &i) != nil {
			return
		}
		r.Intervals = []result.Interval{i, i}
		var b bytes.Buffer
		if err := Text(&b, &r, Options{Colour: true}); err != nil {
			t.Fatal(err)
		}
		if err := SideBySide(&b, []*result.Recorded{&r, &r}, Options{}); err != nil {
			t.Fatal(err)
		}
		renderOtherwise(t, &r)
		for _, terminal := range []bool{true, false} {
			l := NewLive(&b, LiveOptions{Terminal: terminal, Width: width})
			for _, p := range r.Run.Run.Phases {
				l.Phase(p)
				l.Interval(i)
			}
			l.Interval(i)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// renderOtherwise writes a run in every format, compares it with another that is the
// same, takes both for a campaign and for a history.
func renderOtherwise(t *testing.T, r *result.Recorded) {
	t.Helper()
	r.Run.Verdict.Status = result.Valid
	other := *r
	other.Run.Run.ID, other.Dir = r.Run.Run.ID+"2", "runs/other"
	c := &result.RecordedCampaign{Runs: []*result.Recorded{r, &other}}
	c.Campaign.Cells = []result.Cell{{Name: "a"}, {Name: "b"}}
	c.Campaign.Runs = []result.CampaignRun{{Cell: 0}, {Cell: 1}}
	for _, format := range []Format{AsText, AsMarkdown, AsCSV, AsJSON} {
		var b bytes.Buffer
		o := Options{Format: format}
		if err := Runs(&b, []*result.Recorded{r, r, &other}, o); err != nil {
			t.Fatal(err)
		}
		if err := Campaign(&b, c, o); err != nil {
			t.Fatal(err)
		}
		sets := []Set{{Label: "a", Runs: c.Runs[:1]}, {Label: "b", Runs: c.Runs[1:]}}
		if compared, err := Compare(sets, CompareOptions{}); err == nil {
			if err := compared.Write(&b, o); err != nil {
				t.Fatal(err)
			}
		}
		if history, err := Over(c.Runs, HistoryOptions{}); err == nil {
			if err := history.Write(&b, o); err != nil {
				t.Fatal(err)
			}
		}
	}
}
