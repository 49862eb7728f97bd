package lease

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Set are the leases in flight: fetched and not settled. It has a bound, and ends those
// whose deadline has passed. Its methods may be called on any goroutine.
//
// The bound is one for taking more: [Set.Room] is what may be fetched. Add itself never
// refuses, so that a record can be lent again by the one who held its room.
type Set struct {
	max       int
	onExpired func(*Lease)

	mu       sync.Mutex
	leases   byDeadline
	expiring int   // taken out as expired, their room not freed
	excused  int   // leases that the bound does not count
	want     int   // the room that WaitRoom waits for; 0: nobody waits
	hurry    bool  // any room will do
	armed    int64 // when the timer goes off; 0: not armed
	closed   bool
	held     int      // open leases with a holder
	holders  []Holder // of these
	waits    []wait

	room chan struct{} // WaitRoom may look again
	wake chan struct{} // the timer is to be set anew
	stop chan struct{}
	done chan struct{}
}

// Holder works on lent records. It is told when a lease has ended without it: when it expired, was lost, or is to be
// interrupted. It may be told those of other holders, too. Ended must neither block nor call the Set.
type Holder interface{ Ended(l *Lease) }

// What flags of a lease says.
const (
	excused uint8 = 1 << iota // not counted for the Set's bound
	held                      // somebody works on the record who wants to be told
)

// wait is one for a lease to have no holder.
type wait struct {
	of   *Lease
	over chan struct{}
}

// NewSet is an empty set for at most max leases, at least 1. onExpired is told each lease
// that ran out, on one goroutine, after its state is Expired and before its room is free:
// a successor that it adds takes the room over. It must not block; nil is nobody.
func NewSet(max int, onExpired func(*Lease)) *Set {
	s := &Set{
		max: max, onExpired: onExpired,
		room: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	go s.expire()
	return s
}

// Close ends the expiry and waits for it. The leases stay as they are; they can be settled.
func (s *Set) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	s.mu.Unlock()
	<-s.done
}

// Add takes an open lease in, until a deadline; zero is none.
func (s *Set) Add(l *Lease, deadline time.Time) {
	s.mu.Lock()
	s.leases.add(l, sinceEpoch(deadline))
	s.rearm()
	s.mu.Unlock()
}

// AddAll takes several in, as Add does.
func (s *Set) AddAll(leases []*Lease, deadline time.Time) {
	at := sinceEpoch(deadline)
	s.mu.Lock()
	for _, l := range leases {
		s.leases.add(l, at)
	}
	s.rearm()
	s.mu.Unlock()
}

// Lend sets the deadline of those that are open, and returns these, in the same slice: it
// is for leases whose time begins when they are handed out. A zero deadline leaves them as
// they are. A lease whose deadline has passed, and is not expired yet, is left out too.
func (s *Set) Lend(leases []*Lease, deadline time.Time) []*Lease {
	return s.LendTo(leases, deadline, nil)
}

// LendTo is Lend to a holder that is told how the leases end; nil is nobody.
func (s *Set) LendTo(leases []*Lease, deadline time.Time, holder Holder) []*Lease {
	at, now := sinceEpoch(deadline), int64(0)
	kept := leases[:0]
	s.mu.Lock()
	for i, l := range leases {
		if l.State() != Open {
			continue
		}
		if l.deadline.Load() != 0 { // most have none, and the clock need not be read for them
			if now == 0 {
				now = sinceNow()
			}
			if l.past(now) {
				continue
			}
		}
		if at != 0 {
			s.leases.move(l, at)
		}
		s.count(l)
		if holder != nil {
			s.hold(l, holder)
		}
		if len(kept) == i {
			kept = leases[:i+1] // as it is
		} else {
			kept = append(kept, l)
		}
	}
	if at != 0 {
		s.rearm()
	}
	s.mu.Unlock()
	clear(leases[len(kept):])
	return kept
}

// Settle gives an open lease its state and frees its room. A lease whose deadline has
// passed is expired, whether that was noticed before or not.
func (s *Set) Settle(l *Lease, as State) error {
	_, err := s.SettleLeft(l, as)
	return err
}

