package bench

import (
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
)

// journal is what a run tells while it goes on: its events, intervals and
// histograms, written to the run's directory at once and told to whoever
// watches. It may be used from several goroutines.
type journal struct {
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

func newJournal(axis *load.Axis, writer *result.Writer, watch Watcher) *journal {
	j := &journal{axis: axis, writer: writer, watch: watch, seen: make(map[string]bool)}
	if watch != nil {
		watch.Began(writer.Dir())
	}
	return j
}

// event writes an event. One from before the time axis is set waits until it is.
func (j *journal) event(e result.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(e)
}

// now writes an event of this moment.
func (j *journal) now(kind, what, reason string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(result.Event{AtNs: j.axis.Now(), Kind: kind, What: what, Reason: reason})
}

// add is event with the lock held.
func (j *journal) add(e result.Event) {
	if !j.axisSet {
		j.early = append(j.early, e)
		return
	}
	j.write(e)
}

// maxDistinct bounds the messages that once keeps apart.
const maxDistinct = 100

// progress tells whoever watches how far the preparation has come; it is not written.
// With data it is one of many on the way from one thing to the next.
func (j *journal) progress(what string, data map[string]any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.watch != nil {
		j.watch.Event(result.Event{Kind: "progress", What: what, Data: data})
	}
}

// once writes an event of which a run may see thousands, once for each message.
func (j *journal) once(kind, what string, err error) {
	j.mu.Lock()
	message := what + err.Error()
	first := !j.seen[message] && len(j.seen) < maxDistinct
	if first {
		j.seen[message] = true
	}
	j.mu.Unlock()
	if first {
		j.now(kind, what, err.Error())
	}
}

// setAxis puts the measured window at a time from now, for a length, and writes
// what waited for that, with its times put on the axis.
func (j *journal) setAxis(from, length time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	shift := j.axis.Set(from, length)
	j.axisSet = true
	j.histograms = latency.NewLogWriter(j.writer.HistogramLog(), j.axis.Wall(0))
	for _, e := range j.early {
		e.AtNs += shift
		j.write(e)
	}
	j.early = nil
}

// write is event with the lock held and the axis set.
func (j *journal) write(e result.Event) {
	j.keep(j.writer.Event(e))
	if j.watch != nil {
		j.watch.Event(e)
	}
}

// interval writes an interval with its histograms.
func (j *journal) interval(iv result.Interval, recorded latency.Interval) {
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
func (j *journal) keep(err error) {
	if j.failure == nil {
		j.failure = err
	}
}

// keepFailure is keep for others.
func (j *journal) keepFailure(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(err)
}

// failed is the first failure to write, if there was one.
func (j *journal) failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failure
}
