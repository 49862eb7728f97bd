package offsetmap

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// In the end every record is acknowledged or a dead letter, and no committed acknowledgement is delivered again.
// Invariants 1, 4, 5 and 7.
func TestCrashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := testConfig()
		cfg.MaxInFlight = rapid.SampledFrom([]int{1, 7, 40}).Draw(t, "in flight")
		cfg.InPlace = 0 // each delay moves a record
		cfg.RetryBytes = rapid.SampledFrom([]int{1, 100}).Draw(t, "bytes")
		cfg.MaxDeliveries = rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "deliveries")
		all := []int32{0, 1, lease.Retry(0), lease.Retry(1)}
		limit := rapid.SampledFrom([]int{0, 12, 16, 60, 4096}).Draw(t, "limit")
		c := &crashes{world: newWorld(cfg, limit), durable: map[lease.ID]bool{}, acked: map[string]bool{}}
		defer func() { c.halt() }()
		c.assign(all...)
		t.Repeat(map[string]func(*rapid.T){
			"produce": func(t *rapid.T) {
				c.gap = rapid.SampledFrom([]int64{0, 0, 1, 70, 20_000}).Draw(t, "gap")
				c.add(rapid.IntRange(1, 30).Draw(t, "n"))
			},
			"poll":    func(*rapid.T) { c.poll() },
			"receive": func(t *rapid.T) { c.take(t, rapid.IntRange(1, 20).Draw(t, "n")) },
			"settle": func(t *rapid.T) {
				for range rapid.IntRange(1, 15).Draw(t, "n") {
					c.settle(t, rapid.IntRange(0, 1000).Draw(t, "which"), rapid.IntRange(0, 9).Draw(t, "how"))
				}
			},
			"move": func(t *rapid.T) {
				c.keeping(rapid.Bool().Draw(t, "outcome later"))
				c.moveBatch(ctx)
			},
			"outcomes": func(*rapid.T) { c.tellKept() },
			"commit":   func(*rapid.T) { c.commitNow() },
			"revoke": func(t *rapid.T) {
				c.tellKept()
				c.keeping(false)
				c.moveBatch(ctx) // Flush would wait for the moves
				p := rapid.SampledFrom(all).Draw(t, "partition")
				c.revoke(p)
				c.nowDurable(p)
				c.assign(p)
			},
			"crash": func(*rapid.T) {
				c.halt()
				c.kept, c.mine, c.since = nil, nil, nil
				c.open(cfg, limit)
				c.assign(all...)
			},
			"": func(t *rapid.T) {
				if n := c.set.Len(); n > cfg.MaxInFlight {
					t.Fatalf("%d in flight, the bound is %d", n, cfg.MaxInFlight)
				}
				kept, held := 0, 0
				for _, p := range c.partitions {
					checkRuns(t, p)
					kept += p.window.Open() + len(p.held)
					held += len(p.held)
				}
				if kept != c.set.Len()+c.set.Excused() || held != c.held {
					t.Fatalf("%d records are kept, %d in flight, %d wait; %d are held, %d counted", kept, c.set.Len(), c.set.Excused(), held, c.held)
				}
			},
		})
		c.finishAll(t)
	})
}

// A partition's memory depends only on its open records.
func checkRuns(t *rapid.T, p *partition) {
	open, spent := 0, 0
	for _, r := range p.runs {
		n := 0
		for i := range r.slots {
			if s := &r.slots[i]; s.phase != done {
				n++
			} else if s.lease != nil {
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
	acked    map[string]bool
	since    []lease.ID // since this process's last commit
	durable  map[lease.ID]bool
}

func (c *crashes) add(n int) {
	for range n {
		c.append(&kgo.Record{Topic: testTopic, Partition: int32(c.produced % 2), Key: fmt.Append(nil, c.produced)})
		c.produced++
	}
}

func (c *crashes) take(t *rapid.T, n int) {
	for _, l := range c.receive(n) {
		if c.durable[l.At] {
			t.Fatalf("%v was acknowledged and committed, and is delivered again", l.At)
		}
		if most := c.cfg.MaxDeliveries; most > 0 && l.Attempt > most {
			t.Fatalf("the %d. delivery, the most is %d", l.Attempt, most)
		}
		c.mine = append(c.mine, l)
	}
}

func (c *crashes) settle(t *rapid.T, which, how int) {
	if len(c.mine) == 0 {
		return
	}
	which %= len(c.mine)
	l := c.mine[which]
	c.mine = append(c.mine[:which], c.mine[which+1:]...)
	switch how {
	case 0, 1:
		_ = c.Nack(ctx, l, 0)
	case 2:
		_ = c.Nack(ctx, l, 1)
	case 3:
		over, cancel := context.WithCancel(ctx)
		cancel()
		_ = c.Reject(over, l, "no")
	default:
		if c.Ack(ctx, l) == nil {
			c.acked[key(l)] = true
			c.since = append(c.since, l.At)
		}
	}
}

func (c *crashes) commitNow() {
	c.commitAll()
	for _, at := range c.since {
		c.durable[at] = true
	}
	c.since = nil
}

func (c *crashes) nowDurable(partition int32) {
	for _, at := range c.since {
		if at.Partition == partition {
			c.durable[at] = true
		}
	}
}

func (c *crashes) finishAll(t *rapid.T) {
	c.keeping(false)
	for quiet := 0; quiet < 3; quiet++ {
		c.tellKept()
		before := len(c.dead)
		c.moveBatch(ctx)
		if len(c.dead) > before || c.poll() > 0 {
			quiet = 0
		}
		c.take(t, 1000)
		for len(c.mine) > 0 {
			quiet = 0
			c.settle(t, 0, 9)
		}
	}
	c.commitNow()
	dead := map[string]bool{}
	for _, r := range c.dead {
		dead[string(r.Key)] = true
	}
	for i := range c.produced {
		if k := fmt.Sprint(i); !c.acked[k] && !dead[k] {
			t.Fatalf("record %s is lost", k)
		}
	}
	for p, log := range c.logs {
		if got := c.committed[p]; !settled(got, log[len(log)-1].Offset+1) {
			t.Fatalf("partition %d ends at %d, committed is %v", p, len(log), got)
		}
	}
	if c.set.Len() != 0 || len(c.paused) != 0 {
		t.Fatalf("%d in flight, %v paused", c.set.Len(), c.paused)
	}
}