// SettleLeft is Settle, and says how much time the lease had left; without a deadline that
// is 0.
func (s *Set) SettleLeft(l *Lease, as State) (left time.Duration, err error) {
	now := sinceNow()
	s.mu.Lock()
	if err = s.settle(l, as, now); err == nil {
		s.freed()
	}
	s.mu.Unlock()
	if at := l.deadline.Load(); err == nil && at != 0 {
		left = time.Duration(at - now)
	}
	return left, err
}

// Swap settles a lease and lends its room to a successor, until a deadline; zero is none.
func (s *Set) Swap(l *Lease, as State, successor *Lease, deadline time.Time) error {
	now, at := sinceNow(), sinceEpoch(deadline)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.settle(l, as, now); err != nil {
		return err
	}
	s.leases.add(successor, at)
	s.rearm()
	return nil
}

// Extend moves the deadline of an open lease; zero is none.
func (s *Set) Extend(l *Lease, deadline time.Time) error {
	at, now := sinceEpoch(deadline), sinceNow()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(l, now); err != nil {
		return err
	}
	s.leases.move(l, at)
	s.rearm()
	return nil
}

// Check says why a lease can't be settled any more: ErrSettled, ErrExpired or ErrLost; nil
// while it can.
func (s *Set) Check(l *Lease) error {
	now := sinceNow()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.check(l, now)
}

// LoseAll takes out the open leases that match, as Lost, and returns them in no order. A
// nil match is all.
func (s *Set) LoseAll(match func(*Lease) bool) []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost []*Lease
	for l := range s.leases.all() {
		if match == nil || match(l) {
			lost = append(lost, l)
		}
	}
	lost = slices.DeleteFunc(lost, func(l *Lease) bool {
		settled := l.Settle(Lost) != nil
		s.leases.remove(l)
		s.clear(l, !settled)
		return settled
	})
	s.freed()
	return lost
}

// Excuse no longer counts an open lease for the bound, until it is lent or [Set.Count] is called.
func (s *Set) Excuse(l *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.place != nowhere && l.flags&excused == 0 {
		l.flags |= excused
		s.excused++
		s.freed()
	}
}

// Count undoes Excuse.
func (s *Set) Count(l *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(l)
}

// Excused is how many leases are in the set and not counted.
func (s *Set) Excused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.excused
}

// ForgetHolder forgets the holder of a lease, which stays as it is.
func (s *Set) ForgetHolder(l *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetHolder(l, false)
}

// Interrupt tells the holders of partitions that their leases are about to end. The leases stay open.
func (s *Set) Interrupt(partitions []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leases.all() {
		if l.heldOf(partitions) {
			s.tell(l)
		}
	}
}

// WaitUnheld waits until no lease of the partitions has a holder. It returns ctx's error if that ends first.
func (s *Set) WaitUnheld(ctx context.Context, partitions []int32) error {
	for {
		over := s.untilUnheld(partitions)
		if over == nil {
			return nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// untilUnheld is closed when one of the leases has no holder any more; nil if none has.
func (s *Set) untilUnheld(partitions []int32) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leases.all() {
		if l.heldOf(partitions) {
			w := wait{l, make(chan struct{})}
			s.waits = append(s.waits, w)
			return w.over
		}
	}
	return nil
}

// Len is how many leases are in flight, without the excused ones.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases.n - s.excused + s.expiring
}

// Room is how many more may be taken; 0 at the bound.
func (s *Set) Room() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free()
}

