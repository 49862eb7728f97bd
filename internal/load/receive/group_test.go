package receive

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
)

func consume(t *testing.T, n int, change func(*Config), f func(*testing.T, *Group, *fakeConsumer, *load.Axis)) {
	t.Helper()
	consumeAfter(t, 0, n, change, f)
}

func consumeAfter(t *testing.T, warmup time.Duration, n int, change func(*Config), f func(*testing.T, *Group, *fakeConsumer, *load.Axis)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		axis := load.NewAxis(nil)
		kafka := &fakeKafka{log: loadtest.Log(4, n)}
		axis.Set(warmup, 10*time.Second)
		cfg := Config{
			Driver: kafka, Members: 1, Producers: 1, Partitions: 4, CommitEvery: time.Second,
			Axis: axis, Stamped: true, Run: 7, OnEvent: func(Event) {},
		}
		if change != nil {
			change(&cfg)
		}
		g, err := Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Stop(context.Background())
		if err := g.AwaitReady(context.Background()); err != nil {
			t.Fatal(err)
		}
		f(t, g, g.members.Ever()[0].client.(*fakeConsumer), axis)
	})
}

func TestEverythingIsDelivered(t *testing.T) {
	consume(t, 100, nil, func(t *testing.T, g *Group, c *fakeConsumer, _ *load.Axis) {
		time.Sleep(1500 * time.Millisecond)
		if r := g.Received(); r.Delivered != 400 || r.DeliveredInWindow != 400 || r.Duplicates() != 0 {
			t.Errorf("%+v; want 400 delivered", r)
		}
		for p, at := range g.Reached() {
			if at.Position != 100 || at.Arrived != 100 || at.Awaited[0].Next != 100 {
				t.Errorf("partition %d: %+v", p, at)
			}
			if committed := c.committedAt(p); committed != 100 {
				t.Errorf("partition %d: committed %d after the interval, want 100", p, committed)
			}
		}
	})
}

// A poll that expires counts as empty.
func TestPollTimeout(t *testing.T) {
	consume(t, 100, func(cfg *Config) { cfg.PollTimeout = 100 * time.Millisecond },
		func(t *testing.T, g *Group, _ *fakeConsumer, _ *load.Axis) {
			time.Sleep(1050 * time.Millisecond)
			if c, r := g.Counts(), g.Received(); c.EmptyPolls != 10 || r.Delivered != 400 {
				t.Errorf("%d empty polls in 1.05s, and %d delivered; want 10 and 400", c.EmptyPolls, r.Delivered)
			}
		})
}

func TestCapacityIsWorkersOverWork(t *testing.T) {
	for _, c := range []struct {
		name        string
		byPartition bool
		want        int64
	}{
		{"by partition", true, 4 * 250},
		{"by consumer", false, 250},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := func(cfg *Config) { cfg.ByPartition, cfg.Plan = c.byPartition, loadtest.FixedWork(4*time.Millisecond) }
			consume(t, 2000, change, func(t *testing.T, g *Group, _ *fakeConsumer, axis *load.Axis) {
				time.Sleep(time.Second)
				r := g.Received()
				if r.Processed < c.want-4 || r.Processed > c.want {
					t.Errorf("%d processed in a second, want %d", r.Processed, c.want)
				}
				busy := time.Duration(r.WorkInWindow)
				if want := time.Duration(c.want) * 4 * time.Millisecond; busy < want-20*time.Millisecond || busy > want+20*time.Millisecond {
					t.Errorf("%v of work in %v, want %v", busy, time.Duration(axis.Now()), want)
				}
			})
		})
	}
}

func TestWorkIsDoneInTheWarmupToo(t *testing.T) {
	change := func(cfg *Config) { cfg.ByPartition, cfg.Plan = true, loadtest.FixedWork(10*time.Millisecond) }
	consumeAfter(t, 3*time.Second, 1000, change, func(t *testing.T, g *Group, _ *fakeConsumer, _ *load.Axis) {
		time.Sleep(time.Second)
		if r := g.Received(); r.Processed < 396 || r.Processed > 400 || r.WorkInWindow != 0 {
			t.Errorf("%d processed in a second of the warm-up, %v of it in the window; want 400, 0", r.Processed, time.Duration(r.WorkInWindow))
		}
	})
}

func TestDeliveryIsWhenTheWorkerTakesTheRecord(t *testing.T) {
	change := func(cfg *Config) { cfg.Plan = loadtest.FixedWork(10 * time.Millisecond) }
	consume(t, 10, change, func(t *testing.T, g *Group, _ *fakeConsumer, _ *load.Axis) {
		time.Sleep(time.Second)
		all := &latency.Collector{}
		g.AddTo(all)
		all.Collect()
		if d := all.Totals(true, latency.E2EResponseTime); d.Count != 40 || time.Duration(d.MaxNs) < 390*time.Millisecond {
			t.Errorf("%d e2e response times up to %v; want 40 up to 390ms", d.Count, time.Duration(d.MaxNs))
		}
		if d := all.Totals(true, latency.ProcessedResponseTime); d.Count != 40 || time.Duration(d.MaxNs) < 400*time.Millisecond {
			t.Errorf("%d processed response times up to %v; want 40 up to 400ms", d.Count, time.Duration(d.MaxNs))
		}
	})
}

