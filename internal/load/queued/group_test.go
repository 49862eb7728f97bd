package queued

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

type queueBench struct {
	axis      *load.Axis
	queue     *fakeQueue
	group     *Group
	collector latency.Collector
	sent      []*ledger.Sender
	records   int
}

// ofQueue begins a measured window of an hour.
func ofQueue(t *testing.T, n int, change func(*Config, *fakeQueue), f func(*testing.T, *queueBench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &queueBench{axis: load.NewAxis(nil), records: 4 * n}
		b.axis.Set(0, time.Hour)
		sender := ledger.NewSender(0, 4)
		for p := range int32(4) {
			for i := range n {
				sender.Acked(p, sender.Next(p, true), int64(i))
			}
		}
		b.sent = []*ledger.Sender{sender}
		b.queue = newFakeQueue(loadtest.Log(4, n), 10*time.Second)
		b.queue.dead = func(value []byte) { b.group.DeadLetter(nil, value) }
		cfg := Config{
			Open: b.queue.open, Ready: func(context.Context) error { return nil },
			Members: 2, Threads: 3, Batch: 10, Producers: 1, Partitions: 4, Axis: b.axis, Run: 7, Seed: 42,
			OnEvent: func(_, what, reason string) { t.Errorf("%s: %s", what, reason) },
		}
		if change != nil {
			change(&cfg, b.queue)
		}
		g, err := Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		b.group = g
		defer g.Stop(context.Background())
		g.AddTo(&b.collector)
		f(t, b)
	})
}

func (b *queueBench) drain(t *testing.T, most time.Duration) snapshot.DeliveryCounts {
	t.Helper()
	for began := time.Now(); b.missing() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > most {
			t.Fatalf("%d records are not settled after %v", b.missing(), most)
		}
	}
	synctest.Wait()
	b.collector.Collect()
	_, measured := b.group.Tally()
	return measured
}

func (b *queueBench) missing() int64 {
	books := ledger.Close(b.sent, b.group.Settled(), func(int32) int64 { return -1 })
	return books.Measured.Lost + books.Measured.Pending
}

func (b *queueBench) time(m latency.Metric) latency.Distribution { return b.collector.Totals(true, m) }

func TestQueueSettlesEverything(t *testing.T) {
	ofQueue(t, 500, nil, func(t *testing.T, b *queueBench) {
		m := b.drain(t, time.Minute)
		if m.Received != 2000 || m.Unique != 2000 || m.Acked != 2000 || m.AckedAgain+m.Dropped+m.Nacked+m.AttemptsDiffer != 0 {
			t.Errorf("%+v", m)
		}
		if got := b.time(latency.E2EServiceTime).Count; got != 2000 {
			t.Errorf("%d e2e times", got)
		}
		if got := b.time(latency.SettleTime).Count; got != 2000 {
			t.Errorf("%d settle times", got)
		}
		if r, totals := b.group.Received(), b.group.Totals(); r.Delivered != 2000 || r.DeliveredInWindow != 2000 || r.Processed != 2000 || totals.Acked != 2000 || totals.AckedInWindow != 2000 {
			t.Errorf("%+v, %+v", r, totals)
		}
		for p, at := range b.group.Reached() {
			if at.Position != 500 || at.Arrived != 500 || at.Awaited[0].Next != 500 || at.Awaited[0].Gaps != nil {
				t.Errorf("partition %d: %+v", p, at)
			}
		}
	})
}

func TestQueueDropsInSilence(t *testing.T) {
	ofQueue(t, 5000, func(c *Config, _ *fakeQueue) { c.Drop = 0.5 }, func(t *testing.T, b *queueBench) {
		m := b.drain(t, time.Hour)
		if per := float64(m.Received) / float64(m.Unique); math.Abs(per-2) > 0.04 {
			t.Errorf("%v deliveries a record, want 2", per)
		}
		if m.Dropped != m.Received-m.Acked || m.Acked != 20_000 || m.AttemptsDiffer != 0 {
			t.Errorf("%+v", m)
		}
		for i, n := range m.Attempts() {
			if next := m.ByAttempt[i+1]; n > 1000 && math.Abs(float64(next)/float64(n)-0.5) > 0.05 {
				t.Errorf("%d of attempt %d, %d of the next", n, i+1, next)
			}
		}
		late := b.time(latency.RedeliveryLateness)
		if late.Count != m.Received-m.Unique || late.Negative != 0 || late.MaxNs > int64(time.Second) {
			t.Errorf("lateness: %+v", late)
		}
		if again := b.time(latency.RedeliveryResponseTime); again.Count != m.Received-m.Unique || again.MinNs < int64(10*time.Second) {
			t.Errorf("redelivered: %+v", again)
		}
		if first := b.time(latency.E2EResponseTime); first.Count != 20_000 || first.MaxNs >= int64(10*time.Second) {
			t.Errorf("first deliveries: %+v", first)
		}
		if b.group.QueueCounts().Expired != m.Dropped {
			t.Errorf("%+v, %d dropped", b.group.QueueCounts(), m.Dropped)
		}
	})
}

