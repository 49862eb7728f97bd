package receive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

const session = 6 * time.Second

func crowd(t *testing.T, n int, change func(*Config), f func(*testing.T, *Group, *fakeGroup)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		axis := load.NewAxis(nil)
		kafka := &fakeKafka{log: loadtest.Log(4, n)}
		axis.Set(0, time.Minute)
		brokers := newFakeGroup(kafka, session)
		cfg := Config{
			Driver: brokers, Members: 2, Producers: 1, Partitions: 4, CommitEvery: time.Second,
			Axis: axis, Stamped: true, Run: 7, OnEvent: func(Event) {},
		}
		if change != nil {
			change(&cfg)
		}
		g, err := Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer time.Sleep(session) // for the timers of killed members
		defer g.Stop(context.Background())
		if err := g.AwaitReady(context.Background()); err != nil {
			t.Fatal(err)
		}
		f(t, g, brokers)
	})
}

type tally struct {
	delivered, duplicates, unique, responses, processed int64
}

func tallyOf(g *Group) tally {
	received := g.Received()
	sum := tally{delivered: received.Delivered, duplicates: received.Duplicates()}
	for _, r := range g.Receivers() {
		r.Lock()
		sum.unique += r.Unique()
		r.Unlock()
	}
	var all latency.Collector
	g.AddTo(&all)
	all.Collect()
	sum.responses = all.Totals(true, latency.E2EResponseTime).Count
	sum.processed = all.Totals(true, latency.ProcessedResponseTime).Count
	return sum
}

func positions(g *Group) []int64 {
	var all []int64
	for _, r := range g.Reached() {
		all = append(all, r.Position)
	}
	return all
}

// The other member continues from the last commit after the session timeout.
func TestKilledMembersWorkIsDoneAgain(t *testing.T) {
	const n = 3000
	for _, byPartition := range []bool{false, true} {
		change := func(cfg *Config) { cfg.Plan, cfg.ByPartition = loadtest.FixedWork(10*time.Millisecond), byPartition }
		crowd(t, n, change, func(t *testing.T, g *Group, brokers *fakeGroup) {
			time.Sleep(2345 * time.Millisecond)
			loss, err := g.Kill(1)
			if err != nil || !slices.Equal(loss.Partitions, []int32{1, 3}) {
				t.Fatalf("it lost %v, %v; want partitions 1 and 3", loss.Partitions, err)
			}
			if least, most := int64(32), int64(80); loss.Uncommitted < least || loss.Uncommitted > most {
				t.Errorf("%d records were not committed, want %d to %d", loss.Uncommitted, least, most)
			}
			at := positions(g)
			time.Sleep(session - time.Millisecond)
			rested := positions(g)
			if rested[1] != at[1] || rested[3] != at[3] || rested[0] == at[0] {
				t.Errorf("positions went from %v to %v before the session timeout; want those of 0 and 2 alone to", at, rested)
			}
			if got := g.Received().Duplicates(); got != 0 {
				t.Errorf("%d duplicates before the session timeout", got)
			}
			for range 60 {
				time.Sleep(time.Second)
				now := positions(g)
				for p := range now {
					if now[p] < at[p] {
						t.Fatalf("partition %d went back from %d to %d", p, at[p], now[p])
					}
				}
				at = now
			}
			time.Sleep(90 * time.Second)
			want := tally{delivered: 4*n + loss.Uncommitted, duplicates: loss.Uncommitted, unique: 4 * n, responses: 4 * n, processed: 4 * n}
			if got := tallyOf(g); got != want {
				t.Errorf("%+v; want %+v", got, want)
			}
			if at := brokers.committedAt(); at[1] != n {
				t.Errorf("partition 1 is committed up to %d, want %d", at[1], n)
			}
		})
	}
}

// Without stamps, the offset identifies a redelivered record.
func TestArrivedWithoutStamps(t *testing.T) {
	const n = 300
	change := func(cfg *Config) { cfg.Plan, cfg.Stamped = loadtest.FixedWork(10*time.Millisecond), false }
	crowd(t, n, change, func(t *testing.T, g *Group, _ *fakeGroup) {
		time.Sleep(1500 * time.Millisecond)
		loss, err := g.Kill(1)
		if err != nil || loss.Uncommitted == 0 {
			t.Fatal(loss, err)
		}
		time.Sleep(time.Minute)
		var arrived, delivered int64
		for _, r := range g.Reached() {
			arrived, delivered = arrived+r.Arrived, delivered+r.Delivered
		}
		if arrived != 4*n || delivered != 4*n+loss.Uncommitted {
			t.Errorf("%d arrived and %d were delivered, want %d and %d more", arrived, delivered, 4*n, loss.Uncommitted)
		}
	})
}

