package offsetmap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/reread"
)

// Records that wait for another attempt, or behind such a record in their line, do not count against MaxInFlight. Beyond
// RetryBytes the engine keeps only where they are, and reads them again.

// mostWaiting is how many records may wait so; more count.
const mostWaiting = 100_000

// wait keeps a record until the deadline of its lease. The lease has the number of the ended attempt.
func (e *Engine) wait(s *slot) {
	s.phase, s.run.of.changed = waiting, true
	e.shelve(s)
	e.relieve(s.run.of)
}

// delay keeps a record until its lease is due.
func (e *Engine) delay(s *slot) {
	_ = e.set.Extend(s.lease, time.Now().Add(time.Until(s.lease.Due()))) // fails if it was lost meanwhile
	e.wait(s)
}

func (e *Engine) shelve(s *slot) {
	if e.set.Excused() >= mostWaiting || s.marks&(kept|dropped) != 0 {
		return
	}
	e.set.Excuse(s.lease)
	n := s.lease.Bytes()
	if e.waitingBytes+n > e.cfg.RetryBytes {
		s.lease.Drop()
		s.marks |= dropped
		return
	}
	s.marks |= kept
	e.waitingBytes += n
}

// unshelve counts a record again. It returns false if the record must be read again.
func (e *Engine) unshelve(s *slot) bool {
	e.set.Count(s.lease)
	e.unkeep(s)
	return s.marks&dropped == 0
}

// unkeep no longer counts the bytes of a record.
func (e *Engine) unkeep(s *slot) {
	if s.marks&kept != 0 {
		e.waitingBytes -= s.lease.Bytes()
		s.marks &^= kept
	}
}

// Park implements [engine.Parker].
func (e *Engine) Park(leases []*lease.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range leases {
		if l.State() == lease.Open {
			e.shelve(l.Private.(*slot))
		}
	}
}

// Unpark implements [engine.Parker].
func (e *Engine) Unpark(l *lease.Lease) (complete bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unpark(l)
}

func (e *Engine) unpark(l *lease.Lease) bool {
	if l.State() != lease.Open {
		return true
	}
	s := l.Private.(*slot)
	if e.unshelve(s) {
		return true
	}
	e.readAgain(toRead{slot: s, lease: l, parked: true})
	return false
}

// IsOpen implements [engine.Parker].
func (e *Engine) IsOpen(at lease.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.partitions[at.Partition]
	return p != nil && at.Offset < p.window.Next() && !p.window.IsDone(at.Offset)
}

// toRead is a record that is read again, since only its place was kept.
type toRead struct {
	slot   *slot
	lease  *lease.Lease
	due    time.Time // of the attempt; zero: lateness is not measured
	parked bool      // no attempt has ended
}

func (e *Engine) readAgain(r toRead) {
	e.toRead = append(e.toRead, r)
	select {
	case e.wakeReader <- struct{}{}:
	default:
	}
}

// nextToRead takes some records of the partition that has waited longest, in the order of their offsets. Those that are
// no longer needed are dropped. Due records wait until there is room for them; later: some do.
func (e *Engine) nextToRead() (batch []toRead, later bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var others []toRead
	room := e.set.Room()
	for _, r := range e.toRead {
		if !r.due.IsZero() {
			room--
		}
		switch {
		case r.lease.State() != lease.Open:
		case !r.due.IsZero() && room < 0:
			others, later = append(others, r), true
		case len(batch) == 0 || r.lease.At.Partition == batch[0].lease.At.Partition:
			batch = append(batch, r)
		default:
			others = append(others, r)
		}
	}
	slices.SortStableFunc(batch, func(a, b toRead) int { return cmp.Compare(a.lease.At.Offset, b.lease.At.Offset) })
	n := min(len(batch), stretch)
	e.toRead = slices.Concat(others, batch[n:])
	return batch[:n:n], later
}

// lookForRoom is the time between two looks whether there is room for due records.
const lookForRoom = 50 * time.Millisecond

func (e *Engine) readRecords(ctx context.Context) {
	wait := engine.NewWait()
	for {
		batch, later := e.nextToRead()
		if len(batch) == 0 {
			var again <-chan time.Time
			if later {
				again = time.After(lookForRoom)
			}
			select {
			case <-ctx.Done():
				return
			case <-e.wakeReader:
			case <-again:
			}
			continue
		}
		if err := e.readBatch(ctx, batch); err == nil {
			wait = engine.NewWait()
		} else if wait.Sleep(ctx) != nil {
			return
		}
	}
}

func (e *Engine) readBatch(ctx context.Context, batch []toRead) error {
	partition, offsets := batch[0].lease.At.Partition, make([]int64, len(batch))
	for i, r := range batch {
		offsets[i] = r.lease.At.Offset
	}
	records, err := e.reread(ctx, partition, offsets)
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, record := range records {
		e.wasRead(batch[i], record)
	}
	e.toRead = append(e.toRead, batch[len(records):]...)
	if err != nil && ctx.Err() == nil {
		e.complaint.About("read records again", err)
	}
	return err
}

func (e *Engine) wasRead(r toRead, record *kgo.Record) {
	s := r.slot
	if r.lease.State() != lease.Open || s.lease != r.lease {
		return
	}
	if record == nil {
		e.counts.Missing++
		e.cfg.Log.Error("kmq: a record that waited for another attempt is no longer in the log", "record", r.lease.Origin().String())
		if s.move != nil {
			s.run.of.moving--
		}
		_ = e.set.Settle(r.lease, lease.Released)
		e.finish(s)
		return
	}
	record.Partition = r.lease.At.Partition
	r.lease.Refill(record)
	s.marks &^= dropped
	switch {
	case s.move != nil:
		e.moves = append(e.moves, s.move)
		e.wakeMover()
	case r.parked:
		e.out.Push(r.lease)
	default:
		e.set.Count(r.lease)
		e.again(s, r.lease, r.due)
	}
}

// rereader reads with a client of its own, which it opens when it is first needed: fetches of the member's client would
// wait behind those that wait for records.
type rereader struct {
	cfg    *engine.Config
	client *kgo.Client
}

func (r *rereader) read(ctx context.Context, partition int32, offsets []int64) ([]*kgo.Record, error) {
	if r.client == nil {
		client, err := kgo.NewClient(r.cfg.ClientOptions()...)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
		}
		r.client = client
	}
	reader := reread.Reader{Client: r.client, Topic: r.cfg.TopicOf(partition)}
	return reader.Read(ctx, lease.NumberInTopic(partition), offsets)
}

func (r *rereader) close() {
	if r.client != nil {
		r.client.Close()
	}
}