func TestQueueDropsTheSame(t *testing.T) {
	var seen []snapshot.DeliveryCounts
	for _, threads := range []int{1, 7} {
		ofQueue(t, 1000, func(c *Config, _ *fakeQueue) { c.Drop, c.Threads = 0.3, threads }, func(t *testing.T, b *queueBench) {
			seen = append(seen, b.drain(t, time.Hour))
		})
	}
	if seen[0] != seen[1] || seen[0].Dropped == 0 {
		t.Errorf("%+v\nand %+v", seen[0], seen[1])
	}
}

func TestQueueFindsEarlyRedeliveries(t *testing.T) {
	early := func(c *Config, q *fakeQueue) { c.Drop, q.early = 0.1, time.Second }
	ofQueue(t, 500, early, func(t *testing.T, b *queueBench) {
		m := b.drain(t, time.Hour)
		if late := b.time(latency.RedeliveryLateness); late.Negative != late.Count || late.Count != m.Received-m.Unique || late.MinNs > -int64(900*time.Millisecond) {
			t.Errorf("lateness: %+v", late)
		}
	})
}

func TestQueueNacks(t *testing.T) {
	nack := func(c *Config, _ *fakeQueue) {
		c.Drop, c.Nack, c.Delay = 0.5, true, func(attempt int) time.Duration { return time.Duration(attempt) * time.Second }
	}
	ofQueue(t, 2000, nack, func(t *testing.T, b *queueBench) {
		m := b.drain(t, time.Hour)
		if m.Nacked != m.Received-m.Acked || m.Dropped != 0 || m.Acked != 8000 {
			t.Errorf("%+v", m)
		}
		late := b.time(latency.RedeliveryLateness)
		if late.Count != m.Nacked || late.Negative != 0 || late.MaxNs > int64(100*time.Millisecond) {
			t.Errorf("lateness: %+v", late)
		}
		if b.group.QueueCounts().Expired != 0 {
			t.Errorf("%+v", b.group.QueueCounts())
		}
	})
}

// If half of the deliveries are dropped, a limit of 4 deliveries gives 1.875 deliveries per record,
// and a limit of 5 gives 1.9375.
func TestQueueDeadLetters(t *testing.T) {
	for most, want := range map[int]float64{4: 1.875, 5: 1.9375} {
		capped := func(c *Config, q *fakeQueue) { c.Drop, q.most = 0.5, most }
		ofQueue(t, 5000, capped, func(t *testing.T, b *queueBench) {
			m := b.drain(t, time.Hour)
			if per := float64(m.Received) / float64(m.Unique); math.Abs(per-want)/want > 0.02 {
				t.Errorf("%v deliveries a record, want %v", per, want)
			}
			if dead := 20_000 * math.Pow(0.5, float64(most)); math.Abs(float64(m.Dead)-dead) > dead/6 {
				t.Errorf("%d dead letters, want about %v", m.Dead, dead)
			}
			if m.Dead+m.Acked != 20_000 || m.DeadAcked != 0 || len(m.Attempts()) != most {
				t.Errorf("%+v", m)
			}
		})
	}
}

// The capacity is threads ÷ work.
func TestQueueWork(t *testing.T) {
	work := func(c *Config, _ *fakeQueue) { c.Plan = loadtest.FixedWork(10 * time.Millisecond) }
	ofQueue(t, 300, work, func(t *testing.T, b *queueBench) {
		began := time.Now()
		b.drain(t, time.Minute)
		if took := time.Since(began); took < 1900*time.Millisecond || took > 2200*time.Millisecond {
			t.Errorf("1,200 records of 10 ms with 6 threads took %v", took)
		}
		settle := b.time(latency.SettleTime)
		if settle.MinNs < int64(10*time.Millisecond) || settle.MaxNs > int64(15*time.Millisecond) {
			t.Errorf("settled %+v after delivery", settle)
		}
		if got := b.group.Received().WorkInWindow; got != int64(12*time.Second) {
			t.Errorf("%v of work", time.Duration(got))
		}
		if p := b.time(latency.ProcessedResponseTime); p.Count != 1200 || p.MaxNs < int64(1900*time.Millisecond) {
			t.Errorf("processed: %+v", p)
		}
	})
}

