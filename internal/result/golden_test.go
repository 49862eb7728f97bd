package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// goldenDir is a run of schema version 1, which every version must read. So -update writes it only
// if it is missing.
const goldenDir = "testdata/20261121T195900Z-overload-tight-t3va6k"

func TestGoldenRunReads(t *testing.T) {
	if _, err := os.Stat(goldenDir); *update && errors.Is(err, fs.ErrNotExist) {
		writeGolden(t)
	}
	r := read(t, goldenDir)
	if len(r.Notes) != 0 || !r.Run.Finished() || r.Run.Load.Scheduled != 200_000 || len(r.Intervals) != 24 {
		t.Errorf("read %d intervals, notes %q, load %+v", len(r.Intervals), r.Notes, r.Run.Load)
	}
	for file, schema := range map[string]string{
		result.SummaryFile:   "run.schema.json",
		result.IntervalsFile: "interval.schema.json",
		result.EventsFile:    "event.schema.json",
	} {
		s := compile(t, schema)
		for _, document := range documents(t, file) {
			if err := validate(t, s, document); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	want := documents(t, result.SummaryFile)[0]
	var as result.Run
	if err := json.Unmarshal(want, &as); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(as)
	if err != nil {
		t.Fatal(err)
	}
	if missing := lost("", tree(t, want), tree(t, got)); len(missing) > 0 {
		t.Errorf("the types have no place any more for %s", strings.Join(missing, ", "))
	}
}

func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(goldenDir, file))
	if err != nil {
		t.Fatal(err)
	}
	if file == result.SummaryFile {
		return [][]byte{b}
	}
	return bytes.Split(bytes.TrimSpace(b), []byte("\n"))
}

func tree(t *testing.T, document []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lost returns the paths of values that only want has.
func lost(path string, want, got any) []string {
	object, ok := want.(map[string]any)
	if !ok {
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		if bytes.Equal(w, g) {
			return nil
		}
		return []string{path}
	}
	other, _ := got.(map[string]any)
	var paths []string
	for name, v := range object {
		paths = append(paths, lost(path+"/"+name, v, other[name])...)
	}
	return paths
}

func writeGolden(t *testing.T) {
	t.Helper()
	made := resulttest.OverloadTight().Run()
	w, err := result.Create(t.TempDir(), made.Run.Run.Name, resulttest.StartedAt)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range made.Intervals {
		if err := w.Interval(i); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range made.Events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	writeHistogram(t, w, made)
	scenario := "name: overload-tight\nload: {rate: 10k/s, producers: 8, record: {size: 512B, payload: json, seed: 42}}\n"
	if err := w.Scenario([]byte(scenario)); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(made.Run); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(goldenDir, os.DirFS(w.Dir())); err != nil {
		t.Fatal(err)
	}
	// Only the ID is random.
	summary := filepath.Join(goldenDir, result.SummaryFile)
	b, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"id": "`+w.ID()+`"`), []byte(`"id": "`+made.Run.Run.ID+`"`), 1)
	if err := os.WriteFile(summary, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeHistogram(t *testing.T, w *result.Writer, made *result.Recorded) {
	t.Helper()
	h := hdrhistogram.New(1, int64(3600e9), 3)
	for _, i := range made.Intervals {
		s := i.Time["e2e_response_time"]
		if s.Count == 0 {
			continue
		}
		if err := h.RecordValues(s.P50Ns, s.Count); err != nil {
			t.Fatal(err)
		}
	}
	h.SetTag("e2e_response_time")
	h.SetStartTimeMs(resulttest.StartedAt.UnixMilli())
	h.SetEndTimeMs(resulttest.StartedAt.UnixMilli() + 20_000)
	log := hdrhistogram.NewHistogramLogWriter(w.HistogramLog())
	if err := log.OutputLogFormatVersion(); err != nil {
		t.Fatal(err)
	}
	if err := log.OutputLegend(); err != nil {
		t.Fatal(err)
	}
	if err := log.OutputIntervalHistogram(h); err != nil {
		t.Fatal(err)
	}
}
