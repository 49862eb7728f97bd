package lease

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A lock ends while the machine sleeps, although Go's clock stands still: a late Ack is refused, and the record is
// redelivered within a second of the waking.
func TestLocksEndWhileTheMachineIsSuspended(t *testing.T) {
	var asleep atomic.Int64
	before := slept
	slept = asleep.Load
	defer func() { slept = before }()
	synctest.Test(t, func(t *testing.T) {
		expired := make(chan int64, 2)
		s := NewSet(2, func(l *Lease) { expired <- l.At.Offset })
		defer s.Close()
		first, second := open(1), open(2)
		s.AddAll([]*Lease{first, second}, time.Time{})
		s.Lend([]*Lease{first}, time.Now().Add(30*time.Second))
		s.Lend([]*Lease{second}, time.Now().Add(2*time.Hour))
		time.Sleep(time.Second)
		asleep.Store(int64(time.Hour))
		time.Sleep(time.Millisecond) // the clock is read once a millisecond
		start := time.Now()
		if err := s.Settle(first, Accepted); !errors.Is(err, ErrExpired) {
			t.Errorf("settled after the machine slept: %v", err)
		}
		if offset := <-expired; offset != 1 || time.Since(start) > time.Second {
			t.Errorf("offset %d expired after %v", offset, time.Since(start))
		}
		if left := time.Until(second.Deadline()); left > time.Hour || left < 59*time.Minute {
			t.Errorf("the other lock is left for %v", left)
		}
		if err := s.Settle(second, Accepted); err != nil {
			t.Errorf("the other: %v", err)
		}
	})
}

type told []int64

func (h *told) Ended(l *Lease) { *h = append(*h, l.At.Offset) }

// A holder is told how its leases end, unless it ends them itself, and WaitUnheld waits for those of a partition.
func TestHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(5, nil)
		defer s.Close()
		var ended told
		leases := make([]*Lease, 5)
		for i := range leases {
			leases[i] = open(int64(i))
			leases[i].At.Partition = int32(i % 2)
		}
		s.AddAll(leases, time.Time{})
		s.LendTo(leases[:1], time.Now().Add(time.Second), &ended) // expires
		s.LendTo(leases[1:4], time.Time{}, &ended)
		waited := make(chan time.Duration, 2)
		start := time.Now()
		for p := range int32(2) {
			go func() {
				if err := s.WaitUnheld(t.Context(), []int32{p}); err != nil {
					t.Error(err)
				}
				waited <- time.Since(start)
			}()
		}
		time.Sleep(2 * time.Second)
		s.Interrupt([]int32{0}) // offset 2 is told, and stays open
		if err := s.Settle(leases[2], Accepted); err != nil {
			t.Error(err)
		}
		if took := <-waited; took != 2*time.Second {
			t.Errorf("partition 0 was held for %v", took)
		}
		time.Sleep(time.Second)
		if lost := s.LoseAll(func(l *Lease) bool { return l.At.Partition == 1 }); len(lost) != 2 {
			t.Errorf("%d are lost", len(lost))
		}
		if took := <-waited; took != 3*time.Second {
			t.Errorf("partition 1 was held for %v", took)
		}
		if len(ended) != 4 || ended[0] != 0 || ended[1] != 2 {
			t.Errorf("told of %v", ended)
		}
	})
}
