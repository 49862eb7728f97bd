package markers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// startsAtMost is how many polls may be on their way to being started: enough to keep
// fetching while the cluster answers, few enough that polls stay large. Transactions come
// one after the other, and the locks run meanwhile.
const (
	startsAtMost = 4
	txnsAtMost   = 2
)

// start is a poll whose starts are being written, or what is open of several.
type start struct {
	leases []*lease.Lease
	runs   []marker.Marker // that are written
	reads  []read          // what may be committed once they are
	from   time.Time

	mu      sync.Mutex
	left    int           // markers being written
	durable []bool        // of the runs
	idle    chan struct{} // closed when none is left
	failed  []*kgo.Record
	err     error
	aside   map[int32]*start // what was taken out of it, by partition; nil: nothing

	kept     int  // leases for which there is room aside
	released bool // it was set aside, and has no leases any more

	late *waiting // its records are handed out already; nil: they wait for it
}

// starts writes the starts of polls, several at a time, and lets their leases become ready
// in the order of the polls, but for what is set aside.
type starts struct {
	q    *queue
	txns *transactions // nil: starts are written first and committed later

	queue   chan *start
	running context.Context
	halt    context.CancelFunc
	done    chan struct{}

	catching sync.WaitGroup // by the partitions that have something aside

	mu       sync.Mutex
	begun    uint64
	finished uint64
	later    uint64        // of those that are not finished, whose records wait for nothing
	changed  chan struct{} // closed when one more is finished, if somebody waits
	pacing   pacing
	aside    map[int32][]*start // what of a partition waits by itself, in order; none is empty
	kept     int                // leases that are aside
	err      error              // what no waiting mends
}

func newStarts(q *queue) (*starts, error) {
	s := &starts{q: q, queue: make(chan *start, startsAtMost), done: make(chan struct{}), aside: map[int32][]*start{}}
	if q.cfg.Transactions {
		var err error
		if s.txns, err = newTransactions(&q.cfg, q.topics); err != nil {
			return nil, err
		}
	}
	s.running, s.halt = context.WithCancel(context.Background())
	go s.run()
	return s, nil
}

// close ends the writing, and waits for it. It is called when nothing is begun any more. A
// transaction that is under way then ends with its client: it waits for a broker that may
// not answer.
func (s *starts) close() {
	s.halt()
	if s.txns != nil {
		s.txns.close()
	}
	<-s.done
	s.catching.Wait()
}

// pace waits until another poll may be begun, or for ctx: until few are on their way that
// records wait for, and where the cluster is to be spared, until there is none and it has been
// spared. Each start costs it as much as thousands of records read: what comes meanwhile has
// its starts in one batch.
func (s *starts) pace(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := uint64(startsAtMost)
	if s.txns != nil {
		most = txnsAtMost
	}
	err := s.wait(ctx, func() bool {
		under := s.begun - s.finished - s.later
		return under == 0 || under < most && s.pacing.rest == 0 && s.careful()
	})
	rest := time.Until(s.pacing.until())
	if err != nil || rest <= 0 {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// begin has a poll started, once it was paced. The error is one that no waiting mends, or
// ctx's.
func (s *starts) begin(ctx context.Context, p *start) error {
	if err := s.count(p); err != nil {
		return err
	}
	p.from = time.Now()
	if p.late == nil {
		s.q.set.AddAll(p.leases, p.from.Add(s.q.cfg.Visibility))
	}
	if s.txns == nil {
		s.produce(p)
	}
	select {
	case s.queue <- p:
		return nil
	case <-ctx.Done(): // the queue is being closed: others read the records again
		s.finish(p, nil)
		return ctx.Err()
	}
}

func (s *starts) count(p *start) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.begun++
	if p.late != nil {
		s.later++
	}
	return nil
}

// careful is whether the records of the next poll are to wait for their starts whatever else is
// under way.
func (s *starts) careful() bool {
	return s.q.cfg.StartFirst || s.txns != nil || s.q.started.crashed(time.Now().Add(-s.q.started.careful))
}

// first is whether records wait for their starts: where the queue has it so, where they
// follow on others that do, where they are the first of a partition, and for a while where
// somebody crashed who had it before.
func (s *starts) first(runs []marker.Marker, now time.Time) bool {
	if s.q.cfg.StartFirst || s.txns != nil || CarefulFor > 0 && s.q.started.young(runs, now.Add(-s.q.started.careful)) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun-s.finished > s.later ||
		slices.ContainsFunc(runs, func(m marker.Marker) bool { return s.aside[m.Partition] != nil })
}

// standing is what no waiting mends, once that has happened, and the partitions that have
// something aside; nil: none.
func (s *starts) standing() (behind map[int32]bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.aside) > 0 {
		behind = make(map[int32]bool, len(s.aside))
		for p := range s.aside {
			behind[p] = true
		}
	}
	return behind, s.err
}

// flush waits until everything that was begun before is started, or aside, or for ctx.
func (s *starts) flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	upTo := s.begun
	return s.wait(ctx, func() bool { return s.finished >= upTo })
}

