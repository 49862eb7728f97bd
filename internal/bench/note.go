package bench

import "kafka-bench/internal/result"

// note writes an event and tells the watcher. An event from before the time axis
// is set waits until it is.
func (r *run) note(e result.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.axisSet {
		r.early = append(r.early, e)
		return
	}
	r.write(e)
}

// write is note with the lock held and the axis set.
func (r *run) write(e result.Event) {
	r.keepFailure(r.writer.Event(e))
	if r.cfg.Watch != nil {
		r.cfg.Watch.Event(e)
	}
}

// noteEarly writes what waited for the axis; shift puts its times on it.
func (r *run) noteEarly(shift int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.axisSet = true
	for _, e := range r.early {
		e.AtNs += shift
		r.write(e)
	}
	r.early = nil
}

// noteOnce writes an event of which a run may see thousands, once for each
// message.
func (r *run) noteOnce(kind, what string, err error) {
	r.mu.Lock()
	first := !r.seen[what+err.Error()] && len(r.seen) < maxDistinctNotes
	r.seen[what+err.Error()] = true
	r.mu.Unlock()
	if first {
		r.note(result.Event{AtNs: r.axis.Now(), Kind: kind, What: what, Reason: err.Error()})
	}
}

// maxDistinctNotes bounds the messages that noteOnce keeps.
const maxDistinctNotes = 100

// failed keeps the first failure to write the result, which makes the run
// invalid but does not end it.
func (r *run) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keepFailure(err)
}

// keepFailure is failed with the lock held.
func (r *run) keepFailure(err error) {
	if r.writing == nil {
		r.writing = err
	}
}