func TestHandedOverInPart(t *testing.T) {
	at := func(offsets ...int64) (records []driver.Received) {
		for _, offset := range offsets {
			records = append(records, driver.Received{Offset: offset})
		}
		return records
	}
	p := &partition{receiver: ledger.NewReceiver(0, 1), handed: load.NewGapWatch(1)}
	for i, c := range []struct {
		records               []driver.Received
		position, when, fresh int64
	}{
		{at(0, 1, 2), 3, 0, 3},
		{at(1, 2), 3, 0, 3},
		{at(2, 3, 5), 6, 2, 5}, // 4 was compacted away
		{at(3, 6), 7, 3, 6},
		{at(0, 1, 2, 3, 5), 7, 3, 6},
	} {
		p.hand(c.records, int64(i))
		if r := p.reached(); r.Position != c.position || r.At != c.when || r.Arrived != c.fresh {
			t.Errorf("after chunk %d: %+v; want position %d at %d, and %d arrived", i, r, c.position, c.when, c.fresh)
		}
	}
}

// Lost work counts only until the kill, and the next owner's work begins at once.
func TestLostWorkFreesTheServer(t *testing.T) {
	change := func(cfg *Config) { cfg.Plan, cfg.ByPartition = loadtest.FixedWork(time.Hour), true }
	crowd(t, 1, change, func(t *testing.T, g *Group, _ *fakeGroup) {
		const lived = time.Second - time.Millisecond
		time.Sleep(lived)
		if _, err := g.Kill(0); err != nil {
			t.Fatal(err)
		}
		want := 2*lived + 2*(time.Minute-pollEvery) // the group was ready after pollEvery
		if got := time.Duration(g.Received().WorkInWindow); got != want {
			t.Errorf("%v of work, want %v: that of two records cut short, and of two others the rest of the window", got, want)
		}
		cut := make(chan struct{})
		close(cut)
		if g.Working() != true || !g.workers[0].server.Wait(cut) || len(g.workers[0].handling) > 0 {
			t.Error("the worker of partition 0 is not free")
		}
	})
}

func TestLeavingInOrder(t *testing.T) {
	const n = 500
	change := func(cfg *Config) { cfg.Plan = loadtest.FixedWork(10 * time.Millisecond) }
	crowd(t, n, change, func(t *testing.T, g *Group, brokers *fakeGroup) {
		time.Sleep(2345 * time.Millisecond)
		if err := g.Leave(1); err != nil {
			t.Fatal(err)
		}
		if at, committed := positions(g), brokers.committedAt(); committed[1] != at[1] || committed[3] != at[3] {
			t.Errorf("committed up to %v, and it had come to %v", committed, at)
		}
		before := positions(g)
		time.Sleep(time.Second)
		if after := positions(g); after[1] == before[1] || after[3] == before[3] {
			t.Errorf("positions went from %v to %v; want all to move on", before, after)
		}
		time.Sleep(time.Minute)
		if got, want := tallyOf(g), (tally{4 * n, 0, 4 * n, 4 * n, 4 * n}); got != want {
			t.Errorf("%+v; want %+v", got, want)
		}
	})
}

func TestMembersComeAndComeBack(t *testing.T) {
	change := func(cfg *Config) { cfg.Plan, cfg.Numbers = loadtest.FixedWork(time.Millisecond), 4 }
	crowd(t, 4000, change, func(t *testing.T, g *Group, brokers *fakeGroup) {
		var early latency.Collector
		g.AddTo(&early)
		workers := g.Workers()
		time.Sleep(1500 * time.Millisecond)
		for _, number := range []int{2, 3} {
			if err := g.Start(number); err != nil {
				t.Fatal(err)
			}
		}
		before := g.Received().Processed
		time.Sleep(time.Second)
		if got := g.Received().Processed - before; got < 3900 {
			t.Errorf("four members processed %d in a second, want 4000", got)
		}
		if owned, idle := g.Assigned(); owned != 4 || idle != 0 {
			t.Errorf("%d partitions are owned, and %d members have none", owned, idle)
		}
		if got := g.Counts().Rebalances; got != 4 {
			t.Errorf("%d rebalances, want 4", got)
		}
		if _, err := g.Kill(2); err != nil {
			t.Fatal(err)
		}
		if err := g.Start(2); err != nil {
			t.Fatal(err)
		}
		polls := g.Counts().Polls
		time.Sleep(time.Minute)
		early.Collect()
		if n := early.Totals(true, latency.ProcessedResponseTime).Count; n != 16000 {
			t.Errorf("%d times of processing; want 16000", n)
		}
		if got := tallyOf(g); got.unique != 16000 || got.duplicates == 0 {
			t.Errorf("%+v; want 16000 unique, and duplicates", got)
		}
		if g.Counts().Polls <= polls || brokers.size() != 4 {
			t.Errorf("%d polls, %d before; %d members at the brokers, want 4", g.Counts().Polls, polls, brokers.size())
		}
		if g.Workers() != workers || workers != 4 {
			t.Errorf("%d workers, want the %d of the start", g.Workers(), workers)
		}
	})
}

