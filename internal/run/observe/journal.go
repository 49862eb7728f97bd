package observe

import (
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
)

// Watcher follows a run. The run calls its methods from one goroutine at a time; they should return
// quickly.
type Watcher interface {
	// Began reports the run's directory, which exists now.
	Began(dir string)
	Interval(result.Interval)
	// Event reports an event, or, with the kind "progress", a step of the preparation. A step with
	// data repeats until the next step without data.
	Event(result.Event)
}

// Journal writes the events, intervals and histograms of a run to its directory and passes them to
// a watcher. It may be used from several goroutines.
type Journal struct {
	axis   *load.Axis
	writer *result.Writer
	watch  Watcher // may be nil

	mu         sync.Mutex
	axisSet    bool
	early      []result.Event
	seen       map[string]bool
	histograms *latency.LogWriter
	failure    error
}

// NewJournal returns a journal that writes with writer. watch may be nil.
func NewJournal(axis *load.Axis, writer *result.Writer, watch Watcher) *Journal {
	j := &Journal{axis: axis, writer: writer, watch: watch, seen: make(map[string]bool)}
	if watch != nil {
		watch.Began(writer.Dir())
	}
	return j
}

// Event writes an event. Before the time axis is set, it keeps the event until then.
func (j *Journal) Event(e result.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(e)
}

// Now writes an event of this moment.
func (j *Journal) Now(kind, what, reason string) {
	j.Stamp(result.Event{Kind: kind, What: what, Reason: reason})
}

// Stamp writes an event, and sets its time to this moment.
func (j *Journal) Stamp(e result.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.AtNs = j.axis.Now()
	j.add(e)
}

// add requires the lock.
func (j *Journal) add(e result.Event) {
	if !j.axisSet {
		j.early = append(j.early, e)
		return
	}
	j.write(e)
}

// MaxDistinct is how many distinct messages Once writes at most.
const MaxDistinct = 100

// Progress passes a step of the preparation to the watcher and writes nothing. With data it is one
// of many updates.
func (j *Journal) Progress(what string, data map[string]any) {
	j.Tell(result.Event{Kind: "progress", What: what, Data: data})
}

// Tell passes an event to the watcher at once, and writes nothing.
func (j *Journal) Tell(e result.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.watch != nil {
		j.watch.Event(shown(e))
	}
}

// Once writes an event that may occur thousands of times, once for each distinct message.
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

// SetAxis sets the start of the measured window, counted from now, and its length. It writes the
// events that waited for the axis.
func (j *Journal) SetAxis(from, length time.Duration) {
	j.put(func() (shift int64) { return j.axis.Set(from, length) })
}

// Adopt is SetAxis with the axis of another process.
func (j *Journal) Adopt(zero load.Zero) {
	j.put(func() int64 { return j.axis.Adopt(zero) })
}

// Placed reports whether the axis is set.
func (j *Journal) Placed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.axisSet
}

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

// write requires the lock and the axis.
func (j *Journal) write(e result.Event) {
	e = shown(e)
	j.keep(j.writer.Event(e))
	if j.watch != nil {
		j.watch.Event(e)
	}
}

// shown replaces control characters, which a broker's message may have. The writer does so for the texts of Data.
func shown(e result.Event) result.Event {
	e.What, e.Reason = textfile.Line(e.What), textfile.Line(e.Reason)
	return e
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

// A failed write makes the run invalid but does not end it.
func (j *Journal) keep(err error) {
	if j.failure == nil {
		j.failure = err
	}
}

// KeepFailure makes the run invalid; the first failure is kept.
func (j *Journal) KeepFailure(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(err)
}

// Failed returns the first failed write; nil if there is none.
func (j *Journal) Failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failure
}
