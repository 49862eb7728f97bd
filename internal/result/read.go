package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

// Recorded is a run that was read from its directory.
type Recorded struct {
	Dir       string
	Run       Run
	Intervals []Interval
	Events    []Event
	Agents    []AgentInterval
	Curves    *Curves // nil without the file
	// Expected are expectations of the reader, besides those of the run.
	Expected []string
	// Files are the files of RunFiles that Dir has, in that order.
	Files []string
	// Notes report problems that did not prevent reading, such as an incomplete last line or a
	// missing file.
	Notes []string
}

// AllExpected returns the expectations of the run and of the reader, each once.
func (r *Recorded) AllExpected() []string {
	all := slices.Clone(r.Run.Run.Expected)
	for _, text := range r.Expected {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// ErrNotARun reports a directory without run.json.
var ErrNotARun = errors.New("not a run's folder")

// Read reads a run's directory. It ignores unknown fields and refuses a schema_version above
// SchemaVersion. Errors name the file and the line. Numbers in Scenario and Event.Data are
// json.Number and lose no digit.
func Read(dir string) (*Recorded, error) { return ReadFS(osFiles{}, dir) }

// ReadFS is Read for a file system.
func ReadFS(fsys fs.FS, dir string) (*Recorded, error) {
	run, err := ReadSummary(fsys, dir)
	if err != nil {
		return nil, err
	}
	r := &Recorded{Dir: dir, Run: *run, Files: filesIn(fsys, dir)}
	var note string
	if r.Intervals, note, err = readFile(fsys, dir, IntervalsFile, DecodeInterval); err != nil {
		return nil, err
	}
	r.Run.recompute(r.Intervals)
	r.note(note)
	if r.Events, note, err = readFile(fsys, dir, EventsFile, DecodeEvent); err != nil {
		return nil, err
	}
	r.note(note)
	if r.Agents, note, err = readAgents(fsys, dir, r.Files); err != nil {
		return nil, err
	}
	r.note(note)
	if r.Curves, err = readCurves(fsys, dir); err != nil {
		return nil, err
	}
	return r, nil
}

func filesIn(fsys fs.FS, dir string) []string {
	return slices.DeleteFunc(RunFiles(), func(name string) bool {
		_, err := fs.Lstat(fsys, path.Join(dir, name))
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
	Run *Run  // nil if Err is set
	Err error // why this run cannot be read
}

// List reads the summaries of the runs in outDir, the oldest first, and skips other folders. A run
// that cannot be read has its error.
func List(outDir string) ([]Listed, error) { return ListFS(osFiles{}, outDir) }

// ListFS is List for a file system.
func ListFS(fsys fs.FS, outDir string) ([]Listed, error) {
	dirs, err := Folders(fsys, outDir)
	if err != nil {
		return nil, fmt.Errorf("cannot list runs: %w", err)
	}
	var runs []Listed
	for _, dir := range dirs {
		run, err := ReadSummary(fsys, dir)
		if errors.Is(err, ErrNotARun) {
			continue
		}
		runs = append(runs, Listed{Dir: dir, Run: run, Err: err})
	}
	return runs, nil
}

// Folders returns the paths of the folders in an output folder, sorted by name and so by time.
func Folders(fsys fs.FS, outDir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, outDir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, path.Join(outDir, e.Name()))
		}
	}
	return dirs, nil
}

// ReadSummary reads only a run's run.json. Without the file the error wraps ErrNotARun.
func ReadSummary(fsys fs.FS, dir string) (*Run, error) {
	run := new(Run)
	if err := readDocument(fsys, dir, SummaryFile, ErrNotARun, run); err != nil {
		return nil, err
	}
	if err := run.checkWords(); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(dir, SummaryFile), err)
	}
	run.Verdict.Status = statusOf(run.Verdict.Status, run.Run.Imported)
	run.recompute(nil)
	return run, nil
}

type document interface{ version() int }

func (r *Run) version() int         { return r.SchemaVersion }
func (c *Curves) version() int      { return c.SchemaVersion }
func (c *Campaign) version() int    { return c.SchemaVersion }
func (d *rowDocument) version() int { return d.SchemaVersion }

