package markers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/offsetmap"
)

// party is a group of its own on the topic of a world, and what it makes of all that it is
// given.
type party struct {
	world
	name  string
	maps  bool // its engine is offsetmap
	fails bool // it gives everything back; else it acknowledges everything

	q   engine.Engine
	got map[came]int // by the one who receives
}

// came is a record, and the attempt that it came as.
type came struct {
	record  lease.ID
	attempt int
}

const (
	mostDeliveries = 4  // MaxDeliveries of the tests of two groups
	perPartition   = 10 // records that they produce
)

// Groups that fail whatever they are given copy each other's copies, but they count on over
// all of them: that comes to an end, the same for every record.
func TestTwoGroupsThatFailComeToAnEnd(t *testing.T) {
	for _, two := range [][]*party{
		{{name: "markers", fails: true}, {name: "more-markers", fails: true}},
		{{name: "markers", fails: true}, {name: "offsetmap", maps: true, fails: true}},
		{{name: "offsetmap", maps: true, fails: true}, {name: "more-offsetmap", maps: true, fails: true}},
	} {
		t.Run(two[0].name+" and "+two[1].name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { comeToAnEnd(t, newWorld(t, 2, failing), two) })
		})
	}
}

// A group that acknowledges everything has it done, with the copies of one that fails, and
// takes none from that one.
func TestAGroupThatFailsBesideOneThatAcknowledges(t *testing.T) {
	oneFails(t, func(t *testing.T, f func(*testing.T, *world)) {
		synctest.Test(t, func(t *testing.T) { f(t, newWorld(t, 2, failing)) })
	})
}

func oneFails(t *testing.T, on func(*testing.T, func(*testing.T, *world))) {
	for _, two := range [][]*party{
		{{name: "markers", fails: true}, {name: "more-markers"}},
		{{name: "offsetmap", maps: true, fails: true}, {name: "markers"}},
	} {
		t.Run(two[0].name+" beside "+two[1].name, func(t *testing.T) {
			on(t, func(t *testing.T, w *world) { comeToAnEnd(t, w, two) })
		})
	}
}

// failing is the configuration of those tests: nothing but what a group gives back comes
// again.
func failing(c *engine.Config) {
	c.Visibility, c.SessionTimeout = 5*time.Minute, 30*time.Second
	c.MaxDeliveries, c.DeadLetterTopic = mostDeliveries, c.Topic+"-dead"
}

// comeToAnEnd has groups work on the records of two partitions until nothing is left, and
// compares what there is then. Where f of them fail, a record is in the topic once as its
// first attempt, and f times as often as each next one. All groups are given all of that,
// and what comes as the last attempt is a dead letter of each group that fails.
func comeToAnEnd(t *testing.T, w *world, groups []*party) {
	for partition := range int32(2) {
		w.produce(partition, perPartition)
	}
	f := 0
	for _, p := range groups {
		p.join(w)
		if p.fails {
			f++
		}
	}
	places := 0 // of one record
	for attempt := 1; attempt <= mostDeliveries; attempt++ {
		places += times(f, attempt)
	}
	ctx, stop := context.WithCancel(w.ctx)
	var work sync.WaitGroup
	for _, p := range groups {
		work.Go(func() { p.work(ctx) })
	}
	halt := func() { stop(); work.Wait() }
	t.Cleanup(halt) // where the test ends before
	atRest(w, groups, int64(perPartition*places))
	halt()

	letters := w.letters()
	for _, p := range groups {
		p.sawAll(f)
		want := 0
		if p.fails {
			want = times(f, mostDeliveries)
		}
		for id := range w.ids() {
			if got := letters[p.cfg.Group][id]; got != want {
				t.Errorf("%s: record %v has %d dead letters, want %d", p.name, id, got, want)
			}
		}
		dead := int64(want * len(w.ids()))
		w.until(p.name+": the dead letters are counted", func() bool { return p.q.Counts().DeadLettered >= dead }) // after their ends
		if c := p.q.Counts(); c.InFlight+int(c.Missing+c.Lost+c.Expired) > 0 || c.DeadLettered != dead {
			t.Errorf("%s: %+v", p.name, c)
		}
	}
	if len(letters) != f {
		t.Errorf("dead letters of %d groups, and %d fail", len(letters), f)
	}
}

// times is how often a record is in the topic as an attempt, where f groups fail.
func times(f, attempt int) int {
	n := 1
	for range attempt - 1 {
		n *= f
	}
	return n
}

// join opens the queue of a group.
func (p *party) join(w *world) {
	w.Helper()
	p.world, p.got = *w, map[came]int{}
	p.cfg.Group += "-" + p.name
	if !p.maps {
		p.q = p.open()
		return
	}
	q, err := offsetmap.New(p.ctx, p.cfg)
	if err != nil {
		w.Fatalf("open: %v", err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = q.Close(ctx)
	})
	p.q = q
}

// work settles what comes until ctx ends.
func (p *party) work(ctx context.Context) {
	for {
		ls, err := engine.Receive(ctx, p.q, 50)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				p.Errorf("%s: receive: %v", p.name, err)
			}
			return
		}
		for _, l := range ls {
			p.got[came{l.Origin, l.Attempt}]++
			if p.fails {
				err = p.q.Nack(p.ctx, l, 0)
			} else {
				err = p.q.Ack(p.ctx, l)
			}
			if err != nil {
				p.Errorf("%s: settle %v: %v", p.name, l.Origin, err)
			}
		}
	}
}

