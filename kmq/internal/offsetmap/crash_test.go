package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// In the end every record is acknowledged or a dead letter, or its log was cut, and no committed acknowledgement is
// delivered again. A record that was given up was delivered MaxDeliveries times. Invariants 1, 4, 5 and 7.
func TestCrashes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var failed any // rapid's failures are panics
		synctest.Test(t, func(*testing.T) {
			defer func() { failed = recover() }()
			crash(r)
		})
		switch fmt.Sprintf("%T", failed) {
		case "<nil>":
		case "rapid.invalidData":
			panic(failed)
		default: // rapid tells failures apart by their lines
			panic(failed)
		}
	})
}

func crash(t *rapid.T) {
	cfg := testConfig()
	cfg.MaxInFlight = rapid.SampledFrom([]int{1, 7, 40}).Draw(t, "in flight")
	cfg.InPlace = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "in place") // 0: each delay moves a record
	cfg.RetryBytes = rapid.SampledFrom([]int{1, 20, 1 << 20}).Draw(t, "bytes")
	cfg.MaxDeliveries = rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "deliveries")
	all := []int32{0, 1, lease.Retry(0), lease.Retry(1)}
	if rapid.IntRange(0, 3).Draw(t, "ordered") == 0 {
		cfg.RetryTopic, all = "", all[:2]
	}
	limit := rapid.SampledFrom([]int{0, 12, 16, 60, 4096}).Draw(t, "limit")
	c := newCrashes(cfg, limit)
	defer func() { c.halt() }()
	c.assignAll(all...)
	t.Repeat(map[string]func(*rapid.T){
		"produce": func(t *rapid.T) {
			c.gap = rapid.SampledFrom([]int64{0, 0, 1, 70, 20_000}).Draw(t, "gap")
			c.add(rapid.IntRange(1, 30).Draw(t, "n"))
		},
		"poll":    func(*rapid.T) { c.poll() },
		"receive": func(t *rapid.T) { c.take(t, rapid.IntRange(1, 20).Draw(t, "n")) },
		"settle": func(t *rapid.T) {
			for range rapid.IntRange(1, 15).Draw(t, "n") {
				c.settle(t, rapid.IntRange(0, 1000).Draw(t, "which"), rapid.IntRange(0, 12).Draw(t, "how"))
			}
		},
		"park":   func(t *rapid.T) { c.park(rapid.IntRange(1, 20).Draw(t, "n")) },
		"unpark": func(t *rapid.T) { c.unpark(rapid.IntRange(1, 20).Draw(t, "n")) },
		"reread": func(*rapid.T) { c.readOnce() },
		"sleep": func(t *rapid.T) {
			c.sleep(rapid.SampledFrom([]time.Duration{time.Millisecond, 5 * time.Second, time.Minute, time.Hour}).Draw(t, "time"))
		},
		"refuse": func(t *rapid.T) {
			topic := rapid.SampledFrom([]string{"", "dead", retryTopic}).Draw(t, "topic")
			why := rapid.SampledFrom([]error{kerr.TopicAuthorizationFailed, kerr.MessageTooLarge, kerr.NotLeaderForPartition}).Draw(t, "why")
			c.refusing(func(r *kgo.Record) error {
				if r.Topic == topic {
					return why
				}
				return nil
			})
		},
		"move": func(t *rapid.T) {
			c.keeping(rapid.Bool().Draw(t, "outcome later"))
			c.move()
		},
		"outcomes": func(*rapid.T) { c.tellKept() },
		"commit":   func(*rapid.T) { c.commitNow() },
		"cut": func(t *rapid.T) {
			p := rapid.SampledFrom(all).Draw(t, "partition")
			if n := len(c.logs[p]); n > 0 && rapid.IntRange(0, 3).Draw(t, "really") == 0 {
				c.truncate(p, rapid.IntRange(max(0, n-20), n-1).Draw(t, "at"))
			}
		},
		"revoke": func(t *rapid.T) {
			c.refusing(nil)
			c.tellKept()
			c.keeping(false)
			for c.readOnce() { // Flush would wait for the moves
				c.move()
			}
			c.move()
			p := rapid.SampledFrom(all).Draw(t, "partition")
			c.revoke(p)
			c.nowDurable(p)
			c.assignAll(p)
		},
		"crash": func(*rapid.T) {
			c.halt()
			c.kept, c.mine, c.parked, c.since = nil, nil, nil, nil
			for k, n := range c.unhanded {
				c.begun[k] += n
			}
			clear(c.unhanded)
			c.open(cfg, limit)
			c.assignAll(all...)
		},
		"": func(t *rapid.T) { c.check(t) },
	})
	c.finishAll(t)
}

