package observe

import (
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
)

// Watcher follows a run while it goes on. Its methods are called from one
// goroutine at a time and should be quick.
type Watcher interface {
	// Began tells that the run's directory exists.
	Began(dir string)
	Interval(result.Interval)
	// Event tells of what is written as an event and, as the kind progress, of how far
	// the preparation has come. One with data is told again and again until the next
	// without.
	Event(result.Event)
}

// Journal is what a run reports while it goes on: its events, intervals and
// histograms, written to the run's directory at once and told to whoever
// watches. It may be used from several goroutines.
type Journal struct {
	axis   *load.Axis
	writer *result.Writer
	watch  Watcher // may be nil

	mu         sync.Mutex
	axisSet    bool
	early      []result.Event // from before the axis was set
	seen       map[string]bool
	histograms *latency.LogWriter
	failure    error // the first failure to write
}

// NewJournal returns a journal that writes with writer and tells watch, which may be nil.
func NewJournal(axis *load.Axis, writer *result.Writer, watch Watcher) *Journal {
	j := &Journal{axis: axis, writer: writer, watch: watch, seen: make(map[string]bool)}
	if watch != nil {
		watch.Began(writer.Dir())
	}
	return j
}

// Event writes an event. One from before the time axis is set waits until it is.
func (j *Journal) Event(e result.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(e)
}

// Now writes an event of this moment.
func (j *Journal) Now(kind, what, reason string) {
	j.Stamp(result.Event{Kind: kind, What: what, Reason: reason})
}

// Stamp writes an event with this moment as its time.
func (j *Journal) Stamp(e result.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.AtNs = j.axis.Now()
	j.add(e)
}

// add is Event with the lock held.
func (j *Journal) add(e result.Event) {
	if !j.axisSet {
		j.early = append(j.early, e)
		return
	}
	j.write(e)
}

// MaxDistinct bounds the messages that Once keeps apart.
const MaxDistinct = 100

// Progress tells whoever watches how far the preparation has come; it is not written.
// With data it is one of many on the way from one thing to the next.
func (j *Journal) Progress(what string, data map[string]any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.watch != nil {
		j.watch.Event(result.Event{Kind: "progress", What: what, Data: data})
	}
}

// Once writes an event of which a run may see thousands, once for each message.
func (j *Journal) Once(kind, what string, err error) {
	j.mu.Lock()
	message := what + err.Error()
	first := !j.seen[message] && len(j.seen) < MaxDistinct
	if first {
		j.seen[message] = true
	}
	j.mu.Unlock()
	if first {
		j.Now(kind, what, err.Error())
	}
}

// SetAxis puts the measured window at a time from now, for a length, and writes
// what waited for that, with its times put on the axis.
func (j *Journal) SetAxis(from, length time.Duration) {
	j.put(func() (shift int64) { return j.axis.Set(from, length) })
}

// Adopt is SetAxis by the axis of another process.
func (j *Journal) Adopt(zero load.Zero) {
	j.put(func() int64 { return j.axis.Adopt(zero) })
}

// Placed reports whether the axis is set.
func (j *Journal) Placed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.axisSet
}

// put puts the axis by set, which returns what is to be added to times that were read before.
func (j *Journal) put(set func() (shift int64)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	shift := set()
	j.axisSet = true
	j.histograms = latency.NewLogWriter(j.writer.HistogramLog(), j.axis.Wall(0))
	for _, e := range j.early {
		e.AtNs += shift
		j.write(e)
	}
	j.early = nil
}

// write is Event with the lock held and the axis set.
func (j *Journal) write(e result.Event) {
	j.keep(j.writer.Event(e))
	if j.watch != nil {
		j.watch.Event(e)
	}
}

// Interval writes an interval with its histograms.
func (j *Journal) Interval(iv result.Interval, recorded latency.Interval) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(j.histograms.WriteInterval(time.Duration(iv.StartNs), time.Duration(iv.EndNs), recorded))
	j.keep(j.writer.Interval(iv))
	if j.watch != nil {
		j.watch.Interval(iv)
	}
}

// keep keeps the first failure to write. It makes the run invalid and does not
// end it.
func (j *Journal) keep(err error) {
	if j.failure == nil {
		j.failure = err
	}
}

// KeepFailure is keep for others.
func (j *Journal) KeepFailure(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(err)
}

// Failed is the first failure to write, if there was one.
func (j *Journal) Failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failure
}