// The document to read into is empty. Without the file the error wraps missing.
func readDocument(fsys fs.FS, dir, name string, missing error, to document) error {
	file := path.Join(dir, name)
	if err := checkFolder(dir); err != nil {
		return err
	}
	b, err := readRegular(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: it has no %s", dir, missing, name)
	}
	if err != nil {
		return fmt.Errorf("cannot read a result: %w", err)
	}
	b = textfile.JSON(b)
	err = decode(b, to)
	v := to.version()
	if err != nil {
		// Unknown fields of a newer version may be the cause.
		var head struct {
			SchemaVersion int `json:"schema_version"`
		}
		if json.Unmarshal(b, &head) != nil || head.SchemaVersion <= SchemaVersion {
			return fmt.Errorf("%s:%d: %w", file, errorLine(b, err), err)
		}
		v = head.SchemaVersion
	}
	switch {
	case v > SchemaVersion:
		return fmt.Errorf("%s has schema_version %d, and this kafka-bench reads up to %d: read it with the version that wrote it, or a newer one", file, v, SchemaVersion)
	case v < 1:
		return fmt.Errorf("%s has no schema_version: it was not written by kafka-bench", file)
	}
	return nil
}

func readFile[T any](fsys fs.FS, dir, name string, decode func([]byte, *T) error) (lines []T, note string, err error) {
	file := path.Join(dir, name)
	f, err := Open(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, name + " is missing", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("cannot read a run: %w", err)
	}
	defer f.Close()
	lines, torn, err := readLines(f, decode)
	if err != nil {
		return nil, "", fmt.Errorf("%s:%w", file, err)
	}
	if torn > 0 {
		note = fmt.Sprintf("line %d of %s is cut short, as a crash leaves it; it was passed over", torn, name)
	}
	return lines, note, nil
}

// A longer line needs an allocation.
const lineBuffer = 64 << 10

// An incomplete last line, as after a crash, is not an error; torn is its number, or 0. Errors
// begin with the line's number.
func readLines[T any](r io.Reader, decode func([]byte, *T) error) (values []T, torn int, err error) {
	lines := bufio.NewReaderSize(r, lineBuffer)
	read := int64(0)
	for number := 1; ; number++ {
		line, readErr := readLine(lines)
		read += int64(len(line))
		if err := checkLine(line, number, read); err != nil {
			return nil, 0, fmt.Errorf("%d: %w", number, err)
		}
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return nil, 0, fmt.Errorf("%d: %w", number, readErr)
		}
		if readErr != nil && len(line) == 0 {
			return values, 0, nil
		}
		last := len(values)
		values = append(values, *new(T))
		switch err := decode(line, &values[last]); {
		case err == nil:
		case readErr != nil:
			return values[:last], number, nil
		default:
			return nil, 0, fmt.Errorf("%d: %w", number, err)
		}
	}
}

// The result is valid until the next call. It ends soon after maxLineBytes.
func readLine(lines *bufio.Reader) ([]byte, error) {
	line, err := lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) && len(whole) <= maxLineBytes {
		line, err = lines.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}

// DecodeInterval reads a line of intervals.ndjson.
func DecodeInterval(line []byte, to *Interval) error { return json.Unmarshal(textfile.JSON(line), to) }

// DecodePulse reads a line of pulses.ndjson.
func DecodePulse(line []byte, to *Pulse) error { return json.Unmarshal(textfile.JSON(line), to) }

// DecodeEvent reads a line of events.ndjson; see Read.
func DecodeEvent(line []byte, to *Event) error { return decode(textfile.JSON(line), to) }

// decode keeps all digits of numbers of unknown type.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err := d.Decode(v)
	var mismatch *json.UnmarshalTypeError
	if whole := err == nil || errors.As(err, &mismatch); !whole || !onlySpace(b[d.InputOffset():]) {
		return json.Unmarshal(b, v) // its error has the offset
	}
	return err
}

func onlySpace(b []byte) bool { return len(bytes.Trim(b, " \t\r\n")) == 0 }

// errorLine returns the number of the line in b, from 1, that has the JSON error.
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
