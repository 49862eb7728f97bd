package result_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

var startedAt = time.Date(2026, 11, 21, 19, 59, 0, 0, time.UTC)

func create(t testing.TB) *result.Writer {
	t.Helper()
	w, err := result.Create(filepath.Join(t.TempDir(), "runs"), "overload", startedAt)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func writeAll(w *result.Writer, r result.Run, i result.Interval, e result.Event) error {
	if err := w.Interval(i); err != nil {
		return err
	}
	if err := w.Event(e); err != nil {
		return err
	}
	return w.Finish(r)
}

func read(t testing.TB, dir string) *result.Recorded {
	t.Helper()
	r, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFolderNames(t *testing.T) {
	for name, want := range map[string]string{
		"overload":                   "overload",
		"Overload, tight":            "overload-tight",
		"../../etc/passwd":           "etc-passwd",
		".hidden":                    "hidden",
		"":                           "run",
		"日本":                         "run",
		"a_b.c-d":                    "a_b.c-d",
		strings.Repeat("long-", 100): strings.Trim(strings.Repeat("long-", 100)[:48], "-"),
	} {
		out := t.TempDir()
		zone := time.FixedZone("elsewhere", 3600)
		w, err := result.Create(out, name, startedAt.In(zone))
		if err != nil {
			t.Fatal(err)
		}
		pattern := "^20261121T195900Z-" + regexp.QuoteMeta(want) + "-[a-z2-7]{6}$"
		if base := filepath.Base(w.Dir()); !regexp.MustCompile(pattern).MatchString(base) || !strings.HasSuffix(base, "-"+w.ID()) {
			t.Errorf("%q: folder %s, want %s", name, base, pattern)
		}
		// A reader refuses a name that no scenario has.
		if got, err := result.Read(w.Dir()); err == nil && got.Run.Run.Name != name {
			t.Errorf("the run's own name is %q, want %q", got.Run.Run.Name, name)
		}
	}
}

func TestCrashLeavesAReadableRun(t *testing.T) {
	w := create(t)
	r := read(t, w.Dir())
	if r.Run.Finished() || r.Run.Verdict.Status != result.Invalid || !slices.Equal(r.Run.Verdict.Reasons, []string{"the run did not finish"}) {
		t.Errorf("a run that has just begun says %+v", r.Run.Verdict)
	}
	info := result.Info{Name: "overload", Cluster: result.Cluster{Kind: "kafka", Version: "4.3.1"}}
	if err := w.Describe(info, resulttest.Settings(map[string]any{"repeat": 5})); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Interval(result.Interval{Acked: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	intervals := filepath.Join(w.Dir(), result.IntervalsFile)
	whole, err := os.ReadFile(intervals)
	if err != nil {
		t.Fatal(err)
	}
	lastLine := strings.LastIndex(strings.TrimSuffix(string(whole), "\n"), "\n") + 1
	for cut := lastLine; cut <= len(whole); cut++ {
		if err := os.WriteFile(intervals, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		r := read(t, w.Dir())
		// The last line is lost only if its closing brace is missing.
		want, torn := 2, cut > lastLine
		if cut >= len(whole)-1 {
			want, torn = 3, false
		}
		if len(r.Intervals) != want || (len(r.Notes) == 1) != torn {
			t.Fatalf("cut at %d of %d: %d intervals, notes %q", cut, len(whole), len(r.Intervals), r.Notes)
		}
		if torn && !strings.Contains(r.Notes[0], "line 3 of intervals.ndjson") {
			t.Fatalf("note %q does not say which line", r.Notes[0])
		}
		if r.Run.Finished() || r.Run.Run.Cluster.Version != "4.3.1" || r.Run.Verdict.Status != result.Invalid {
			t.Fatalf("what was known before the crash is gone: %+v", r.Run)
		}
	}
}

func TestFinish(t *testing.T) {
	w := create(t)
	if err := w.Scenario([]byte("name: overload\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.HistogramLog().Write([]byte("#[StartTime: 0]\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(result.Run{}); err != nil {
		t.Fatal(err)
	}
	r := read(t, w.Dir())
	if !r.Run.Finished() || r.Run.Run.ID != w.ID() || !r.Run.Run.StartedAt.Equal(startedAt) {
		t.Errorf("finished as %+v", r.Run.Run)
	}
	if r.Run.Verdict.Status != result.Invalid || len(r.Run.Verdict.Reasons) != 1 {
		t.Errorf("a run that nobody judged is %+v", r.Run.Verdict)
	}
	if err := w.Event(result.Event{}); err == nil || !strings.Contains(err.Error(), result.EventsFile) {
		t.Errorf("an event after the end: error %v", err)
	}
	if err := w.Finish(result.Run{Verdict: result.Verdict{Status: result.Valid}}); err != nil {
		t.Errorf("a second Finish: %v", err)
	}
	var names []string
	entries, _ := os.ReadDir(w.Dir())
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{result.EventsFile, result.HistogramsFile, result.IntervalsFile, result.SummaryFile, result.ScenarioFile}
	if !slices.Equal(names, want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

func TestFinishAgainAfterAnError(t *testing.T) {
	w := create(t)
	zero := 0.0
	err := w.Finish(result.Run{Delivery: result.Delivery{Ratio: zero / zero}})
	if err == nil || !strings.Contains(err.Error(), result.SummaryFile) {
		t.Fatalf("NaN: error %v", err)
	}
	if err := w.Finish(result.Run{Verdict: result.Verdict{Status: result.Valid}}); err != nil {
		t.Fatal(err)
	}
	if r := read(t, w.Dir()); r.Run.Verdict.Status != result.Valid {
		t.Errorf("verdict %+v", r.Run.Verdict)
	}
}

func TestCreateWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{file, filepath.Join(file, "runs")} {
		_, err := result.Create(out, "overload", startedAt)
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "choose a folder") {
			t.Errorf("Create in %s: error %v, want one with the path and the remedy", out, err)
		}
		if err := result.CheckWritable(out); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "choose a folder") {
			t.Errorf("CheckWritable in %s: error %v, want one with the path and the remedy", out, err)
		}
	}
}

func TestDiscardLeavesWhatIsNotItsOwn(t *testing.T) {
	theirs := t.TempDir()
	ours := filepath.Join(theirs, "runs")
	if err := result.CheckWritable(ours); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ours); !os.IsNotExist(err) {
		t.Errorf("CheckWritable left %s behind (%v)", ours, err)
	}
	first, err := result.Create(ours, "first", startedAt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Create(ours, "second", startedAt); err != nil {
		t.Fatal(err)
	}
	if err := first.Discard(); err != nil {
		t.Error(err)
	}
	if runs, err := result.List(ours); err != nil || len(runs) != 1 {
		t.Errorf("%d runs are left, %v; want the second", len(runs), err)
	}
	if err := result.CheckWritable(theirs); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Errorf("CheckWritable removed a folder that was there: %v", err)
	}
}

func TestEventsFromManyGoroutines(t *testing.T) {
	const writers, each = 8, 200
	w := create(t)
	var group sync.WaitGroup
	for g := range writers {
		group.Go(func() {
			for i := range each {
				if err := w.Event(result.Event{AtNs: int64(i), Kind: "warning", What: strings.Repeat("x", 100*g)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := len(read(t, w.Dir()).Events); got != writers*each {
		t.Errorf("%d events, want %d", got, writers*each)
	}
}

func TestRoundTrip(t *testing.T) {
	out := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		want := result.Recorded{Run: draw[result.Run](t)}
		want.Run.Load.AckedInWindow = new(int64) // a run without it is older, and gets other rates
		want.Run.Run.Name, want.Run.Verdict.Status = "a-name", result.Invalid
		if want.Run.System != nil {
			want.Run.System.Status = result.KeptUp
		}
		for range rapid.IntRange(0, 3).Draw(t, "intervals") {
			want.Intervals = append(want.Intervals, draw[result.Interval](t))
		}
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			want.Events = append(want.Events, draw[result.Event](t))
		}
		w, err := result.Create(out, want.Run.Run.Name, startedAt)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range want.Intervals {
			if err := w.Interval(i); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range want.Events {
			if err := w.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(want.Run); err != nil {
			t.Fatal(err)
		}
		got, err := result.Read(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		want.Dir, want.Run.SchemaVersion, want.Run.Run.ID = w.Dir(), result.SchemaVersion, w.ID()
		want.Files = result.RunFiles()[:4] // without the scenario
		if want.Run.Run.Name == "" {
			want.Run.Run.Name = got.Run.Run.Name
		}
		if a, b := render(t, want), render(t, *got); a != b {
			t.Fatalf("wrote %s\n read %s", a, b)
		}
		if err := w.Discard(); err != nil {
			t.Fatal(err)
		}
	})
}

func render(t *rapid.T, r result.Recorded) string {
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The Writer decides how empty lists and maps are written, so draw gives each an element.
func draw[T any](t *rapid.T) T {
	var v T
	drawInto(t, reflect.ValueOf(&v).Elem())
	return v
}

func drawInto(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "measured") {
			v.Set(reflect.New(v.Type().Elem()))
			drawInto(t, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			ns := rapid.Int64Range(1, 1<<61).Draw(t, "time")
			v.Set(reflect.ValueOf(time.Unix(0, ns).UTC()))
			return
		}
		if v.Type() == reflect.TypeFor[result.Settings]() {
			// A float64 would lose a seed's last digits above 2⁵³.
			seed := rapid.Uint64().Draw(t, "seed")
			v.Set(reflect.ValueOf(resulttest.Settings(map[string]any{"seed": seed, "rate": "10k/s"})))
			return
		}
		for i := range v.NumField() {
			drawInto(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		drawInto(t, v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		drawInto(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(textfile.Line(rapid.String().Draw(t, "key"))), value)
	case reflect.Interface:
		seed := rapid.Uint64().Draw(t, "seed")
		v.Set(reflect.ValueOf(map[string]any{"seed": json.Number(fmt.Sprint(seed)), "rate": "10k/s"}))
	case reflect.String:
		v.SetString(textfile.Line(rapid.StringN(1, 20, 80).Draw(t, "text")))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Int32:
		v.SetInt(int64(rapid.Int32().Draw(t, "int32")))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint64"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	}
}
