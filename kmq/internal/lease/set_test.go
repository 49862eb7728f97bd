package lease

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func open(offset int64) *Lease {
	return FromRecord(&kgo.Record{Offset: offset, Timestamp: time.UnixMilli(offset)})
}

func TestSettledOnce(t *testing.T) {
	for _, as := range []State{Accepted, Released, Rejected, Expired, Lost} {
		l := open(1)
		if err := l.Settle(as); err != nil || l.State() != as {
			t.Errorf("settle as %d: %v, state %d", as, err, l.State())
		}
		want := map[State]error{Expired: ErrExpired, Lost: ErrLost}[as]
		if want == nil {
			want = ErrSettled
		}
		if err := l.Settle(Accepted); !errors.Is(err, want) || l.State() != as {
			t.Errorf("again after %d: %v, want %v", as, err, want)
		}
	}
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		var order []int64
		s := NewSet(10, func(l *Lease) {
			mu.Lock()
			defer mu.Unlock()
			if l.State() != Expired {
				t.Errorf("told of offset %d in state %d", l.At.Offset, l.State())
			}
			at, order = append(at, time.Since(start)), append(order, l.At.Offset)
		})
		defer s.Close()
		leases := make([]*Lease, 6)
		for i := range leases {
			leases[i] = open(int64(i))
		}
		s.Add(leases[0], time.Time{})
		s.Lend(leases[:1], start.Add(5*time.Second)) // handed out
		s.Lend(leases[:1], time.Time{})              // no deadline leaves what there is
		synctest.Wait()                              // the timer is set
		s.Add(leases[1], start.Add(2*time.Second))   // earlier than what the timer waits for
		s.Add(leases[2], time.Time{})                // never
		s.Add(leases[3], start.Add(3*time.Second))   // extended
		s.Add(leases[4], start.Add(2*time.Second))   // settled in time
		s.Add(leases[5], start.Add(9*time.Second))   // shortened
		if err := s.Extend(leases[3], start.Add(7*time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := s.Extend(leases[5], start.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := s.Settle(leases[4], Accepted); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := []int64{5, 1, 0, 3}; !slices.Equal(order, want) {
			t.Errorf("expired %v, want %v", order, want)
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 7 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("expired at %v, want %v", at, want)
		}
		if s.Len() != 1 || leases[2].State() != Open || !leases[2].Deadline().IsZero() {
			t.Errorf("%d are left, that without a deadline in state %d", s.Len(), leases[2].State())
		}
		for _, l := range leases {
			if l != leases[2] && s.Settle(l, Accepted) == nil {
				t.Errorf("offset %d was settled twice", l.At.Offset)
			}
		}
	})
}

// A lease is over at its deadline, whether the timer was quick or not.
func TestNothingIsSettledPastItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		s := NewSet(10, func(*Lease) { <-held })
		defer s.Close()
		first, second := open(1), open(2)
		s.Add(first, time.Now().Add(time.Second))
		s.Add(second, time.Now().Add(2*time.Second))
		time.Sleep(3 * time.Second) // the timer is held up at the first
		synctest.Wait()
		if second.State() != Open {
			t.Fatal("the test does not hold the timer up")
		}
		if err := s.Settle(second, Accepted); !errors.Is(err, ErrExpired) {
			t.Errorf("settle: %v", err)
		}
		if err := s.Extend(second, time.Now().Add(time.Hour)); !errors.Is(err, ErrExpired) {
			t.Errorf("extend: %v", err)
		}
		if err := s.Check(second); !errors.Is(err, ErrExpired) {
			t.Errorf("check: %v", err)
		}
		if err := s.Swap(second, Released, open(3), time.Time{}); !errors.Is(err, ErrExpired) {
			t.Errorf("swap: %v", err)
		}
		if lent := s.Lend([]*Lease{second}, time.Now().Add(time.Hour)); len(lent) != 0 {
			t.Error("it was lent again")
		}
		close(held)
		synctest.Wait()
		if second.State() != Expired || s.Len() != 0 {
			t.Errorf("state %d, %d in flight", second.State(), s.Len())
		}
	})
}

func TestSuccessorKeepsTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Set
		most := 0
		s = NewSet(2, func(l *Lease) {
			if most = max(most, s.Room()); l.Attempt == 1 {
				s.Add(l.Again(), time.Time{})
			}
		})
		defer s.Close()
		s.Add(open(1), time.Now().Add(time.Second))
		s.Add(open(2), time.Now().Add(time.Second))
		waited := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { waited <- s.WaitRoom(ctx, 1) }()
		synctest.Wait()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.Len() != 2 || s.Room() != 0 || most != 0 {
			t.Errorf("%d in flight, room for %d, for %d in between", s.Len(), s.Room(), most)
		}
		if err := <-waited; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("there was room: %v", err)
		}
	})
}

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(4, nil)
		defer s.Close()
		var all []*Lease
		for i := range 4 {
			all = append(all, open(int64(i)))
		}
		s.AddAll(all, time.Time{})
		wait := func(n int) chan error {
			c := make(chan error, 1)
			go func() { c <- s.WaitRoom(t.Context(), n) }()
			synctest.Wait()
			return c
		}
		ready := func(c chan error) bool {
			synctest.Wait()
			select {
			case err := <-c:
				return err == nil
			default:
				return false
			}
		}
		two := wait(2)
		_ = s.Settle(all[0], Accepted)
		if ready(two) {
			t.Error("one place is not two")
		}
		_ = s.Settle(all[1], Accepted)
		if !ready(two) {
			t.Error("there are two places, and nobody said so")
		}
		more := wait(100) // more than there will ever be: all of them
		s.Hurry()
		if !ready(more) {
			t.Error("in a hurry any room will do")
		}
		s.AddAll([]*Lease{open(7), open(8)}, time.Time{})
		s.Hurry()
		any := wait(4)
		if ready(any) {
			t.Error("no room at all will not do")
		}
		if lost := s.LoseAll(func(l *Lease) bool { return l.At.Offset == 7 }); len(lost) != 1 || lost[0].State() != Lost {
			t.Errorf("lost %v", lost)
		}
		if !ready(any) {
			t.Error("what is lost makes room")
		}
		last := wait(4)
		if ready(last) {
			t.Error("a hurry is for once")
		}
		s.LoseAll(nil)
		if !ready(last) || s.Room() != 4 || s.Len() != 0 || !s.Oldest().IsZero() {
			t.Errorf("when all is lost: room %d, %d in flight", s.Room(), s.Len())
		}
	})
}

// The set against a list that is searched.
func TestSetModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const bound = 8
		s := NewSet(bound, nil)
		defer s.Close()
		base := time.Now().Add(time.Hour)
		in := map[*Lease]time.Time{}
		var all []*Lease
		pick := func(r *rapid.T) *Lease { return rapid.SampledFrom(all).Draw(r, "lease") }
		deadline := func(r *rapid.T) time.Time {
			if n := rapid.IntRange(0, 20).Draw(r, "deadline"); n > 0 {
				return base.Add(time.Duration(n) * time.Second)
			}
			return time.Time{}
		}
		r.Repeat(map[string]func(*rapid.T){
			"add": func(r *rapid.T) {
				l, at := open(int64(len(all))), deadline(r)
				s.Add(l, at)
				all, in[l] = append(all, l), at
			},
			"settle": func(r *rapid.T) {
				if len(all) == 0 {
					r.Skip()
				}
				l := pick(r)
				_, was := in[l]
				if err := s.Settle(l, Accepted); (err == nil) != was {
					r.Fatalf("settle: %v, in flight %v", err, was)
				}
				delete(in, l)
			},
			"extend": func(r *rapid.T) {
				if len(all) == 0 {
					r.Skip()
				}
				l, at := pick(r), deadline(r)
				_, was := in[l]
				if err := s.Extend(l, at); (err == nil) != was {
					r.Fatalf("extend: %v, in flight %v", err, was)
				}
				if was {
					in[l] = at
				}
			},
			"lend": func(r *rapid.T) {
				if len(all) == 0 {
					r.Skip()
				}
				some, at := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, 4, rapid.ID).Draw(r, "leases"), deadline(r)
				want := slices.DeleteFunc(slices.Clone(some), func(l *Lease) bool { _, was := in[l]; return !was })
				if got := s.Lend(some, at); !slices.Equal(got, want) {
					r.Fatalf("lent %d, want %d", len(got), len(want))
				}
				for _, l := range want {
					if !at.IsZero() {
						in[l] = at
					}
				}
			},
			"poll": func(r *rapid.T) {
				had := len(all)
				for range rapid.IntRange(1, 20).Draw(r, "records") {
					l := open(int64(len(all)))
					all, in[l] = append(all, l), time.Time{}
				}
				s.AddAll(all[had:], time.Time{})
			},
			"swap": func(r *rapid.T) {
				if len(all) == 0 {
					r.Skip()
				}
				l, n, at := pick(r), open(int64(len(all))), deadline(r)
				_, was := in[l]
				if err := s.Swap(l, Released, n, at); (err == nil) != was {
					r.Fatalf("swap: %v, in flight %v", err, was)
				}
				if was {
					delete(in, l)
					all, in[n] = append(all, n), at
				}
			},
			"lose": func(r *rapid.T) {
				k := rapid.Int64Range(1, 5).Draw(r, "every")
				lost := s.LoseAll(func(l *Lease) bool { return l.At.Offset%k == 0 })
				n := 0
				for l := range in {
					if l.At.Offset%k == 0 {
						n++
						delete(in, l)
					}
				}
				if n != len(lost) {
					r.Fatalf("%d lost, want %d", len(lost), n)
				}
			},
			"": func(r *rapid.T) {
				if s.Len() != len(in) || s.Room() != max(0, bound-len(in)) {
					r.Fatalf("%d in flight and room for %d, want %d", s.Len(), s.Room(), len(in))
				}
				var oldest time.Time
				for l, at := range in {
					if !l.Deadline().Equal(at) {
						r.Fatalf("deadline %v, want %v", l.Deadline(), at)
					}
					if ts := l.Record.Timestamp; oldest.IsZero() || ts.Before(oldest) {
						oldest = ts
					}
				}
				if !s.Oldest().Equal(oldest) {
					r.Fatalf("oldest %v, want %v", s.Oldest(), oldest)
				}
				s.holdsTogether(r)
			},
		})
	})
}