func TestNobodyIsLeft(t *testing.T) {
	crowd(t, 100, nil, func(t *testing.T, g *Group, _ *fakeGroup) {
		if _, err := g.Kill(0); err != nil {
			t.Fatal(err)
		}
		if err := g.Leave(1); err != nil {
			t.Fatal(err)
		}
		if g.Working() || g.Err() != nil {
			t.Errorf("working: %v, failed: %v", g.Working(), g.Err())
		}
	})
}

func TestWhatCannotBeDoneToMembers(t *testing.T) {
	kill := func(number int) func(*Group) error {
		return func(g *Group) error { _, err := g.Kill(number); return err }
	}
	leave := func(number int) func(*Group) error { return func(g *Group) error { return g.Leave(number) } }
	start := func(number int) func(*Group) error { return func(g *Group) error { return g.Start(number) } }
	for _, c := range []struct {
		name string
		do   []func(*Group) error
		says string
	}{
		{"kill the dead", []func(*Group) error{kill(1), kill(1)}, "consumer 1 is not there"},
		{"stop the dead", []func(*Group) error{kill(1), leave(1)}, "consumer 1 is not there"},
		{"start the living", []func(*Group) error{start(0)}, "consumer 0 is there already"},
		{"beyond the numbers", []func(*Group) error{start(2)}, "consumer 2: the numbers are 0 to 1"},
		{"below the numbers", []func(*Group) error{kill(-1)}, "consumer -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			crowd(t, 0, nil, func(t *testing.T, g *Group, _ *fakeGroup) {
				last := len(c.do) - 1
				for _, do := range c.do[:last] {
					if err := do(g); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.do[last](g); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want %q", err, c.says)
				}
				g.Stop(context.Background())
				if err := start(1)(g); err == nil {
					t.Error("a group that was stopped can be joined")
				}
			})
		})
	}
}

type mortal struct{ *fakeGroup }

func (d mortal) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	c, err := d.fakeGroup.NewConsumer(cfg)
	return struct{ driver.Consumer }{c}, err
}

func TestDriverThatCannotKill(t *testing.T) {
	change := func(cfg *Config) { cfg.Driver = mortal{cfg.Driver.(*fakeGroup)} }
	crowd(t, 0, change, func(t *testing.T, g *Group, _ *fakeGroup) {
		if err := g.CanKill(); err == nil || !strings.Contains(err.Error(), "cannot kill") {
			t.Errorf("it can kill: %v", err)
		}
		if _, err := g.Kill(0); err == nil {
			t.Error("it was killed")
		}
		if err := g.Leave(0); err != nil {
			t.Error(err)
		}
	})
	crowd(t, 0, nil, func(t *testing.T, g *Group, _ *fakeGroup) {
		if err := g.CanKill(); err != nil {
			t.Error(err)
		}
	})
}

// Only uncommitted records of killed members are delivered twice.
func TestEverySchedule(t *testing.T) {
	type act struct {
		after  time.Duration
		what   string
		number int
	}
	acts := rapid.Custom(func(t *rapid.T) act {
		return act{
			time.Duration(rapid.IntRange(0, 4000).Draw(t, "after")) * time.Millisecond,
			rapid.SampledFrom([]string{"kill", "stop", "start"}).Draw(t, "what"),
			rapid.IntRange(0, 2).Draw(t, "number"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		const n = 200
		schedule := rapid.SliceOfN(acts, 0, 10).Draw(rt, "acts")
		byPartition, byBatch := rapid.Bool().Draw(rt, "by partition"), rapid.Bool().Draw(rt, "commit by batch")
		var fault string
		change := func(cfg *Config) {
			cfg.Plan, cfg.Numbers, cfg.ByPartition = loadtest.FixedWork(7*time.Millisecond), 3, byPartition
			if byBatch {
				cfg.CommitEvery = 0
			}
		}
		crowd(t, n, change, func(_ *testing.T, g *Group, _ *fakeGroup) {
			var lost int64
			for _, a := range schedule {
				time.Sleep(a.after)
				switch a.what {
				case "kill":
					loss, _ := g.Kill(a.number)
					lost += loss.Uncommitted
				case "stop":
					_ = g.Leave(a.number)
				default:
					_ = g.Start(a.number)
				}
			}
			_ = g.Start(0)
			time.Sleep(90 * time.Second)
			want := tally{4*n + lost, lost, 4 * n, 4 * n, 4 * n}
			if got := tallyOf(g); got != want || g.Err() != nil || g.Counts().CommitErrors > 0 {
				fault = fmt.Sprintf("%+v, want %+v; failed: %v; %+v", got, want, g.Err(), g.Counts())
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}