func TestWorkChangesMidRun(t *testing.T) {
	change := func(cfg *Config) {
		cfg.Plan = loadtest.FixedWork(10 * time.Millisecond)
		cfg.Plan.Changes = []load.Change{{At: int64(time.Second), Work: load.Work{Distribution: "fixed"}}}
	}
	consume(t, 1000, change, func(t *testing.T, g *Group, _ *fakeConsumer, _ *load.Axis) {
		time.Sleep(999 * time.Millisecond)
		if r := g.Received(); r.Processed < 98 || r.Processed > 100 {
			t.Errorf("%d processed before the change, want about 100", r.Processed)
		}
		time.Sleep(100 * time.Millisecond)
		if r := g.Received(); r.Processed != 4000 {
			t.Errorf("%d processed after the change, want all 4000", r.Processed)
		}
	})
}

func TestFullInboxPausesThePartition(t *testing.T) {
	change := func(cfg *Config) { cfg.ByPartition, cfg.Plan = true, loadtest.FixedWork(time.Millisecond) }
	consume(t, 2*inboxHigh, change, func(t *testing.T, g *Group, c *fakeConsumer, _ *load.Axis) {
		time.Sleep(100 * time.Millisecond)
		if paused := c.pausedNow(); paused != 4 {
			t.Errorf("%d partitions paused, want 4", paused)
		}
		time.Sleep(2 * time.Second)
		if r := g.Received(); r.Processed != 8*inboxHigh || c.pausedNow() != 0 {
			t.Errorf("%d of %d processed, %d partitions still paused", r.Processed, 8*inboxHigh, c.pausedNow())
		}
	})
}

// A revocation neither delivers nor commits waiting records.
func TestRevokeCommitsWhatWasProcessedAndDropsTheRest(t *testing.T) {
	change := func(cfg *Config) { cfg.ByPartition, cfg.Plan = true, loadtest.FixedWork(10*time.Millisecond) }
	consume(t, 100, change, func(t *testing.T, g *Group, c *fakeConsumer, _ *load.Axis) {
		time.Sleep(205 * time.Millisecond)
		c.cfg.OnRevoked([]int32{0, 1}, false)
		before := g.Received()
		for p := range 2 {
			if at := c.committedAt(p); at < 20 || at > 21 || at != g.Reached()[p].Position {
				t.Errorf("partition %d: committed %d, delivered up to %d; want 21 of each", p, at, g.Reached()[p].Position)
			}
		}
		time.Sleep(time.Second)
		if after := g.Received(); after.Delivered-before.Delivered > 2*80 {
			t.Errorf("%d delivered after the revocation; only partitions 2 and 3 are left", after.Delivered-before.Delivered)
		}
		if owned, _ := g.Assigned(); owned != 2 {
			t.Errorf("%d partitions owned, want 2", owned)
		}
	})
}

func TestRebalancesNamePartitionsInOrder(t *testing.T) {
	var said []Event
	tell := func(cfg *Config) {
		cfg.Client.Group, cfg.OnEvent = "readers", func(e Event) { said = append(said, e) }
	}
	consume(t, 0, tell, func(_ *testing.T, _ *Group, c *fakeConsumer, _ *load.Axis) {
		c.cfg.OnRevoked([]int32{3, 0, 2}, false)
		c.cfg.OnAssigned([]int32{2, 3, 0})
		c.cfg.OnRevoked([]int32{3}, true)
	})
	want := []Event{}
	for _, e := range []struct {
		how, change string
		partitions  []int32
	}{
		{"was assigned", "assigned", []int32{0, 1, 2, 3}}, {"gave up", "revoked", []int32{0, 2, 3}},
		{"was assigned", "assigned", []int32{0, 2, 3}}, {"lost", "lost", []int32{3}},
	} {
		want = append(want, Event{
			Kind: "rebalance", What: fmt.Sprintf("consumer 0 %s partitions %v", e.how, e.partitions),
			Data: map[string]any{"consumer": 0, "change": e.change, "partitions": e.partitions, "group": "readers"},
		})
	}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("it says\n%v\nwant\n%v", said, want)
	}
}

func TestCommitAfterEachBatch(t *testing.T) {
	consume(t, 10, func(cfg *Config) { cfg.CommitEvery = 0 }, func(t *testing.T, g *Group, c *fakeConsumer, _ *load.Axis) {
		time.Sleep(10 * time.Millisecond)
		if at := c.committedAt(3); at != 10 {
			t.Errorf("committed %d at once, want 10", at)
		}
		if n := g.Counts(); n.Commits != 1 || n.CommitTime != commitTakes {
			t.Errorf("%d commits for one batch, of %v", n.Commits, n.CommitTime)
		}
	})
}

func TestDamageIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		axis := load.NewAxis(nil)
		kafka := &fakeKafka{log: loadtest.Log(4, 10)}
		kafka.log[0][3].Value[60] ^= 1
		kafka.log[1] = append(kafka.log[1][:4], kafka.log[1][5:]...)
		kafka.log[2][7].Value = kafka.log[2][6].Value
		kafka.log[3][1], kafka.log[3][2] = kafka.log[3][2], kafka.log[3][1]
		kafka.log[3][9].Value = []byte("somebody else's")
		axis.Set(0, time.Second)
		g, err := Start(Config{Driver: kafka, Members: 1, Producers: 1, Partitions: 4, CommitEvery: time.Second,
			Axis: axis, Stamped: true, Run: 7, OnEvent: func(Event) {}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		g.Stop(context.Background())
		var unique int64
		for _, r := range g.Receivers() {
			r.Lock()
			unique += r.Unique()
			r.Unlock()
		}
		// 40 without the hole, the flipped and the foreign record; the repeated one is a duplicate.
		if r := g.Received(); r.Delivered != 37 || r.Duplicates() != 1 || unique != 36 {
			t.Errorf("%d delivered, %d duplicates, %d unique; want 37, 1, 36", r.Delivered, r.Duplicates(), unique)
		}
	})
}