// holdsTogether holds the set's three places to what they are for.
func (s *Set) holdsTogether(r *rapid.T) {
	b, n := &s.leases, len(s.leases.heap)
	for i, l := range b.heap {
		if l.place != inHeap || int(l.index) != i || l.deadline.Load() == 0 || i > 0 && l.earlier(b.heap[(i-1)/2]) {
			r.Fatalf("the heap is none at %d", i)
		}
	}
	line, of := &b.line, 0
	var before *Lease
	for i, l := range line.items {
		if l == nil {
			continue
		}
		lent := l.deadline.Load() != 0
		if l.place != inLine || l.index != line.from+int32(i) || i < line.head || lent != (i < line.lent) || lent && before != nil && l.earlier(before) {
			r.Fatalf("the line is broken at %d", i)
		}
		before = l
		of++
	}
	n += of
	gapAt := func(i int) bool { return line.items[i] == nil }
	if of != line.n || of == 0 && len(line.items)+line.head+line.lent > 0 ||
		of > 0 && (gapAt(line.head) || gapAt(len(line.items)-1) || line.lent > line.head && gapAt(line.lent-1)) {
		r.Fatalf("a line of %d counts %d, or does not begin and end where it says", of, line.n)
	}
	for i, l := range line.items[len(line.items):cap(line.items)] {
		if l != nil {
			r.Fatalf("the line keeps what has left, %d behind its end", i)
		}
	}
	var first *Lease
	for l := range b.all() {
		if l.deadline.Load() != 0 && (first == nil || l.earlier(first)) {
			first = l
		}
	}
	got := b.first()
	if n != b.n || (got == nil) != (first == nil) || got != nil && got.deadline.Load() != first.deadline.Load() {
		r.Fatalf("%d leases, %d are counted; the first is %v, not %v", n, b.n, got, first)
	}
}

// A record that is added and settled, the oldest first, with so many others in flight, in
// polls of 10: with a deadline that rises from poll to poll, and with one that does not.
func BenchmarkSet(b *testing.B) {
	const inFlight, batch = 1000, 10
	for _, c := range []struct {
		name     string
		deadline func(poll int) time.Duration
	}{
		{"rising", func(poll int) time.Duration { return time.Hour + time.Duration(poll)*time.Microsecond }},
		{"mixed", func(poll int) time.Duration { return time.Hour + time.Duration(poll*7919%1000)*time.Second }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := NewSet(inFlight, nil)
			defer s.Close()
			records := make([]*kgo.Record, batch)
			for i := range records {
				records[i] = &kgo.Record{Offset: int64(i)}
			}
			start, poll := time.Now(), 0
			var open [inFlight / batch][]*Lease
			begin := func() {
				leases := FromRecords(records)
				s.AddAll(leases, start.Add(c.deadline(poll)))
				open[poll%len(open)] = leases
				poll++
			}
			for range open {
				begin()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += batch {
				for _, l := range open[poll%len(open)] {
					if s.Settle(l, Accepted) != nil {
						b.Fatal("not settled")
					}
				}
				begin()
			}
		})
	}
}
