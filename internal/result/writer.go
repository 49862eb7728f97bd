package result

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A killed run must be invalid.
const unfinished = "the run did not finish"

const unjudged = "the run has no verdict"

// Writer writes a run's directory during the run. From Create the directory can be read, with an
// invalid verdict until Finish. Each interval and event has reached the operating system when its
// call returns. Interval, Event and HistogramLog may be used from any goroutine, the other methods
// only from one. An error names the file, and the Writer can still be used.
type Writer struct {
	dir, id, name string
	startedAt     time.Time
	madeOut       bool // outDir did not exist before

	intervals, events, histograms *appender
	agents, pulses                *appender // nil before the first line
}

// Create creates <outDir>/<UTC time>-<name>-<short id>/ for a run that starts at startedAt. The
// name may be any text; the folder's name has only characters that file systems accept.
func Create(outDir, name string, startedAt time.Time) (*Writer, error) {
	return CreatePart(outDir, name, "", startedAt)
}

// CreatePart is Create for a part of the run with the ID runID; "" is no part. The folder's name
// does not end with that ID, because the ID comes from another machine.
func CreatePart(outDir, name, runID string, startedAt time.Time) (*Writer, error) {
	_, missing := os.Stat(outDir)
	dir, id, err := makeFolder(outDir, name, startedAt)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, id: cmp.Or(runID, id), name: name, startedAt: startedAt.UTC(), madeOut: missing != nil}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return w, nil
}

func (w *Writer) open() error {
	for _, f := range []struct {
		name string
		to   **appender
	}{
		{IntervalsFile, &w.intervals},
		{EventsFile, &w.events},
		{HistogramsFile, &w.histograms},
	} {
		a, err := newAppender(w.dir, f.name)
		if err != nil {
			return err
		}
		*f.to = a
	}
	return w.Describe(Info{}, Settings{})
}

// Dir returns the run's directory.
func (w *Writer) Dir() string { return w.dir }

// ID returns the run's short ID: six letters and digits. Except for a part, the directory's name
// ends with it.
func (w *Writer) ID() string { return w.id }

// Scenario writes scenario.yaml, the resolved scenario.
func (w *Writer) Scenario(yaml []byte) error {
	return replaceFile(w.dir, ScenarioFile, yaml)
}

// Describe writes what is known before the run ends, in case of a crash; the verdict stays invalid.
func (w *Writer) Describe(info Info, scenario Settings) error {
	info.FinishedAt = time.Time{}
	return w.summary(Run{
		Run:      info,
		Scenario: scenario,
		Verdict:  Verdict{Status: Invalid, Reasons: []string{unfinished}},
	})
}

// Interval appends a line to intervals.ndjson.
func (w *Writer) Interval(i Interval) error {
	if i.Time == nil {
		i.Time = map[string]IntervalTime{}
	}
	return w.intervals.line(i)
}

// Event appends a line to events.ndjson.
func (w *Writer) Event(e Event) error { return w.events.line(e) }

// HistogramLog appends to histograms.hlog. Each Write should have whole lines.
func (w *Writer) HistogramLog() io.Writer { return w.histograms }

// Finish syncs and closes the files, and atomically replaces run.json with r. It sets
// SchemaVersion, the ID, and Name, StartedAt and FinishedAt if they are zero. After an error,
// Finish may be called again.
func (w *Writer) Finish(r Run) error {
	if r.Run.FinishedAt.IsZero() {
		r.Run.FinishedAt = time.Now()
	}
	r.Run.FinishedAt = r.Run.FinishedAt.UTC()
	if r.Verdict.Status == "" {
		r.Verdict.Status = Invalid
		r.Verdict.Reasons = append(r.Verdict.Reasons, unjudged)
	}
	return errors.Join(w.close(), w.summary(r))
}

// Discard removes the directory of a run that failed before it began, and outDir if Create created
// it and it is empty.
func (w *Writer) Discard() error {
	if err := errors.Join(w.close(), os.RemoveAll(w.dir)); err != nil {
		return fmt.Errorf("cannot remove the run's folder: %w", err)
	}
	if w.madeOut {
		_ = os.Remove(filepath.Dir(w.dir)) // fails if it is not empty
	}
	return nil
}

// CheckWritable reports whether Create could write in outDir. It writes nothing.
func CheckWritable(outDir string) error {
	there := filepath.Clean(outDir)
	info, err := os.Stat(there)
	for errors.Is(err, fs.ErrNotExist) && there != filepath.Dir(there) {
		there = filepath.Dir(there)
		info, err = os.Stat(there)
	}
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: there, Err: syscall.ENOTDIR}
	}
	if err == nil {
		err = mayWrite(there)
	}
	if err != nil {
		return fmt.Errorf("cannot make the output folder: %w; choose a folder that can be written", err)
	}
	return nil
}

func (w *Writer) close() error {
	var err error
	for _, a := range []*appender{w.intervals, w.events, w.histograms, w.agents, w.pulses} {
		if a != nil {
			err = errors.Join(err, a.close())
		}
	}
	return err
}

// summary writes empty lists instead of null.
func (w *Writer) summary(r Run) error {
	r.SchemaVersion = SchemaVersion
	r.Run.ID = w.id
	if r.Run.Name == "" {
		r.Run.Name = w.name
	}
	if r.Run.StartedAt.IsZero() {
		r.Run.StartedAt = w.startedAt
	}
	r.Run.StartedAt = r.Run.StartedAt.UTC()
	if r.Run.Phases == nil {
		r.Run.Phases = []Phase{}
	}
	if r.Verdict.Reasons == nil {
		r.Verdict.Reasons = []string{}
	}
	if r.Verdict.Warnings == nil {
		r.Verdict.Warnings = []string{}
	}
	if r.Time == nil {
		r.Time = map[string]Time{}
	}
	b, err := encode(r, "  ")
	if err != nil {
		return fileError(SummaryFile, err)
	}
	return replaceFile(w.dir, SummaryFile, b)
}

func replaceFile(dir, name string, content []byte) error {
	if err := replace(dir, name, content); err != nil {
		return fileError(name, err)
	}
	return nil
}

// replace is atomic, also for readers and in a crash.
func replace(dir, name string, content []byte) error {
	temporary := filepath.Join(dir, "."+name+".new")
	if err := writeSynced(temporary, content); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}
