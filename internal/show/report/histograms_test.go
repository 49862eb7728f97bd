package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func logged(t *testing.T, name, id string, after time.Duration, scale int64) *result.Recorded {
	t.Helper()
	started := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC).Add(after)
	r := &result.Recorded{Dir: t.TempDir()}
	r.Run = result.Run{
		SchemaVersion: 1, Verdict: result.Verdict{Status: result.Valid}, Time: map[string]result.Time{},
		Run: result.Info{ID: id, Name: name, StartedAt: started, FinishedAt: started.Add(11 * time.Second)},
	}
	f, err := os.Create(filepath.Join(r.Dir, result.HistogramsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := latency.NewLogWriter(f, started)
	for second := -2; second < 10; second++ {
		for metric := range latency.Metric(latency.NumMetrics) {
			h := latency.NewHistogram()
			for i := range int64(1000) {
				h.Record((i*i%7919 + 1) * scale * int64(metric+1) * int64(20+second))
			}
			at := time.Duration(second) * time.Second
			if err := log.Write(at, at+time.Second, latency.Tag(second >= 0, metric), h); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

func agree(t *testing.T, r *result.Recorded) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.Dir, result.HistogramsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	merged := map[string]*latency.Histogram{}
	for entry, err := range latency.ReadLog(f) {
		if err != nil {
			t.Fatal(err)
		}
		if merged[entry.Tag] == nil {
			merged[entry.Tag] = latency.NewHistogram()
		}
		merged[entry.Tag].Merge(entry.Histogram)
	}
	for tag, histogram := range merged {
		d := histogram.Distribution()
		r.Run.Time[tag] = result.Time{
			Count: d.Count, MinNs: d.MinNs, MeanNs: d.MeanNs, StddevNs: d.StddevNs, P50Ns: d.P50Ns, P75Ns: d.P75Ns, P90Ns: d.P90Ns,
			P95Ns: d.P95Ns, P99Ns: d.P99Ns, P995Ns: d.P995Ns, P999Ns: d.P999Ns, P9999Ns: d.P9999Ns, MaxNs: d.MaxNs,
		}
	}
}

func TestHistograms(t *testing.T) {
	a, b := logged(t, "baseline", "b2mzr4", 0, 100), logged(t, "overload", "o7fq2m", time.Hour, 3000)
	agree(t, a)
	agree(t, b)
	short := b.Run.Time["poll_time"]
	short.Count += 3
	b.Run.Time["poll_time"] = short
	off := b.Run.Time["send_delay"]
	off.P99Ns += off.P99Ns / 50
	b.Run.Time["send_delay"] = off
	near := b.Run.Time["e2e_response_time"]
	near.P99Ns += near.P99Ns / 2000 // within the resolution
	b.Run.Time["e2e_response_time"] = near
	h, err := report.ReadHistograms([]*result.Recorded{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(h.Runs[0].Differences); n != 0 {
		t.Errorf("the log that the figures are from does not agree with them: %v", h.Runs[0].Differences)
	}
	if got := strings.Join(h.Runs[1].Differences, "; "); !strings.Contains(got, "poll_time: the log has 10,000 values, run.json 10,003") || !strings.Contains(got, "send_delay: p99 is") || strings.Contains(got, "e2e") {
		t.Errorf("the differences are %s", got)
	}
	for _, tag := range h.Runs[0].Tags { // 10,000 values, or 2,000 of the warm-up
		if warmup := tag.Time.Count < 10_000; tag.Time.P9999Ns != nil || (tag.Time.P999Ns == nil) != warmup || tag.Time.P99Ns == nil {
			t.Errorf("%s of %d values has %+v", tag.Tag, tag.Time.Count, tag.Time)
		}
	}
	for i := range h.Runs {
		h.Runs[i].Dir = "runs/20261121T200000Z-" + h.Runs[i].Name + "-" + h.Runs[i].ID
	}
	showtest.AllFormats(t, "histograms", func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) })
}

// A merged log loses no value, and HdrHistogram's own library reads it.
func TestMergedLog(t *testing.T) {
	runs := []*result.Recorded{logged(t, "over load", "o7fq2m", time.Hour, 3000), logged(t, "baseline", "b2mzr4", 0, 100)}
	h, err := report.ReadHistograms(runs)
	if err != nil {
		t.Fatal(err)
	}
	var merged bytes.Buffer
	if err := h.WriteMerged(&merged); err != nil {
		t.Fatal(err)
	}
	text := merged.String()
	got := map[string]latency.Distribution{}
	last := time.Duration(-1 << 62)
	for entry, err := range latency.ReadLog(&merged) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Start < last {
			t.Errorf("%s begins at %v, before the line above it", entry.Tag, entry.Start)
		}
		last = entry.Start
		got[entry.Tag] = entry.Histogram.Distribution()
	}
	if want := len(runs) * 2 * latency.NumMetrics; len(got) != want {
		t.Errorf("%d tags, want %d", len(got), want)
	}
	for i, r := range runs {
		for _, tag := range h.Runs[i].Tags {
			d := got[report.MergedTag(r, tag.Tag)]
			if d.Count != tag.Time.Count || d.P99Ns != *tag.Time.P99Ns || d.MaxNs != tag.Time.MaxNs {
				t.Errorf("%s %s: %+v, want %+v", r.Run.Run.Name, tag.Tag, d, tag.Time)
			}
		}
	}
	reader := hdrhistogram.NewHistogramLogReader(strings.NewReader(text))
	lines := 0
	for {
		other, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if other == nil {
			break
		}
		lines++
		if d := got[other.Tag()]; other.TotalCount() != d.Count || other.Max() != d.MaxNs {
			t.Errorf("%s: HdrHistogram reads %d values up to %d, want %d up to %d", other.Tag(), other.TotalCount(), other.Max(), d.Count, d.MaxNs)
		}
	}
	if lines != len(got) {
		t.Errorf("HdrHistogram reads %d lines, want %d", lines, len(got))
	}
}

func TestHistogramsOfOneBookAreOfOneTime(t *testing.T) {
	r := &result.Recorded{Dir: t.TempDir()}
	f, err := os.Create(filepath.Join(r.Dir, result.HistogramsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := latency.NewLogWriter(f, time.Unix(1_000, 0))
	for _, line := range []struct {
		tag   string
		start time.Duration
	}{{"warmup_pacer_lateness", -2}, {"pacer_lateness", -1}, {"warmup_send_delay", -1}, {"pacer_lateness", 0}, {"send_delay", 1}} {
		h := latency.NewHistogram()
		h.Record(1000)
		if err := log.Write(line.start*time.Second, (line.start+1)*time.Second, line.tag, h); err != nil {
			t.Fatal(err)
		}
	}
	h, err := report.ReadHistograms([]*result.Recorded{r})
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range h.Runs[0].Tags {
		start, end := int64(0), int64(2e9)
		if strings.HasPrefix(tag.Tag, "warmup_") {
			start, end = -2e9, 0
		}
		if tag.StartNs != start || tag.EndNs != end {
			t.Errorf("%s is from %d to %d, want %d to %d", tag.Tag, tag.StartNs, tag.EndNs, start, end)
		}
	}
}

func TestHistogramsOfNoLog(t *testing.T) {
	r := logged(t, "baseline", "b2mzr4", 0, 100)
	r.Dir = t.TempDir()
	if _, err := report.ReadHistograms([]*result.Recorded{r}); err == nil || !strings.Contains(err.Error(), "has no histograms.hlog") {
		t.Errorf("a missing log is %v", err)
	}
}