// wait waits until it is so, or for ctx; with the lock, which it lets go meanwhile.
func (s *starts) wait(ctx context.Context, so func() bool) error {
	for !so() {
		if s.err != nil {
			return s.err
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (s *starts) finish(p *start, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished++
	if p.late != nil {
		s.later--
	}
	if s.err == nil {
		s.err = err
	}
	s.tell()
}

// fail notes what no waiting mends.
func (s *starts) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.tell()
}

// tell lets those look who wait. It is called under the lock.
func (s *starts) tell() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// run waits for one poll after the other to be started.
func (s *starts) run() {
	defer close(s.done)
	late := time.NewTimer(time.Hour)
	defer late.Stop()
	trouble := engine.NewComplaint(s.q.cfg.Log)
	for {
		select {
		case p := <-s.queue:
			behind, err := s.standing()
			if err == nil { // else the records of p come after some that were not started
				err = s.started(p, behind, late, trouble)
			}
			if s.running.Err() != nil {
				return
			}
			s.finish(p, err)
			if err != nil {
				s.q.late.drop(p)
				s.q.member.Fail(err)
			}
		case <-s.running.Done():
			return
		}
	}
}

// started waits until the starts of a poll are durable and makes its leases ready. What comes
// behind something aside, or can't be written for now, is set aside. An error is one that no
// waiting mends, or of the end.
func (s *starts) started(p *start, behind map[int32]bool, late *time.Timer, trouble *engine.Complaint) error {
	var err error
	if s.txns != nil {
		err = s.transact(p)
	} else {
		if behind != nil {
			s.setAside(p, behind)
		}
		err = s.await(p, late, trouble)
	}
	if err != nil {
		return err
	}
	step.At(step.Started)
	if p.late == nil {
		s.took(p)
	}
	s.handOut(p)
	return nil
}

// commitFirst is how long a record waits for the commit behind its start.
const commitFirst = time.Second

// commitNow waits for a commit of what is started, for commitFirst at most. The commit itself goes on:
// one that is broken off on its way may overtake the next.
func (s *starts) commitNow() {
	done := make(chan struct{})
	s.catching.Go(func() {
		defer close(done)
		_ = s.q.member.Commit(s.running) // else soon does it, and says what is in the way
	})
	late := time.NewTimer(commitFirst)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	case <-s.running.Done():
	}
}

// handOut makes the leases of a poll ready, which have durable starts, if they are not handed
// out yet: behind a commit, without which a crash would leave them to be read again.
func (s *starts) handOut(p *start) {
	s.q.started.advance(p.rest())
	s.q.commitSoon()
	if p.late != nil {
		s.q.late.began(p)
		return
	}
	s.q.wait(p.leases)
	if s.txns == nil {
		s.commitNow()
	}
	s.q.member.Append(p.leases...)
}

// took notes how long the cluster took for the starts of a poll, and spares it.
func (s *starts) took(p *start) {
	now := time.Now()
	full := len(p.leases) >= s.q.cfg.MaxInFlight/2 // more in one poll is not to be had
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pacing.took(now, now.Sub(p.from), full)
}

func (s *starts) records(runs []marker.Marker) []*kgo.Record {
	records := make([]*kgo.Record, len(runs))
	for i, m := range runs {
		records[i] = s.q.scribe.record(m)
	}
	return records
}

// produce hands the starts of a poll to the client.
func (s *starts) produce(p *start) {
	p.left, p.idle, p.durable = len(p.runs), make(chan struct{}), make([]bool, len(p.runs))
	for i, r := range s.records(p.runs) {
		durable := &p.durable[i]
		s.q.writer.Produce(s.running, r, func(r *kgo.Record, err error) { p.wrote(r, durable, err) })
	}
}

// await waits until the starts of a poll are durable, or set aside: for asideAfter at most. At
// the end the client need not say what became of what it had.
func (s *starts) await(p *start, late *time.Timer, trouble *engine.Complaint) error {
	late.Reset(asideAfter)
	select {
	case <-p.idle:
		if len(p.failed) == 0 {
			return nil
		}
	case <-late.C:
	case <-s.running.Done():
		return s.running.Err()
	}
	partitions, err := p.unwritten()
	if engine.Fatal(err) {
		return err
	}
	if len(partitions) > 0 {
		trouble.About(fmt.Sprintf("write start markers to %d partitions of topic %s", len(partitions), s.q.cfg.MarkersTopic), cmp.Or(err, errSlow))
		s.setAside(p, partitions)
	}
	return nil
}

// grow sees to it that there are markers of all that runs are of, which could not be written
// because of err. It returns err, with what is in the way of that.
func (s *starts) grow(ctx context.Context, runs []marker.Marker, err error) error {
	for _, m := range runs {
		if e := s.q.grown(ctx, m.Partition); e != nil {
			return fmt.Errorf("%w (%s)", err, e.Error()) // not e itself, which somebody can mend: the others go on meanwhile
		}
	}
	return err
}
