package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Recorded is a run as its directory tells it.
type Recorded struct {
	Dir       string
	Run       Run
	Intervals []Interval
	Events    []Event
	Curves    *Curves // nil without the file
	// Files are the names of a run's files that Dir has, in the order of RunFiles.
	Files []string
	// Notes say what was wrong with the files and could be read over: the
	// last line of a run that was killed, a file that somebody removed.
	Notes []string
}

// ErrNotARun is what Read wraps for a directory without a run.json.
var ErrNotARun = errors.New("not a run's folder")

// Read reads a run's directory. Fields that this version does not know are
// passed over, a schema_version above SchemaVersion is refused. Errors say
// which file is broken, and where. Numbers within Scenario and Event.Data are
// read as json.Number, so that none loses a digit.
func Read(dir string) (*Recorded, error) {
	run, err := readSummary(dir)
	if err != nil {
		return nil, err
	}
	r := &Recorded{Dir: dir, Run: *run, Files: filesIn(dir)}
	var note string
	if r.Intervals, note, err = readFile[Interval](dir, IntervalsFile); err != nil {
		return nil, err
	}
	r.note(note)
	if r.Events, note, err = readFile[Event](dir, EventsFile); err != nil {
		return nil, err
	}
	r.note(note)
	if r.Curves, err = readCurves(dir); err != nil {
		return nil, err
	}
	return r, nil
}

func filesIn(dir string) []string {
	return slices.DeleteFunc(RunFiles(), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}

func (r *Recorded) note(note string) {
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
}

// Listed is one entry of an output folder.
type Listed struct {
	Dir string
	Run *Run  // nil when Err is not
	Err error // why this run cannot be read
}

// List reads the summaries of the runs in outDir, the oldest first. What is in
// there beside runs is passed over; a run that cannot be read is listed with
// its error.
func List(outDir string) ([]Listed, error) {
	entries, err := os.ReadDir(outDir) // sorted by name, and names begin with the time
	if err != nil {
		return nil, fmt.Errorf("cannot list runs: %w", err)
	}
	var runs []Listed
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(outDir, e.Name())
		run, err := readSummary(dir)
		if errors.Is(err, ErrNotARun) {
			continue
		}
		runs = append(runs, Listed{Dir: dir, Run: run, Err: err})
	}
	return runs, nil
}

func readSummary(dir string) (*Run, error) {
	return readDocument[Run](dir, SummaryFile, ErrNotARun)
}

// readDocument reads a file that is one document with a schema_version. A folder
// without the file is the error missing.
func readDocument[T any](dir, name string, missing error) (*T, error) {
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, missing, name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a result: %w", err)
	}
	// The version is read first: what a newer one means by its other fields
	// is not known here.
	var version struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, errorLine(b, err), err)
	}
	switch v := version.SchemaVersion; {
	case v > SchemaVersion:
		return nil, fmt.Errorf("%s has schema_version %d, and this kafka-bench reads up to %d: read it with the version that wrote it, or a newer one", path, v, SchemaVersion)
	case v < 1:
		return nil, fmt.Errorf("%s has no schema_version: it was not written by kafka-bench", path)
	}
	document := new(T)
	if err := decode(b, document); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, errorLine(b, err), err)
	}
	return document, nil
}

// readFile reads a file of lines; one that is missing is worth a note.
func readFile[T any](dir, name string) (lines []T, note string, err error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, name + " is missing", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("cannot read a run: %w", err)
	}
	defer f.Close()
	lines, torn, err := readLines[T](f)
	if err != nil {
		return nil, "", fmt.Errorf("%s:%w", f.Name(), err)
	}
	if torn > 0 {
		note = fmt.Sprintf("line %d of %s is cut short, as a crash leaves it; it was passed over", torn, name)
	}
	return lines, note, nil
}

// readLines reads a value from each line. A last line without a newline that
// does not parse was being written when the tool was killed: its number is
// returned as torn, and it is no error. Errors begin with the line's number.
func readLines[T any](r io.Reader) (values []T, torn int, err error) {
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, readErr := lines.ReadBytes('\n')
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return nil, 0, fmt.Errorf("%d: %w", number, readErr)
		}
		if last := readErr != nil; last && len(line) == 0 {
			return values, 0, nil
		}
		var v T
		err := decode(line, &v)
		switch {
		case err == nil:
			values = append(values, v)
		case readErr != nil:
			return values, number, nil
		default:
			return nil, 0, fmt.Errorf("%d: %w", number, err)
		}
	}
}

// decode is json.Unmarshal that keeps numbers of unknown type to the digit.
func decode(b []byte, v any) error {
	if _, plain := v.(*Interval); plain { // it has no number of unknown type, and there are many
		return json.Unmarshal(b, v)
	}
	if !json.Valid(b) {
		return json.Unmarshal(b, v) // its error has the offset
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// errorLine is the line of b that a JSON error speaks of, from 1.
func errorLine(b []byte, err error) int {
	var offset int64
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mismatch):
		offset = mismatch.Offset
	}
	return 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n"))
}
