package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
	"kafkabench.example/kafka-bench/kmq/internal/offsetmap"
	"kafkabench.example/kafka-bench/kmq/internal/plain"
	"kafkabench.example/kafka-bench/kmq/internal/share"
)

// System is a topic, and engines of one group for it, one at a time.
type System struct {
	Open        func(visibility time.Duration, maxDeliveries int) engine.Engine
	Produce     func() lease.ID           // one record
	DeadLetters func(n int) []*kgo.Record // waits for n of them
}

// CompareWithModel does the same random operations with models of some records and with an engine that can do what one
// of kmq can. Start returns a new System.
func CompareWithModel(t testing.TB, like kmq.Engine, start func() System) {
	// In a bubble, rapid must not ask a *testing.T for its deadline.
	rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) {
		c := &comparison{system: start(), can: abilities[like], models: make(map[lease.ID]*model)}
		if c.can.lend {
			c.visibility = 10 * time.Second
		}
		if c.can.limit {
			c.limit = rapid.IntRange(1, 5).Draw(t, "deliveries")
		}
		c.engine = c.system.Open(c.visibility, c.limit)
		defer func() { _ = c.engine.Close(context.Background()) }()
		t.Repeat(map[string]func(*rapid.T){
			"produce": func(*rapid.T) { c.produce() },
			"take":    func(t *rapid.T) { c.take(t, rapid.IntRange(1, 3).Draw(t, "n"), time.Second) },
			"lend":    func(t *rapid.T) { c.lend(t, c.choose(t, taken)) },
			"return":  func(t *rapid.T) { c.giveBack(t, c.choose(t, taken)) },
			"unhand":  func(t *rapid.T) { c.unhand(t, c.choose(t, lent)) },
			"settle":  func(t *rapid.T) { c.settle(t, c.choose(t, lent)) },
			"settle again": func(t *rapid.T) {
				if len(c.ended) == 0 {
					t.Skip("nothing has ended")
				}
				c.settle(t, rapid.SampledFrom(c.ended).Draw(t, "hand"))
			},
			"wait": func(t *rapid.T) {
				time.Sleep(time.Duration(rapid.SampledFrom([]int{1, 4, 25}).Draw(t, "seconds")) * time.Second)
				c.pass()
			},
			"reopen": func(t *rapid.T) {
				switch {
				case !c.can.exact:
					t.Skip("what is settled beyond an open record comes again")
				case c.brokersLock():
					t.Skip("the brokers count what they sent, whether it was lent or not")
				}
				c.reopen(t)
			},
		})
		c.finish(t)
	})
}

type comparison struct {
	system     System
	can        able
	visibility time.Duration
	limit      int
	engine     engine.Engine
	models     map[lease.ID]*model
	current    []*delivered // taken or lent
	ended      []*delivered
}

// delivered is a delivery as the engine and as the model have it.
type delivered struct {
	*hand
	lease *lease.Lease
}

// brokersLock reports whether the brokers lock and count a record when they send it.
func (c *comparison) brokersLock() bool { return c.can.limit && !c.can.unhand }

func (c *comparison) produce() {
	c.models[c.system.Produce()] = &model{can: c.can, limit: c.limit}
}

// pass tells the models the time.
func (c *comparison) pass() {
	for _, m := range c.models {
		m.pass(time.Now())
	}
	c.sort()
}

// sort moves deliveries that have ended.
func (c *comparison) sort() {
	current := c.current[:0]
	for _, d := range c.current {
		if d.ended == nil {
			current = append(current, d)
		} else {
			c.ended = append(c.ended, d)
		}
	}
	c.current = current
}

// choose returns a delivery whose record has this state.
func (c *comparison) choose(t *rapid.T, s state) *delivered {
	var all []*delivered
	for _, d := range c.current {
		if d.of.state == s {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		t.Skip("no record is", s)
	}
	return rapid.SampledFrom(all).Draw(t, "hand")
}

func (c *comparison) take(t *rapid.T, most int, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	leases, err := c.engine.Take(ctx, most)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("take: %v", err)
	}
	c.pass()
	for _, l := range leases {
		m := c.models[l.Origin()]
		if m == nil {
			t.Fatalf("record %v came, which nobody produced", l.Origin())
		}
		h, err := m.take()
		if err != nil {
			t.Fatalf("record %v came, attempt %d: %v; now it is %v", l.Origin(), l.Attempt, err, time.Now())
		}
		d := &delivered{h, l}
		if c.current = append(c.current, d); !c.can.beyond {
			c.lend(t, d)
		}
	}
}