// atRest waits until each group has done with all of the topic, so that none writes to it
// any more, and fails at once where there is more than there may be.
func atRest(w *world, groups []*party, most int64) {
	w.Helper()
	w.until("both groups have done with all of the topic", func() bool {
		ends := w.ends()
		for partition, end := range ends {
			if end > most {
				w.Fatalf("%d records in partition %d, of which there may be %d: they bounce", end, partition, most)
			}
		}
		for partition, end := range ends {
			for _, p := range groups {
				if !p.doneWith(partition, end) {
					return false
				}
			}
		}
		for partition, end := range w.ends() {
			if end != ends[partition] {
				return false // it was written while we looked
			}
			if end != most {
				w.Errorf("%d records in partition %d at last, want %d", end, partition, most)
			}
		}
		return true
	})
}

// ends are the ends of the partitions of the queue's topic.
func (w *world) ends() map[int32]int64 {
	w.Helper()
	listed, err := w.adm.ListEndOffsets(w.ctx, w.cfg.Topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		w.Fatal(err)
	}
	all := map[int32]int64{}
	for partition, o := range listed[w.cfg.Topic] {
		all[partition] = o.Offset
	}
	return all
}

// doneWith is whether the group has taken, and settled, all of a partition up to its end,
// by markers of its own where it has such.
func (p *party) doneWith(partition int32, end int64) bool {
	p.Helper()
	if p.committed(p.cfg.Group, p.cfg.Topic, partition) != end {
		return false
	}
	if p.maps {
		return true // its commits are of what is settled
	}
	ended := map[int64]int{}
	for _, m := range p.markers(partition) {
		if m.Type != marker.End || m.Group != marker.Of(p.cfg.Group) {
			continue
		}
		for offset := m.Offset; offset < m.Offset+int64(m.Count); offset++ {
			if ended[offset]++; ended[offset] > 1 {
				p.Fatalf("%s: partition %d, offset %d has ended twice", p.name, partition, offset)
			}
		}
	}
	return int64(len(ended)) == end
}

// ids are the places of the records that were produced.
func (w *world) ids() map[lease.ID]bool {
	all := map[lease.ID]bool{}
	for partition := range int32(2) {
		for offset := range int64(perPartition) {
			all[lease.ID{Partition: partition, Offset: offset}] = true
		}
	}
	return all
}

// sawAll looks whether the group was given each record as each attempt, as often as f
// groups that fail have written it, and nothing else.
func (p *party) sawAll(f int) {
	p.Helper()
	for attempt := 1; attempt <= mostDeliveries; attempt++ {
		for id := range p.ids() {
			if got := p.got[came{id, attempt}]; got != times(f, attempt) {
				p.Errorf("%s: record %v came %d times as attempt %d, want %d", p.name, id, got, attempt, times(f, attempt))
			}
		}
	}
	if want := mostDeliveries * len(p.ids()); len(p.got) != want {
		p.Errorf("%s: %d records and attempts, want %d", p.name, len(p.got), want)
	}
}

// letters are the dead letters: how many each group has written of each record.
func (w *world) letters() map[string]map[lease.ID]int {
	w.Helper()
	all := map[string]map[lease.ID]int{}
	for partition := range int32(2) {
		for _, r := range w.read(w.cfg.DeadLetterTopic, partition) {
			headers := map[string]string{}
			for _, h := range r.Headers {
				headers[h.Key] = string(h.Value)
			}
			id, ok := lease.ParseOrigin([]byte(headers[lease.HeaderOrigin]))
			if n := headers[lease.HeaderDeliveries]; !ok || n != strconv.Itoa(mostDeliveries) || lease.Reason(r) != fmt.Sprintf("delivered %d times", mostDeliveries) {
				w.Errorf("dead letter %d of partition %d: %q", r.Offset, partition, headers)
			}
			group := headers[lease.HeaderGroup]
			if all[group] == nil {
				all[group] = map[lease.ID]int{}
			}
			all[group][id]++
		}
	}
	return all
}

// What a group was never handed it does not give up, though another was handed it more often
// than this one allows.
func TestALowerLimitGivesNothingUpUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, failing)
		w.produce(0, 5)
		a, b := &party{name: "fails", fails: true}, &party{name: "acks", maps: true}
		a.join(w)
		w.cfg.MaxDeliveries = 2
		b.join(w)
		ctx, stop := context.WithCancel(w.ctx)
		var work sync.WaitGroup
		work.Go(func() { a.work(ctx) })
		work.Go(func() { b.work(ctx) })
		w.until("the failing group is through", func() bool { return a.q.Counts().DeadLettered == 5 })
		w.until("the other has all", func() bool { return w.committed(b.cfg.Group, w.cfg.Topic, 0) == 20 })
		stop()
		work.Wait()
		if c := b.q.Counts(); c.DeadLettered != 0 {
			t.Errorf("it acknowledged all that it was handed, and gave up %d", c.DeadLettered)
		}
	})
}
