package follow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

type files map[string][]byte

func record(t *testing.T, r *result.Recorded) files {
	t.Helper()
	w := create(t, t.TempDir())
	for _, e := range r.Events {
		must(t, w.Event(e))
	}
	log := latency.NewLogWriter(w.HistogramLog(), r.Run.Run.StartedAt)
	for n, i := range r.Intervals {
		h := latency.NewHistogram()
		h.RecordN(int64(n+1)*int64(time.Millisecond), i.Acked)
		must(t, log.Write(time.Duration(i.StartNs), time.Duration(i.EndNs), "e2e_response_time", h))
		must(t, w.Interval(i))
	}
	must(t, w.Finish(r.Run))
	all := files{}
	for _, name := range []string{result.SummaryFile, result.IntervalsFile, result.EventsFile, result.HistogramsFile} {
		content, err := os.ReadFile(filepath.Join(w.Dir(), name))
		must(t, err)
		all[name] = content
	}
	return all
}

func create(t *testing.T, out string) *result.Writer {
	t.Helper()
	w, err := result.Create(out, "followed", time.Unix(0, 0))
	must(t, err)
	return w
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Follower {
	t.Helper()
	root, err := os.OpenRoot(filepath.Dir(dir))
	must(t, err)
	t.Cleanup(func() { root.Close() })
	f, err := Open(root, filepath.Base(dir))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func take(f *Follower, all *Change) error {
	for {
		changed, err := f.look()
		if err != nil || !changed {
			return err
		}
		c := f.next
		f.next = Change{}
		if c.Run != nil {
			all.Run = c.Run
		}
		all.Intervals, all.Events = append(all.Intervals, c.Intervals...), append(all.Events, c.Events...)
		all.Histograms, all.Ended = append(all.Histograms, c.Histograms...), c.Ended
		if c.Ended {
			return nil
		}
	}
}

// However a run's files are split over reads, each line is returned once.
func TestAnySplitIsTheSameRun(t *testing.T) {
	plan := resulttest.OverloadTight()
	plan.RatePerS, plan.Measure, plan.Drain = 1000, 6*time.Second, 3*time.Second
	written := record(t, plan.Run())
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, os.Mkdir(whole, 0o755))
	for name, content := range written {
		must(t, os.WriteFile(filepath.Join(whole, name), content, 0o644))
	}
	want, err := result.Read(whole)
	must(t, err)
	entries := 0
	for _, err := range latency.ReadLog(bytes.NewReader(written[result.HistogramsFile])) {
		must(t, err)
		entries++
	}
	rapid.Check(t, func(rt *rapid.T) {
		out, err := os.MkdirTemp(t.TempDir(), "")
		must(rt, err)
		w := create(t, out)
		f := open(t, w.Dir())
		f.Histograms = true
		for _, tail := range f.tails {
			tail.atOnce = rapid.IntRange(1, 3000).Draw(rt, "at once")
		}
		left := files{}
		for _, name := range []string{result.IntervalsFile, result.EventsFile, result.HistogramsFile} {
			left[name] = written[name]
		}
		var all Change
		for len(left) > 0 {
			name := rapid.SampledFrom([]string{result.IntervalsFile, result.EventsFile, result.HistogramsFile}).Draw(rt, "file")
			n := min(len(left[name]), rapid.IntRange(0, 3000).Draw(rt, "bytes"))
			appendTo(rt, filepath.Join(w.Dir(), name), left[name][:n])
			if left[name] = left[name][n:]; len(left[name]) == 0 {
				delete(left, name)
			}
			must(rt, take(f, &all))
		}
		if all.Ended || all.Run.Finished() {
			rt.Fatal("the run was said to have ended before it had")
		}
		must(rt, w.Finish(want.Run))
		must(rt, take(f, &all))
		if !all.Ended || !all.Run.Finished() || !reflect.DeepEqual(all.Run.Load, want.Run.Load) {
			rt.Fatal("the final run.json was not seen")
		}
		if !reflect.DeepEqual(all.Intervals, want.Intervals) || !reflect.DeepEqual(all.Events, want.Events) {
			rt.Fatalf("saw %d intervals and %d events, want the %d and %d of the run", len(all.Intervals), len(all.Events),
				len(want.Intervals), len(want.Events))
		}
		if len(all.Histograms) != entries {
			rt.Fatalf("saw %d histograms, want %d", len(all.Histograms), entries)
		}
		for n, i := range slicesOfAcked(want.Intervals) {
			if h := all.Histograms[n]; int64(h.Start) != i.StartNs || h.Histogram.Count() != i.Acked {
				rt.Fatalf("histogram %d begins at %v and has %d values, want %d and %d", n, h.Start, h.Histogram.Count(), i.StartNs,
					i.Acked)
			}
		}
	})
}

func slicesOfAcked(all []result.Interval) (some []result.Interval) {
	for _, i := range all {
		if i.Acked > 0 {
			some = append(some, i)
		}
	}
	return some
}

func appendTo(t *rapid.T, path string, content []byte) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.Write(content)
	must(t, errors.Join(err, file.Close()))
}