func (c *crashes) check(t *rapid.T) {
	all, held, bytes := 0, 0, 0
	for _, p := range c.partitions {
		checkRuns(t, p)
		all += p.window.Open() + len(p.held)
		held += len(p.held)
		for _, r := range p.runs {
			for i := range r.slots {
				if s := &r.slots[i]; s.marks&kept != 0 {
					bytes += s.lease.Bytes()
				}
			}
		}
	}
	if all != c.set.Len()+c.set.Excused() || held != c.held {
		t.Fatalf("%d records are kept, %d in flight, %d wait; %d are held, %d counted", all, c.set.Len(), c.set.Excused(), held, c.held)
	}
	if bytes != c.waitingBytes || bytes > c.cfg.RetryBytes {
		t.Fatalf("%d bytes wait, counted are %d, at most %d", bytes, c.waitingBytes, c.cfg.RetryBytes)
	}
}

// A partition's memory depends only on its open records.
func checkRuns(t *rapid.T, p *partition) {
	open, spent := 0, 0
	for _, r := range p.runs {
		n := 0
		for i := range r.slots {
			if s := &r.slots[i]; s.phase > void {
				n++
			} else if s.phase == done && s.lease != nil {
				t.Fatalf("a record that is done is kept: %v", s.lease.At)
			}
		}
		if n != r.open {
			t.Fatalf("%d slots are open, counted are %d", n, r.open)
		}
		if open += n; n == 0 {
			spent++
		}
	}
	if open != p.window.Open()+len(p.held) {
		t.Fatalf("%d slots for %d open records and %d held", open, p.window.Open(), len(p.held))
	}
	if spent != p.spent || spent*2 > len(p.runs) || len(p.runs) > 0 && p.runs[0].open == 0 {
		t.Fatalf("%d of %d runs are spent, counted are %d", spent, len(p.runs), p.spent)
	}
}

// crashes records what was acknowledged and committed.
type crashes struct {
	*world
	produced int
	mine     []*lease.Lease
	parked   []*lease.Lease
	acked    map[string]bool
	begun    map[string]int // deliveries that count
	unhanded map[string]int // deliveries that do not, unless the process dies before the next commit
	since    []lease.ID     // since this process's last commit
	durable  map[lease.ID]bool
	lost     map[string]bool // with a part of a log
	cuts     map[int32]int64 // of logs, which the commits do not know of
}

func newCrashes(cfg engine.Config, limit int) *crashes {
	return &crashes{
		world: newWorld(cfg, limit), durable: map[lease.ID]bool{}, acked: map[string]bool{}, begun: map[string]int{}, unhanded: map[string]int{},
		lost: map[string]bool{}, cuts: map[int32]int64{},
	}
}

func (c *crashes) add(n int) {
	for range n {
		c.append(&kgo.Record{Topic: testTopic, Partition: int32(c.produced % 2), Key: fmt.Append(nil, c.produced)})
		c.produced++
	}
}

// assignAll does what a member does if logs were cut below what is committed.
func (c *crashes) assignAll(partitions ...int32) {
	c.assign(partitions...)
	for _, p := range partitions {
		end, _ := c.h.Mapped(p)
		if at, ok := c.cuts[p]; ok && end > at {
			c.h.Cut(p, at)
			c.world.read[p] = min(c.world.read[p], at)
		}
	}
}

func (c *crashes) truncate(p int32, n int) {
	log := c.logs[p]
	at := log[n].Offset
	for _, r := range log[n:] {
		c.lost[string(r.Key)] = true
	}
	c.logs[p] = log[:n:n]
	if n > 0 {
		at = log[n-1].Offset + 1
	} else { // the log still begins there
		c.logs[p] = append(c.logs[p], &kgo.Record{Topic: testTopic, Partition: p, Offset: at, Key: fmt.Append(nil, c.produced)})
		c.produced++
	}
	gone := func(id lease.ID) bool { return id.Partition == p && id.Offset >= at }
	maps.DeleteFunc(c.durable, func(id lease.ID, _ bool) bool { return gone(id) })
	c.since = slices.DeleteFunc(c.since, gone)
	if before, ok := c.cuts[p]; !ok || at < before {
		c.cuts[p] = at
	}
	if end, _ := c.h.Mapped(p); c.world.read[p] > at || end > at {
		c.h.Cut(p, at)
		c.world.read[p] = min(c.world.read[p], at)
	}
}

// lend lends as Engine.Lend does, but does not wait.
func (c *crashes) lend(n int) []*lease.Lease {
	some := c.pop(n)
	if !c.careful.Load() {
		return c.set.Lend(some, time.Now().Add(c.cfg.Visibility))
	}
	now, _ := c.choose(some)
	if c.pledges(now) {
		c.commitNow()
	}
	for _, p := range c.partitions {
		p.flagged = p.flagged || p.commit.At >= 0
	}
	c.Push(slices.DeleteFunc(some, func(l *lease.Lease) bool { return slices.Contains(now, l) })...)
	lent := c.set.Lend(slices.Clone(now), time.Now().Add(c.cfg.Visibility))
	c.unpledge(now)
	return lent
}

func (c *crashes) pop(n int) []*lease.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = slices.DeleteFunc(c.ready, func(l *lease.Lease) bool { return l.State() != lease.Open })
	some := slices.Clone(c.ready[:min(n, len(c.ready))])
	c.ready = c.ready[len(some):]
	return some
}

