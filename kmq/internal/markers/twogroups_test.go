package markers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Two groups work on one topic. What each of them receives is what it makes of its own deliveries, whatever the other
// does, and the topic has what was produced and nothing else.

// ending is what a handler does with a delivery.
type ending int

const (
	acks ending = iota
	nacks
	nacksWithDelay
	isSilent // the lock expires
	rejects
	unhands // a shutdown interrupts the handler
	endings
)

// plan is what a group makes of the attempts of each record, in order; it acknowledges those without a plan.
type plan map[lease.ID][]ending

// came is a record, and the attempt that it came as.
type came struct {
	record  lease.ID
	attempt int
}

// expected returns how often each attempt of each record comes, and how often a record became a dead letter.
func (p plan) expected() (deliveries map[came]int, dead map[lease.ID]int) {
	deliveries, dead = map[came]int{}, map[lease.ID]int{}
	for id := range producedIDs() {
		attempt := 1
		for i := 0; ; i++ {
			deliveries[came{id, attempt}]++
			does := p.ending(id, i)
			if does == rejects || does != acks && does != unhands && attempt == mostDeliveries {
				dead[id]++
				break
			}
			if does == acks {
				break
			}
			if does != unhands {
				attempt++
			}
		}
	}
	return deliveries, dead
}

func (p plan) ending(id lease.ID, delivery int) ending {
	if of := p[id]; delivery < len(of) {
		return of[delivery]
	}
	return acks
}

// always is the plan of a group that makes the same of everything.
func always(does ending) plan {
	all := plan{}
	for id := range producedIDs() {
		for range mostDeliveries {
			all[id] = append(all[id], does)
		}
	}
	return all
}

var plans = rapid.Custom(func(t *rapid.T) plan {
	all := plan{}
	for id := range producedIDs() {
		all[id] = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, int(endings)-1), func(n int) ending { return ending(n) }), 0, 6).Draw(t, id.String())
	}
	return all
})

func producedIDs() map[lease.ID]bool {
	all := map[lease.ID]bool{}
	for partition := range int32(2) {
		for offset := range int64(perPartition) {
			all[lease.ID{Partition: partition, Offset: offset}] = true
		}
	}
	return all
}

const (
	mostDeliveries = 4  // MaxDeliveries of the tests of two groups
	perPartition   = 10 // records that they produce
)

func TestGroupsThatFailAtRandomAreIndependent(t *testing.T) {
	for seed := range 8 {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				two := [2]plan{plans.Example(2 * seed), plans.Example(2*seed + 1)}
				workBeside(t, newWorld(t, 2, failing), two)
			})
		})
	}
}

func TestTwoGroupsThatFailAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workBeside(t, newWorld(t, 2, failing), [2]plan{always(nacks), always(nacks)})
	})
}

func TestAGroupThatFailsBesideOneThatAcknowledges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workBeside(t, newWorld(t, 2, failing), [2]plan{always(nacks), always(acks)})
	})
}

func failing(c *engine.Config) {
	c.Visibility, c.SessionTimeout, c.MaxDeliveries = 5*time.Second, 30*time.Second, mostDeliveries
}

// workBeside has two groups work until everything is settled, and compares what they received with their plans.
func workBeside(t *testing.T, w *world, plans [2]plan) {
	for partition := range int32(2) {
		w.produce(partition, perPartition)
	}
	var parties []*party
	ctx, stop := context.WithCancel(w.ctx)
	var work sync.WaitGroup
	halt := func() { stop(); work.Wait() }
	t.Cleanup(halt) // if the test ends before
	for i, does := range plans {
		p := joinGroup(w, fmt.Sprint("group-", i), does)
		parties = append(parties, p)
		work.Go(func() { p.work(ctx) })
	}
	for _, p := range parties {
		p.compare()
	}
	halt()
	for partition := range int32(2) {
		if n := len(w.read(w.cfg.Topic, partition)); n != perPartition {
			t.Errorf("%d records in partition %d, and %d were produced", n, partition, perPartition)
		}
	}
}

// party is a group of its own on the topic of a world.
type party struct {
	world
	does plan
	q    *queue

	mu  sync.Mutex
	got map[came]int
	n   map[lease.ID]int // deliveries of a record
}