// Next returns a line within 100 ms, and loses nothing if its context ends.
func TestNextWaitsForLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := create(t, t.TempDir())
		f := open(t, w.Dir())
		first, err := f.Next(t.Context())
		if err != nil || first.Run == nil || first.Run.Finished() || first.Ended || len(first.Intervals) > 0 {
			t.Fatalf("the first change is %+v, error %v; want the head", first, err)
		}
		began := time.Now()
		for n := range int64(3) {
			at := time.Duration(n)*time.Second + 250*time.Millisecond
			time.AfterFunc(time.Until(began.Add(at)), func() {
				must(t, w.Interval(result.Interval{StartNs: n, EndNs: n + 1}))
			})
		}
		for n := range int64(3) {
			c, err := f.Next(t.Context())
			must(t, err)
			if len(c.Intervals) != 1 || c.Intervals[0].StartNs != n || c.Run != nil {
				t.Errorf("change %d is %+v", n, c)
			}
			late := time.Since(began) - (time.Duration(n)*time.Second + 250*time.Millisecond)
			if late < 0 || late > lookEvery {
				t.Errorf("interval %d was seen %v after it was written", n, late)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		before := time.Now()
		if _, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Hour {
			t.Errorf("without a line, Next returned %v after %v", err, time.Since(before))
		}
		must(t, w.Event(result.Event{What: "late"}))
		must(t, w.Finish(result.Run{}))
		c, err := f.Next(t.Context())
		if err != nil || !c.Ended || !c.Run.Finished() || len(c.Events) != 1 {
			t.Errorf("the last change is %+v, error %v", c, err)
		}
		if _, err := f.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: error %v", err)
		}
	})
}

func TestFollowPulses(t *testing.T) {
	w := create(t, t.TempDir())
	must(t, w.Pulse(result.Pulse{RunID: "a"}))
	must(t, w.Pulse(result.Pulse{RunID: "b", Agents: []result.AgentPulse{{Index: 1, Acked: 7}}}))
	c, err := open(t, w.Dir()).Next(t.Context())
	must(t, err)
	if want := (&result.Pulse{RunID: "b", Agents: []result.AgentPulse{{Index: 1, Acked: 7}}}); !reflect.DeepEqual(c.Pulse, want) {
		t.Errorf("the pulse is %+v, want %+v", c.Pulse, want)
	}
}

// The age of the last line shows that a run was killed. A torn line does not count.
func TestKilledRun(t *testing.T) {
	w := create(t, t.TempDir())
	must(t, w.Interval(result.Interval{EndNs: 1}))
	path := filepath.Join(w.Dir(), result.IntervalsFile)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString(`{"start_ns":1,"en`)
	must(t, errors.Join(err, file.Close()))
	died := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, name := range []string{result.IntervalsFile, result.EventsFile, result.HistogramsFile} {
		must(t, os.Chtimes(filepath.Join(w.Dir(), name), died, died.Add(-time.Minute)))
	}
	must(t, os.Chtimes(path, died, died))

	f := open(t, w.Dir())
	c, err := f.Next(t.Context())
	must(t, err)
	if len(c.Intervals) != 1 || c.Ended || !c.WrittenAt.Equal(died) {
		t.Errorf("saw %d intervals, written at %v, ended %v; want 1, at %v, not ended", len(c.Intervals), c.WrittenAt,
			c.Ended, died)
	}
}

func TestFollowSaysWhatIsBroken(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(dir string) error
		want   string
	}{
		"a broken line": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, result.EventsFile), []byte("{}\n{\n"), 0o644)
		}, "events.ndjson:2"},
		"lines that are gone": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, result.IntervalsFile), 3)
		}, "intervals.ndjson has become shorter"},
		"a newer run.json": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, result.SummaryFile), []byte(`{"schema_version": 2}`), 0o644)
		}, "schema_version 2"},
		"a folder that is gone": {os.RemoveAll, "run.json"},
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t, t.TempDir())
			must(t, w.Interval(result.Interval{}))
			f := open(t, w.Dir())
			_, err := f.Next(t.Context())
			must(t, err)
			must(t, c.damage(w.Dir()))
			if _, err := f.Next(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	if _, err := Open(root, "."); !errors.Is(err, result.ErrNotARun) {
		t.Errorf("a folder without a run: error %v", err)
	}
	if _, err := Open(root, "../x"); err == nil {
		t.Error("a folder outside of the root was opened")
	}
}
