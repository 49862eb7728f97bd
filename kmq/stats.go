package kmq

import (
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Stats are the counters of a queue or a tracker since it was opened, and its state. They count records in this process.
type Stats struct {
	Delivered    int64 // every attempt
	Redelivered  int64 // with an attempt above 1
	Acked        int64 // by the application, as are Nacked and Rejected
	Nacked       int64
	Rejected     int64
	Expired      int64 // locks that expired
	Lost         int64 // in flight when another member took over their partition or their lock
	Moved        int64 // to the retry topic
	DeadLettered int64 // copied to the dead-letter topic
	Missing      int64 // no longer in the log when they were to be delivered
	Retried      int64 // failed attempts that a tracker repeats, or refused copies
	Unreadable   int64 // markers that a tracker could not read

	InFlight      int       // delivered, or ready to be delivered, and not settled
	Waiting       int       // for another attempt, or behind such a record in their line; not in flight
	CommitBehind  int64     // beyond the committed offsets; always 0 with Share
	OldestUnacked time.Time // the timestamp of the oldest record in flight; zero: none
	Paused        []int32   // the partitions that are not fetched because a limit is reached
	Blocked       []string  // why OffsetMap does not fetch records that are there; empty: nothing
	// RetentionAlarm names the records that retention is about to delete before they are settled; empty: none. It is
	// updated every 30 s; Share has none.
	RetentionAlarm string

	Lateness Histogram // from the deadlines of records until this process redelivered them
	Handlers Histogram // times of the calls of Run's handlers
	Failures Failures  // of Run's handlers
}

// Failures are the attempts of Run's handlers that have failed. One that asks for the record again ([After]), or that the
// end of Run has interrupted, is none.
type Failures struct {
	Errors     int64
	Panics     int64
	Timeouts   int64 // took longer than RunConfig.Timeout
	Rejections int64 // returned a Reject
}

// Histogram counts durations by the upper bounds in Bounds. The last count is above all bounds.
type Histogram struct {
	Counts [15]int64
	Sum    time.Duration
}

// Bounds returns the upper bounds of Counts, from 1 ms to 30 s; the last count has none.
func (Histogram) Bounds() []time.Duration { return engine.Bounds[:] }

func statsOf(c engine.Counts) Stats {
	return Stats{
		Delivered: c.Delivered, Redelivered: c.Redelivered, Acked: c.Acked, Nacked: c.Nacked, Rejected: c.Rejected,
		Expired: c.Expired, Lost: c.Lost, Moved: c.Tailed, DeadLettered: c.DeadLettered, Missing: c.Missing,
		Retried: c.Retried, Unreadable: c.Unreadable,
		InFlight: c.InFlight, Waiting: c.Waiting, Blocked: c.Blocked, CommitBehind: c.CommitBehind, OldestUnacked: c.OldestUnacked, Paused: c.Paused,
		RetentionAlarm: c.RetentionAlarm, Lateness: Histogram(c.Lateness),
	}
}

// calledHandlers counts the calls of Run's handlers.
type calledHandlers struct {
	counts [len(engine.Bounds) + 1]atomic.Int64
	sum    atomic.Int64 // ns

	errors, panics, timeouts, rejections atomic.Int64
}

func (h *calledHandlers) took(d time.Duration) {
	h.counts[engine.Bucket(d)].Add(1)
	h.sum.Add(int64(d))
}

func (h *calledHandlers) failed(timeout bool) {
	if timeout {
		h.timeouts.Add(1)
	} else {
		h.errors.Add(1)
	}
}

func (h *calledHandlers) tell(s *Stats) {
	for i := range h.counts {
		s.Handlers.Counts[i] = h.counts[i].Load()
	}
	s.Handlers.Sum = time.Duration(h.sum.Load())
	s.Failures = Failures{
		Errors: h.errors.Load(), Panics: h.panics.Load(), Timeouts: h.timeouts.Load(), Rejections: h.rejections.Load(),
	}
}