func (c *comparison) lend(t *rapid.T, d *delivered) {
	leases, err := c.engine.Lend(context.Background(), []*lease.Lease{d.lease}, nil)
	if err != nil || len(leases) != 1 {
		t.Fatalf("lend %v: %d leases, %v", d.lease.Origin(), len(leases), err)
	}
	until := d.lease.Deadline()
	left := time.Until(until)
	if c.can.lend && (left < c.visibility/2 || left > c.visibility) || !c.can.lend && !until.IsZero() {
		t.Fatalf("record %v is lent until %v, for %v of %v", d.lease.Origin(), until, left, c.visibility)
	}
	if want := d.hand.lend(until); d.lease.Attempt != want {
		t.Fatalf("record %v is lent as attempt %d, want %d", d.lease.Origin(), d.lease.Attempt, want)
	}
}

func (c *comparison) giveBack(t *rapid.T, d *delivered) {
	c.engine.Return([]*lease.Lease{d.lease})
	if err := d.hand.giveBack(); err != nil {
		t.Fatal(err)
	}
	c.current = without(c.current, d) // the next delivery may have the same lease
}

func without(all []*delivered, d *delivered) (rest []*delivered) {
	for _, other := range all {
		if other != d {
			rest = append(rest, other)
		}
	}
	return rest
}

func (c *comparison) unhand(t *rapid.T, d *delivered) {
	if !c.can.unhand {
		t.Skip("the engine cannot")
	}
	c.away(d)
	got := c.engine.(engine.Unhander).Unhand(context.Background(), d.lease, 0)
	c.compare(t, d, "unhand", got, d.hand.giveBack())
}

// away lets a lock that is about to expire do so, since an operation may take time.
func (c *comparison) away(d *delivered) {
	if left := time.Until(d.of.until); d.ended == nil && !d.of.until.IsZero() && left < time.Second {
		time.Sleep(left)
		c.pass()
	}
}

func (c *comparison) compare(t *rapid.T, d *delivered, what string, got, want error) {
	if err := agree(what, got, want); err != nil {
		t.Fatalf("record %v, attempt %d: %v", d.lease.Origin(), d.lease.Attempt, err)
	}
	c.sort()
}

// settle calls a random operation of a lent record, or of an ended delivery.
func (c *comparison) settle(t *rapid.T, d *delivered) {
	c.away(d)
	ctx, e, now := context.Background(), c.engine, time.Now()
	long := time.Duration(rapid.IntRange(0, 30).Draw(t, "seconds")) * time.Second
	switch how := rapid.SampledFrom([]string{"ack", "nack", "reject", "extend"}).Draw(t, "how"); how {
	case "ack":
		c.compare(t, d, how, e.Ack(ctx, d.lease), d.ack())
	case "nack":
		c.compare(t, d, how, e.Nack(ctx, d.lease, long), d.nack(now, long))
	case "reject":
		why := fmt.Sprintf("no, in attempt %d", d.lease.Attempt)
		c.compare(t, d, how, e.Reject(ctx, d.lease, why), d.reject(why))
	case "extend":
		long += time.Second
		got := e.Extend(ctx, d.lease, long)
		until := d.lease.Deadline()
		if got == nil && (until.Before(now.Add(long)) || until.After(time.Now().Add(long))) {
			t.Fatalf("record %v is extended until %v, by %v at %v", d.lease.Origin(), until, long, now)
		}
		c.compare(t, d, how, got, d.extend(until))
	}
}

func (c *comparison) reopen(t *rapid.T) {
	c.close(t)
	c.engine = c.system.Open(c.visibility, c.limit)
}