func joinGroup(w *world, name string, does plan) *party {
	w.Helper()
	p := &party{world: *w, does: does, got: map[came]int{}, n: map[lease.ID]int{}}
	p.cfg.Group += "-" + name
	p.cfg.RetryTopic, p.cfg.DeadLetterTopic = engine.RetryTopic(p.cfg.Topic, name), engine.DeadLetterTopic(p.cfg.Topic, name)
	p.q = p.open()
	return p
}

// work settles what comes until ctx ends.
func (p *party) work(ctx context.Context) {
	for {
		ls, err := engine.Receive(ctx, p.q, 50)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				p.Errorf("%s: receive: %v", p.cfg.Group, err)
			}
			return
		}
		for _, l := range ls {
			if err := p.settle(l); err != nil {
				p.Errorf("%s: settle %v: %v", p.cfg.Group, l.Origin(), err)
			}
		}
	}
}

func (p *party) settle(l *lease.Lease) error {
	p.mu.Lock()
	p.got[came{l.Origin(), l.Attempt}]++
	does := p.does.ending(l.Origin(), p.n[l.Origin()])
	p.n[l.Origin()]++
	p.mu.Unlock()
	if r := l.Record; r.Topic != p.cfg.Topic || r.Partition != l.Origin().Partition || r.Offset != l.Origin().Offset || len(r.Headers) != 1 {
		p.Errorf("%s: %v comes as %+v", p.cfg.Group, l.Origin(), r)
	}
	switch does {
	case nacks:
		return p.q.Nack(p.ctx, l, 0)
	case nacksWithDelay:
		return p.q.Nack(p.ctx, l, 3*time.Second)
	case isSilent:
		return nil
	case rejects:
		return p.q.Reject(p.ctx, l, "hopeless")
	case unhands:
		return p.q.Unhand(p.ctx, l, 0)
	default:
		return p.q.Ack(p.ctx, l)
	}
}

// compare waits until the group has received and given up what it must, and longer than anything may take to come again.
func (p *party) compare() {
	p.Helper()
	deliveries, dead := p.does.expected()
	received := func() map[came]int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return maps.Clone(p.got)
	}
	p.until(p.cfg.Group+" is through", func() bool {
		n := 0
		for _, times := range received() {
			n += times
		}
		want := 0
		for _, times := range deliveries {
			want += times
		}
		return n >= want && p.q.Counts().DeadLettered >= int64(len(dead))
	})
	time.Sleep(3 * p.cfg.Visibility)
	if got := received(); !maps.Equal(got, deliveries) {
		p.Errorf("%s: deliveries %v, want %v", p.cfg.Group, got, deliveries)
	}
	if got := p.deadLetters(); !maps.Equal(got, dead) {
		p.Errorf("%s: dead letters %v, want %v", p.cfg.Group, got, dead)
	}
	if c := p.q.Counts(); c.InFlight+int(c.Missing+c.Lost) > 0 || c.DeadLettered != int64(len(dead)) {
		p.Errorf("%s: %+v", p.cfg.Group, c)
	}
}

// deadLetters returns how many dead letters there are of each record.
func (p *party) deadLetters() map[lease.ID]int {
	p.Helper()
	all := map[lease.ID]int{}
	for partition := range int32(2) {
		for _, r := range p.read(p.cfg.DeadLetterTopic, partition) {
			headers := map[string]string{}
			for _, h := range r.Headers {
				headers[h.Key] = string(h.Value)
			}
			id, ok := lease.ParseOrigin([]byte(headers[lease.HeaderOrigin]))
			rejected := lease.Reason(r) == "hopeless"
			spent := headers[lease.HeaderDeliveries] == strconv.Itoa(mostDeliveries) && lease.Reason(r) == fmt.Sprintf("delivered %d times", mostDeliveries)
			if !ok || !rejected && !spent || headers[lease.HeaderGroup] != p.cfg.Group || headers[lease.HeaderTopic] != p.cfg.Topic {
				p.Errorf("dead letter %d of partition %d: %q", r.Offset, partition, headers)
			}
			all[id]++
		}
	}
	return all
}