// The record comes again, not early, and its late ack is refused.
func TestQueueTooSlow(t *testing.T) {
	slow := func(c *Config, q *fakeQueue) {
		c.Members, c.Threads, c.Batch, q.visibility = 1, 4, 1, 50*time.Millisecond
		c.Plan.Work = load.Work{Time: 60 * time.Millisecond, Distribution: "fixed"}
		c.Plan.Changes = []load.Change{{At: int64(time.Second), Work: load.Work{Distribution: "fixed"}}}
	}
	ofQueue(t, 5, slow, func(t *testing.T, b *queueBench) {
		m := b.drain(t, time.Minute)
		if m.Acked != 20 || m.GivenUpExpired == 0 || m.GivenUpExpired != m.Received-m.Acked || m.AttemptsDiffer != 0 {
			t.Errorf("%+v", m)
		}
		if late := b.time(latency.RedeliveryLateness); late.Negative != 0 || late.Count != m.Received-m.Unique {
			t.Errorf("lateness: %+v", late)
		}
	})
}

func TestQueueKill(t *testing.T) {
	ofQueue(t, 500, func(c *Config, _ *fakeQueue) { c.Plan = loadtest.FixedWork(10 * time.Millisecond) }, func(t *testing.T, b *queueBench) {
		time.Sleep(515 * time.Millisecond)
		loss, err := b.group.Kill(0)
		if err != nil || loss.Unsettled != 3 || !loss.OfQueue {
			t.Fatalf("%+v, %v", loss, err)
		}
		if _, err := b.group.Kill(0); err == nil {
			t.Error("a consumer was killed that is not there")
		}
		m := b.drain(t, time.Minute)
		if m.Unsettled != loss.Unsettled || m.Acked != 2000 || m.AckedAgain != 0 || m.Received-m.Unique != m.Unsettled {
			t.Errorf("%+v; lost %+v", m, loss)
		}
		if late := b.time(latency.RedeliveryLateness); late.Count != m.Unsettled || late.Negative != 0 {
			t.Errorf("lateness: %+v", late)
		}
		// Of records that the killed member had fetched but not delivered, only the queue counts an
		// attempt.
		if m.AttemptsDiffer == 0 {
			t.Errorf("%+v", m)
		}
	})
}

func TestQueueKillEndsLocks(t *testing.T) {
	of := func(c *Config, q *fakeQueue) {
		c.Plan, c.Locks, q.frees = loadtest.FixedWork(10*time.Millisecond), LocksOfMember, true
	}
	ofQueue(t, 500, of, func(t *testing.T, b *queueBench) {
		time.Sleep(515 * time.Millisecond)
		loss, err := b.group.Kill(0)
		if err != nil || loss.Unsettled != 3 {
			t.Fatalf("%+v, %v", loss, err)
		}
		m := b.drain(t, time.Minute)
		if late := b.time(latency.RedeliveryLateness); late.Count+late.Negative != 0 || m.Received-m.Unique != loss.Unsettled {
			t.Errorf("lateness: %+v; %+v", late, m)
		}
	})
}

func TestQueueLeaveAndStart(t *testing.T) {
	ofQueue(t, 500, func(c *Config, _ *fakeQueue) {
		c.Plan, c.Batch, c.Numbers = loadtest.FixedWork(10*time.Millisecond), 1, 3
	}, func(t *testing.T, b *queueBench) {
		time.Sleep(300 * time.Millisecond)
		if err := b.group.Leave(1); err != nil {
			t.Fatal(err)
		}
		for _, number := range []int{2, 1} {
			if err := b.group.Start(number); err != nil {
				t.Fatal(err)
			}
		}
		if b.group.Start(2) == nil || b.group.Start(3) == nil {
			t.Error("a consumer was started that is there, or can't be")
		}
		if m := b.drain(t, time.Minute); m.Acked != 2000 || m.Received != 2000 || m.Unsettled != 0 {
			t.Errorf("%+v", m)
		}
	})
}

