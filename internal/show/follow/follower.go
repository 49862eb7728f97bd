// Package follow reads a run's folder while the run writes it: new intervals, events and
// histograms, and run.json at the beginning and at the end.
//
// A run appends whole lines, and replaces run.json atomically. A Follower checks the files' sizes
// ten times a second, and reads only complete lines. For a finished run, it returns everything at
// once.
//
// Files to know: follower.go, tail.go.
package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
)

const lookEvery = 100 * time.Millisecond

// Change is the content that was written since the last change.
type Change struct {
	// Run is run.json if it is new, else nil. The first change has the head, with the run's
	// settings; after the run has ended, Run is complete.
	Run       *result.Run
	Intervals []result.Interval
	Events    []result.Event
	// Pulse is the agents' last pulse; nil if there is no new one.
	Pulse *result.Pulse
	// Histograms are those of the intervals, of all metrics, for warm-up and measured window; nil
	// unless the Follower asks for them.
	Histograms []latency.LogEntry
	// WrittenAt is when the run last wrote a line, by the file system's clock, or its start. A run
	// writes at the end of each interval, so the age of WrittenAt shows whether the run was killed.
	WrittenAt time.Time
	// Ended reports whether the run has finished and this is the last change.
	Ended bool
}

// Follower follows one run. It belongs to one goroutine.
type Follower struct {
	// Histograms asks for histograms, which take longest to read. Set it before the first Next.
	Histograms bool

	dir   string
	root  *os.Root
	tails []*tail
	log   latency.LogLines

	summary  os.FileInfo // of the run.json that was read last
	finished bool
	next     Change
	ended    bool
}

// Open opens the folder dir below root. The error wraps result.ErrNotARun if it has no run.json.
func Open(root *os.Root, dir string) (*Follower, error) {
	folder, err := root.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot follow a run: %w", err)
	}
	if _, err := folder.Lstat(result.SummaryFile); err != nil {
		folder.Close()
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: %w: it has no %s", dir, result.ErrNotARun, result.SummaryFile)
		}
		return nil, err
	}
	f := &Follower{dir: dir, root: folder}
	// A run writes an interval's line after the interval's other data. So intervals are read first:
	// then the other files have these data.
	f.tails = []*tail{
		{name: result.IntervalsFile, atOnce: linesAtOnce, take: f.takeInterval},
		{name: result.EventsFile, atOnce: linesAtOnce, take: f.takeEvent},
		{name: result.PulsesFile, atOnce: linesAtOnce, take: f.takePulse},
		{name: result.HistogramsFile, atOnce: histogramsAtOnce, take: f.takeHistogram},
	}
	return f, nil
}

// Bytes of a file that are read into one change: they bound the memory for a long finished run. A
// histogram takes hundreds of times the bytes of its line.
const (
	linesAtOnce      = 256 << 10
	histogramsAtOnce = 16 << 10
)

// Close closes the folder's files.
func (f *Follower) Close() error {
	err := f.root.Close()
	for _, t := range f.tails {
		err = errors.Join(err, t.close())
	}
	return err
}

// Next waits until something was written and returns it; the first call returns at once. After the
// change with Ended it returns io.EOF. It returns ctx's error when ctx ends, and may then be called
// again without loss. Other errors name the file.
func (f *Follower) Next(ctx context.Context) (Change, error) {
	if f.ended {
		return Change{}, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return Change{}, err
	}
	var looks *time.Ticker
	for {
		changed, err := f.look()
		if err != nil {
			return Change{}, fmt.Errorf("cannot follow the run in %s: %w", f.dir, err)
		}
		if changed {
			change := f.next
			f.next = Change{WrittenAt: change.WrittenAt}
			return change, nil
		}
		if looks == nil {
			looks = time.NewTicker(lookEvery)
			defer looks.Stop()
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			return Change{}, ctx.Err()
		}
	}
}

// look adds new content to the next change. It reads run.json first: when the run writes the final
// one, all lines are written.
func (f *Follower) look() (changed bool, err error) {
	if changed, err = f.readSummary(); err != nil {
		return false, err
	}
	all := true
	for _, t := range f.tails {
		if t.name == result.HistogramsFile && !f.Histograms {
			continue
		}
		grown, more, err := t.read(f.root)
		if err != nil {
			return false, err
		}
		changed, all = changed || grown, all && !more
		if t.writtenAt.After(f.next.WrittenAt) {
			f.next.WrittenAt = t.writtenAt
		}
	}
	f.ended = f.finished && all
	f.next.Ended = f.ended
	return changed || f.ended, nil
}

func (f *Follower) readSummary() (changed bool, err error) {
	info, err := f.root.Lstat(result.SummaryFile)
	if err != nil {
		return false, err
	}
	if was := f.summary; was != nil && os.SameFile(info, was) && info.Size() == was.Size() &&
		info.ModTime().Equal(was.ModTime()) {
		return false, nil
	}
	run, err := result.ReadSummary(f.root.FS(), ".")
	if err != nil {
		return false, err
	}
	f.summary, f.finished, f.next.Run = info, run.Finished(), run
	return true, nil
}

func (f *Follower) takeInterval(line []byte) error {
	var i result.Interval
	err := result.DecodeInterval(line, &i)
	f.next.Intervals = append(f.next.Intervals, i)
	return err
}

func (f *Follower) takeEvent(line []byte) error {
	var e result.Event
	err := result.DecodeEvent(line, &e)
	f.next.Events = append(f.next.Events, e)
	return err
}

func (f *Follower) takePulse(line []byte) error {
	f.next.Pulse = new(result.Pulse)
	return result.DecodePulse(line, f.next.Pulse)
}

func (f *Follower) takeHistogram(line []byte) error {
	entry, some, err := f.log.Next(bytes.TrimSuffix(line, []byte("\n")))
	if some {
		f.next.Histograms = append(f.next.Histograms, entry)
	}
	return err
}