func (c *comparison) close(t *rapid.T) {
	c.pass()
	err := c.engine.Close(context.Background())
	if c.brokersLock() && errors.Is(err, lease.ErrLost) {
		err = nil // as documented: brokers may refuse the release of a record whose lock expires at the same time
	}
	if err != nil {
		t.Fatalf("close: %v", err)
	}
	for _, m := range c.models {
		m.reopen()
	}
	c.sort()
	for _, d := range c.ended {
		if errors.Is(d.ended, lease.ErrLost) {
			c.compare(t, d, "ack after close", c.engine.Ack(context.Background(), d.lease), d.ack())
		}
	}
	c.ended = nil // another engine knows nothing of them
}

// finish acknowledges what is still open, and compares the dead letters.
func (c *comparison) finish(t *rapid.T) {
	for c.count(func(m *model) bool { return m.open() }) > 0 {
		c.pass()
		for _, d := range append([]*delivered(nil), c.current...) {
			if d.of.state == taken {
				c.lend(t, d)
			}
			c.away(d)
			c.compare(t, d, "ack", c.engine.Ack(context.Background(), d.lease), d.ack())
		}
		if open := c.count(func(m *model) bool { return m.open() }); open > 0 {
			if c.take(t, 10, patience); len(c.current) == 0 {
				c.pass()
				if again := c.count(func(m *model) bool { return m.open() }); again == open {
					t.Fatalf("%d records do not come: %v", open, c.states())
				}
			}
		}
	}
	died := c.count(func(m *model) bool { return m.state == dead })
	for _, r := range c.system.DeadLetters(died) {
		id, _ := lease.ParseOrigin(header(r, lease.HeaderOrigin))
		m := c.models[id]
		if m == nil || m.state != dead || m.why != string(header(r, lease.HeaderReason)) ||
			fmt.Sprint(m.deliveries) != string(header(r, lease.HeaderDeliveries)) {
			t.Fatalf("the dead letter of %v has the headers %q, the model is %+v", id, r.Headers, m)
		}
		m.why = "" // only once
	}
	c.reopen(t)
	c.take(t, 10, moment)
	if s := c.engine.Counts(); len(c.current) > 0 || s.InFlight != 0 {
		t.Fatalf("when all have ended: %+v", s)
	}
}

func (c *comparison) count(which func(*model) bool) (n int) {
	for _, m := range c.models {
		if which(m) {
			n++
		}
	}
	return n
}

func (c *comparison) states() map[lease.ID]string {
	out := make(map[lease.ID]string)
	for id, m := range c.models {
		out[id] = fmt.Sprintf("%v until %v, delivered %d times", m.state, m.until, m.deliveries)
	}
	return out
}

// agreesWithModel compares an engine of kmq.
func agreesWithModel(w *world) {
	open := map[kmq.Engine]engine.Opener{
		kmq.Plain{}: plain.New, kmq.Markers{}: markers.New, kmq.OffsetMap{}: offsetmap.New, kmq.Share{}: share.New,
	}[w.Engine]
	w.ctx = context.Background() // virtual time has no end
	name, n := w.topic, 0
	CompareWithModel(w, w.Engine, func() System {
		n++
		w.topic, w.dead, w.group = fmt.Sprintf("%s-%d", name, n), fmt.Sprintf("%s-%d-dead", name, n), fmt.Sprintf("%s-%d-group", name, n)
		w.create(w.topic, partitions)
		produced := 0
		return System{
			Open: func(visibility time.Duration, maxDeliveries int) engine.Engine {
				var e engine.Engine
				ctx := engine.WithOpener(w.ctx, func(_ context.Context, cfg engine.Config) (_ engine.Engine, err error) {
					e, err = open(w.ctx, cfg)
					return e, err
				})
				_, err := kmq.Open(ctx, w.config(w.withDead, lendFor(visibility), func(c *kmq.Config) {
					c.MaxDeliveries = maxDeliveries
				}))
				if err != nil {
					w.Fatalf("open: %v", err)
				}
				return e
			},
			Produce: func() lease.ID {
				produced++
				return lease.ID(w.produce(1, func(_ int, r *kgo.Record) { r.Partition = int32(produced % partitions) })[0])
			},
			DeadLetters: w.deadLetters,
		}
	})
}