func TestQueueCountsOutliveMembers(t *testing.T) {
	ofQueue(t, 0, nil, func(t *testing.T, b *queueBench) {
		counted := func(when string, expired, inFlight int64) {
			want := snapshot.QueueCounts{Expired: expired, InFlight: inFlight}
			if got := b.group.QueueCounts(); got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		count := func(member int, expired, inFlight int64) {
			b.queue.mu.Lock()
			defer b.queue.mu.Unlock()
			b.queue.members[member].counts = snapshot.QueueCounts{Expired: expired, InFlight: inFlight}
		}
		count(0, 3, 5)
		count(1, 1, 2)
		counted("both are there", 4, 7)
		if _, err := b.group.Kill(0); err != nil {
			t.Fatal(err)
		}
		count(0, 9, 9)
		counted("one was killed", 4, 2)
		if err := b.group.Leave(1); err != nil {
			t.Fatal(err)
		}
		counted("nobody is there", 4, 0)
		if err := b.group.Start(0); err != nil {
			t.Fatal(err)
		}
		count(2, 10, 1)
		counted("one came back", 14, 1)
		b.group.Stop(context.Background())
		counted("all is stopped", 14, 1)
	})
}

func TestQueuePause(t *testing.T) {
	one := func(c *Config, q *fakeQueue) {
		c.Members, c.Batch, c.Plan, q.visibility = 1, 1, loadtest.FixedWork(10*time.Millisecond), 0
	}
	ofQueue(t, 500, one, func(t *testing.T, b *queueBench) {
		time.Sleep(505 * time.Millisecond)
		if _, err := b.group.Pause(0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		before := b.group.Totals().Acked
		time.Sleep(10 * time.Second)
		if after := b.group.Totals().Acked; after != before || before == 0 {
			t.Errorf("%d acknowledged before, %d after ten seconds", before, after)
		}
		if err := b.group.Resume(0); err != nil {
			t.Fatal(err)
		}
		if m := b.drain(t, time.Minute); m.Acked != 2000 || m.Received != 2000 {
			t.Errorf("%+v", m)
		}
		if _, err := b.group.Pause(0); err != nil {
			t.Fatal(err)
		}
	})
	ordered := func(c *Config, q *fakeQueue) {
		c.Members, c.Ordered, c.Hold, q.visibility = 1, true, true, 0
	}
	ofQueue(t, 500, ordered, func(t *testing.T, b *queueBench) {
		if _, err := b.group.Pause(0); err != nil {
			t.Fatal(err)
		}
		b.group.Release()
		time.Sleep(time.Second)
		if r := b.group.Received(); r.Delivered != 0 {
			t.Errorf("a paused consumer was handed %d records by its queue", r.Delivered)
		}
		if err := b.group.Resume(0); err != nil {
			t.Fatal(err)
		}
		b.drain(t, time.Minute)
	})
}

func TestQueueHold(t *testing.T) {
	ofQueue(t, 100, func(c *Config, _ *fakeQueue) { c.Hold = true }, func(t *testing.T, b *queueBench) {
		time.Sleep(time.Second)
		if r := b.group.Received(); r.Delivered != 0 {
			t.Errorf("%+v", r)
		}
		b.group.Release()
		b.drain(t, time.Minute)
	})
}

func TestQueueInOrder(t *testing.T) {
	ordered := func(c *Config, _ *fakeQueue) { c.Ordered, c.Drop, c.Nack = true, 0.25, true }
	ofQueue(t, 500, ordered, func(t *testing.T, b *queueBench) {
		m := b.drain(t, time.Hour)
		if m.Acked != 2000 || m.Nacked != m.Received-m.Acked || m.Nacked < 500 || m.AttemptsDiffer != 0 {
			t.Errorf("%+v", m)
		}
	})
}

func TestQueueLosesAcknowledgements(t *testing.T) {
	forgetful := func(c *Config, q *fakeQueue) {
		c.Members, c.Open = 1, func(n int) (Queue, error) {
			m := &fakeQueueMember{queue: q, forget: func(r *fakeRecord) bool { return r.attempt == 1 }}
			return m, nil
		}
	}
	ofQueue(t, 100, forgetful, func(t *testing.T, b *queueBench) {
		b.drain(t, time.Minute)
		time.Sleep(time.Minute)
		_, m := b.group.Tally()
		if m.Acked != 400 || m.AckedAgain != 400 || m.Received != 800 {
			t.Errorf("%+v", m)
		}
	})
}

func TestQueueLosesRecords(t *testing.T) {
	ofQueue(t, 100, func(_ *Config, q *fakeQueue) { q.ready = append(q.ready[:7], q.ready[10:]...) }, func(t *testing.T, b *queueBench) {
		time.Sleep(time.Minute)
		if got := b.missing(); got != 3 {
			t.Errorf("%d are missing, want 3", got)
		}
	})
}

func TestCorruptCountsOnce(t *testing.T) {
	b := newBook(0, 0, Config{Producers: 1, Partitions: 1})
	for at, offset := range []int64{7, 8, 7, 7} {
		b.delivered.Lock()
		b.corrupt(offset, int64(at))
		b.delivered.Unlock()
	}
	if r := b.reached(); r.Position != 2 || r.Arrived != 2 || r.Corrupt != 2 || r.Delivered != 4 || r.At != 1 {
		t.Errorf("%+v", r)
	}
}