func (c *crashes) take(t *rapid.T, n int) {
	for _, l := range c.lend(n) {
		if c.durable[l.At] {
			t.Fatalf("%v was acknowledged and committed, and is delivered again", l.At)
		}
		if most := c.cfg.MaxDeliveries; most > 0 && l.Attempt > most {
			t.Fatalf("the %d. delivery, the most is %d", l.Attempt, most)
		}
		if l.Record == nil || l.Record.Key == nil {
			t.Fatalf("the record at %v is delivered without its content", l.At)
		}
		c.begun[key(l)]++
		c.mine = append(c.mine, l)
	}
}

func (c *crashes) park(n int) {
	some := c.pop(n)
	c.Park(some)
	c.parked = append(c.parked, some...)
}

func (c *crashes) unpark(n int) {
	for range min(n, len(c.parked)) {
		l := c.parked[0]
		c.parked = c.parked[1:]
		if c.Unpark(l) {
			c.Push(l)
		}
	}
}

func (c *crashes) readOnce() bool {
	batch, _ := c.nextToRead()
	if len(batch) > 0 {
		_ = c.readBatch(ctx, batch)
	}
	return len(batch) > 0
}

func (c *crashes) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (c *crashes) move() {
	c.moveBatch(ctx)
	c.mu.Lock()
	large := c.large
	c.large = nil
	c.mu.Unlock()
	for _, m := range large {
		c.moved(ctx, m, c.copier.Write(c.during(ctx, m), c.copyOf(m))[0])
	}
}

func (c *crashes) settle(t *rapid.T, which, how int) {
	if len(c.mine) == 0 {
		return
	}
	which %= len(c.mine)
	l := c.mine[which]
	c.mine = append(c.mine[:which], c.mine[which+1:]...)
	k := key(l)
	switch how {
	case 0, 1:
		_ = c.Nack(ctx, l, 0)
	case 2:
		_ = c.Nack(ctx, l, 1)
	case 3:
		over, cancel := context.WithCancel(ctx)
		cancel()
		if err := c.Reject(over, l, "no"); errors.Is(err, context.Canceled) {
			c.begun[k] = 1 << 20
		}
	case 4:
		_ = c.Nack(ctx, l, 7*time.Second)
	case 5, 6:
		if c.Unhand(ctx, l, []time.Duration{0, time.Minute}[how-5]) == nil {
			c.begun[k]--
			c.unhanded[k]++
		}
	case 7: // its lock expires
	default:
		if c.Ack(ctx, l) == nil {
			c.acked[k] = true
			c.since = append(c.since, l.At)
		}
	}
}

func (c *crashes) commitNow() {
	c.commitAll()
	clear(c.cuts)
	clear(c.unhanded)
	for _, at := range c.since {
		c.durable[at] = true
	}
	c.since = nil
}

func (c *crashes) nowDurable(partition int32) {
	delete(c.cuts, partition)
	for _, at := range c.since {
		if at.Partition == partition {
			c.durable[at] = true
		}
	}
}

func (c *crashes) finishAll(t *rapid.T) {
	c.keeping(false)
	c.refusing(nil)
	c.unpark(len(c.parked))
	for quiet := 0; quiet < 3; quiet++ {
		c.tellKept()
		before := len(c.dead)
		c.move()
		if len(c.dead) > before || c.poll() > 0 || c.readOnce() {
			quiet = 0
		}
		c.take(t, 1000)
		for len(c.mine) > 0 {
			quiet = 0
			c.settle(t, 0, 9)
		}
		c.sleep(2 * time.Hour)
	}
	c.commitNow()
	dead := map[string]bool{}
	for _, r := range c.dead {
		k := string(r.Key)
		if dead[k] = true; c.begun[k] < c.cfg.MaxDeliveries || c.cfg.MaxDeliveries == 0 && c.begun[k] == 0 {
			t.Fatalf("record %s was given up after %d deliveries: %s", k, c.begun[k], lease.Reason(r))
		}
	}
	for i := range c.produced {
		if k := fmt.Sprint(i); !c.acked[k] && !dead[k] && !c.lost[k] {
			t.Fatalf("record %s is lost", k)
		}
	}
	for p, log := range c.logs {
		if got := c.committed[p]; len(log) > 0 && !settled(got, log[len(log)-1].Offset+1) {
			t.Fatalf("partition %d ends at %d, committed is %v", p, len(log), got)
		}
	}
	if c.set.Len() != 0 || len(c.paused) != 0 || c.waitingBytes != 0 || len(c.toRead) != 0 {
		t.Fatalf("%d in flight, %v paused, %d bytes wait", c.set.Len(), c.paused, c.waitingBytes)
	}
	for id, p := range c.partitions {
		if p.moving != 0 {
			t.Fatalf("%d records of partition %d are moving", p.moving, id)
		}
	}
}
