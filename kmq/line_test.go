package kmq

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// openRecords is a Parker for lines of their own.
type openRecords map[lease.ID]bool

func (openRecords) Park([]*lease.Lease)       {}
func (openRecords) Unpark(*lease.Lease) bool  { return true }
func (o openRecords) IsOpen(at lease.ID) bool { return o[at] }

// A partition is lost and comes back, and begins below the record that blocks its line: those that were acknowledged and
// not committed are delivered again before it, as the first time.
func TestALineBeginsAnew(t *testing.T) {
	for _, running := range []bool{false, true} {
		open := openRecords{}
		s := &lines{order: ByPartition, parker: open, of: map[uint64]*line{}}
		take := func(offset int64) *lease.Lease {
			open[lease.ID{Offset: offset}] = true
			return lease.FromRecord(&kgo.Record{Offset: offset})
		}
		third := take(3)
		ln, _ := s.join(third)
		fourth := take(4)
		s.join(fourth)
		if !running {
			must(t, third.Settle(lease.Released))
			s.next(ln, third, false)
		} else {
			must(t, third.Settle(lease.Lost)) // its handler still runs
		}
		must(t, fourth.Settle(lease.Lost))
		var order []string
		begin := func(l *lease.Lease) {
			for l != nil {
				if l.State() == lease.Open { // a worker drops the others
					order = append(order, fmt.Sprint(l.At.Offset))
					delete(open, l.At)
					must(t, l.Settle(lease.Accepted))
				}
				l = s.next(ln, l, false)
			}
		}
		var begun *lease.Lease
		for _, offset := range []int64{2, 3, 4} {
			l := take(offset)
			if of, first := s.join(l); first {
				ln, begun = of, l
			}
		}
		if running {
			begun = s.next(ln, third, false)
		}
		if begin(begun); !slices.Equal(order, []string{"2", "3", "4"}) {
			t.Errorf("a handler runs: %t; the order is %v", running, order)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