// WaitRoom waits until there is room for n leases, n at most the bound; for any, once
// somebody is in a [Set.Hurry]. It returns ctx's error if that ends first. One goroutine
// may wait at a time.
func (s *Set) WaitRoom(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		s.want = min(max(n, 1), s.max)
		if s.enough() {
			s.want, s.hurry = 0, false
			s.mu.Unlock()
			return ctx.Err()
		}
		s.mu.Unlock()
		select {
		case <-s.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Hurry lets the one who waits for room, or the next who does, go on with any room at all.
func (s *Set) Hurry() {
	s.mu.Lock()
	s.hurry = true
	s.freed()
	s.mu.Unlock()
}

// Oldest is the earliest timestamp of the records in flight; zero if there are none. It
// looks at all of them.
func (s *Set) Oldest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, any := int64(0), false
	for l := range s.leases.all() {
		if !any || l.timestamp < oldest {
			oldest, any = l.timestamp, true
		}
	}
	if !any {
		return time.Time{}
	}
	return time.UnixMilli(oldest)
}

// What follows is called under the lock.

func (s *Set) hold(l *Lease, holder Holder) {
	if l.flags&held == 0 {
		l.flags |= held
		s.held++
	}
	if !slices.Contains(s.holders, holder) {
		s.holders = append(s.holders, holder)
	}
}

func (l *Lease) heldOf(partitions []int32) bool {
	return l.flags&held != 0 && slices.Contains(partitions, l.At.Partition)
}

func (s *Set) tell(l *Lease) {
	for _, h := range s.holders {
		h.Ended(l)
	}
}

func (s *Set) forgetHolder(l *Lease, tell bool) {
	if l.flags&held == 0 {
		return
	}
	if tell {
		s.tell(l)
	}
	l.flags &^= held
	if s.held--; s.held == 0 {
		s.holders = nil
	}
	s.waits = slices.DeleteFunc(s.waits, func(w wait) bool {
		if w.of == l {
			close(w.over)
		}
		return w.of == l
	})
}

func (l *Lease) past(now int64) bool {
	at := l.deadline.Load()
	return at != 0 && at <= now
}

func (s *Set) check(l *Lease, now int64) error {
	if err := l.Err(); err != nil {
		return err
	}
	if l.past(now) {
		return ErrExpired // the timer is on its way
	}
	return nil
}

func (s *Set) settle(l *Lease, as State, now int64) error {
	if err := s.check(l, now); err != nil {
		return err
	}
	if err := l.Settle(as); err != nil {
		return err
	}
	s.leases.remove(l)
	if l.flags != 0 {
		s.clear(l, false)
	}
	return nil
}

// clear undoes what flags says of a lease that has ended. It tells the holder if that did not end it itself.
func (s *Set) clear(l *Lease, tell bool) {
	s.count(l)
	s.forgetHolder(l, tell)
}

func (s *Set) count(l *Lease) {
	if l.flags&excused != 0 {
		l.flags &^= excused
		s.excused--
	}
}

func (s *Set) free() int { return max(0, s.max-s.leases.n+s.excused-s.expiring) }

func (s *Set) enough() bool {
	free := s.free()
	return free >= s.want || s.hurry && free > 0
}

// freed tells the one who waits for room, if there is enough.
func (s *Set) freed() {
	if s.want > 0 && s.enough() {
		select {
		case s.room <- struct{}{}:
		default:
		}
	}
}

// expire ends leases at their deadlines, until the set is closed.
func (s *Set) expire() {
	defer close(s.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next := s.due(sinceNow())
		if s.onExpired != nil {
			for _, l := range due {
				s.onExpired(l)
			}
		}
		if len(due) > 0 {
			s.mu.Lock()
			s.expiring -= len(due)
			s.freed()
			s.mu.Unlock()
			continue // time has passed
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.stop:
			return
		}
	}
}

// lookEvery bounds the sleep while leases have deadlines: timers stand still while the machine is suspended.
const lookEvery = time.Second

// due takes out what has expired; if that is nothing, it says how long to sleep.
func (s *Set) due(now int64) (expired []*Lease, next time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, time.Hour
	}
	for l := s.leases.first(); l != nil && l.past(now); l = s.leases.first() {
		open := l.Settle(Expired) == nil
		s.leases.remove(l)
		s.clear(l, open)
		if open {
			expired = append(expired, l)
		}
	}
	s.expiring += len(expired)
	s.armed = 0
	next = time.Hour
	if l := s.leases.first(); l != nil {
		at := l.deadline.Load()
		s.armed, next = at, min(time.Duration(at-now), lookEvery)
	}
	return expired, next
}

// rearm sees to it that the timer is not later than the first deadline. One that is
// earlier only costs a look.
func (s *Set) rearm() {
	l := s.leases.first()
	if l == nil {
		return
	}
	at := l.deadline.Load()
	if s.armed != 0 && s.armed <= at {
		return
	}
	s.armed = at
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
