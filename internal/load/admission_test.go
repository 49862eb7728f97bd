package load

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// sluice is a controller that admits everything or nothing, as it is told.
type sluice struct{ open bool }

func (s *sluice) Decide(backpressure.Observation) backpressure.Decision {
	d := backpressure.Decision{Bound: backpressure.Unlimited}
	if s.open {
		d.Ceiling = backpressure.Unlimited
	}
	return d
}

// sluices are gates for the partitions of a fake Kafka, of which the first is shut.
func sluices(t *testing.T) (gates *backpressure.Partitioned, first *sluice) {
	t.Helper()
	var all []*sluice
	gates, err := backpressure.NewPartitioned(backpressure.PartitionedConfig{
		Partitions: 4,
		NewController: func() (backpressure.Controller, error) {
			all = append(all, &sluice{open: len(all) > 0})
			return all[len(all)-1], nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	report(gates)
	return gates, all[0]
}

// report has the controllers of all partitions decide.
func report(gates *backpressure.Partitioned) {
	r := backpressure.Reading{Partitions: make([]backpressure.Partition, gates.Partitions())}
	for id := range r.Partitions {
		r.Partitions[id].ID = int32(id)
	}
	gates.Report(gates.Mark(), r)
}

// wantBalance fails the test unless the counts of a phase add up to what came due.
func wantBalance(t *testing.T, s Sent, scheduled int64) {
	t.Helper()
	if s.Scheduled != scheduled || s.Deferred() < 0 || s.InFlight() != 0 {
		t.Errorf("%+v: deferred %d, in flight %d; want %d scheduled, none of them twice and none in flight",
			s, s.Deferred(), s.InFlight(), scheduled)
	}
}

// The gate of one partition keeps that one's records out, and no others.
func TestShutPartitionShedsItsOwnRecords(t *testing.T) {
	gates, _ := sluices(t)
	inBubble(t, 1000, func(b *bench) { b.cfg.Partitioned, b.cfg.Excess = gates, backpressure.Shed }, func(t *testing.T, b *bench) {
		warmup, measured := b.offer(2 * time.Second)
		wantBalance(t, warmup, 1000)
		wantBalance(t, measured, 2000)
		if warmup.ShedByGate != 250 || measured.ShedByGate != 500 || measured.Acked != 1500 {
			t.Errorf("warm-up %+v, measured %+v; want a quarter shed", warmup, measured)
		}
		for _, r := range b.kafka.produced {
			if r.Partition == 0 {
				t.Fatal("a record went to the partition whose gate is shut")
			}
		}
	})
}

// A record that waits for its partition holds up those behind it, and keeps the
// partition that was chosen for it: the order is that of an open gate.
func TestShutPartitionHoldsUpTheQueue(t *testing.T) {
	gates, first := sluices(t)
	inBubble(t, 1000, func(b *bench) { b.cfg.Partitioned = gates }, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, time.Second)
		b.ps.Start()
		time.Sleep(1500 * time.Millisecond)
		// One worker begins at partition 0 and sends nothing, the other at 1.
		if warmup, _ := b.ps.Sent(); warmup.Admitted != 3 {
			t.Errorf("%d records were admitted before the queues were held up, want 3", warmup.Admitted)
		}
		if waiting, due := b.ps.Waiting(); waiting < 1496 || due != -int64(time.Second) {
			t.Errorf("%d records wait, the oldest since %d", waiting, due)
		}
		first.open = true
		report(gates)
		<-b.ps.Done()
		b.ps.Close()
		_, measured := b.ps.Sent()
		wantBalance(t, measured, 1000)
		if measured.Acked != 1000 {
			t.Errorf("%+v; want all sent in the end", measured)
		}
		next := map[int]int32{0: 0, 1: 1} // by worker, each of which has a client
		for i, r := range b.kafka.produced {
			worker := b.kafka.by[i]
			if r.Partition != next[worker] {
				t.Fatalf("record %d: worker %d chose partition %d, want %d", i, worker, r.Partition, next[worker])
			}
			next[worker] = (next[worker] + 1) % 4
		}
	})
}

// Of the records that a gate refuses, one in keep waits and the others are shed; what
// waits goes first when the gate opens, with the time at which it was due.
func TestDegradeKeepsOneInSoMany(t *testing.T) {
	control := &sluice{}
	gate, err := backpressure.New(backpressure.Config{Controller: control})
	if err != nil {
		t.Fatal(err)
	}
	gate.Report(gate.Mark(), backpressure.Reading{})
	degraded := func(b *bench) { b.cfg.Gate, b.cfg.Excess, b.cfg.Keep = gate, backpressure.Degrade, 10 }
	inBubble(t, 1000, degraded, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, 2*time.Second)
		b.ps.Start()
		time.Sleep(1999500 * time.Microsecond) // between two records
		warmup, measured := b.ps.Sent()
		wantBalance(t, warmup, 1000)
		if warmup.ShedByDegrade != 900 || warmup.Deferred() != 100 || measured.Admitted != 0 {
			t.Errorf("warm-up %+v, measured %+v; want 900 of the first 1000 shed", warmup, measured)
		}
		if waiting, due := b.ps.Waiting(); waiting != 200 || due != -int64(time.Second) {
			t.Errorf("%d records wait, the oldest since %d; want 200, since the start", waiting, due)
		}
		control.open = true
		gate.Report(gate.Mark(), backpressure.Reading{})
		<-b.ps.Done()
		b.ps.Close()
		warmup, measured = b.ps.Sent()
		wantBalance(t, warmup, 1000)
		wantBalance(t, measured, 2000)
		if warmup.Acked != 100 || measured.Acked < 1098 || measured.Acked > 1101 || measured.Deferred() != 0 {
			t.Errorf("warm-up %+v, measured %+v; want the kept ones sent, and all from then on", warmup, measured)
		}
	})
}

// What is kept counts in the bound of the queue; beyond it the oldest go.
func TestDegradedQueueHasItsBound(t *testing.T) {
	degraded := func(b *bench) {
		b.cfg.Gate, b.cfg.Excess, b.cfg.Keep, b.cfg.MaxDeferred = closedGate(), backpressure.Degrade, 10, 40
	}
	inBubble(t, 1000, degraded, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, time.Second)
		b.ps.Start()
		time.Sleep(3 * time.Second)
		b.ps.Close()
		warmup, measured := b.ps.Sent()
		wantBalance(t, warmup, 1000)
		wantBalance(t, measured, 1000)
		if warmup.ShedByQueue != 100 || measured.ShedByQueue != 60 || measured.Deferred() != 40 {
			t.Errorf("warm-up %+v, measured %+v; want the youngest 40 of the kept to wait", warmup, measured)
		}
		if waiting, _ := b.ps.Waiting(); waiting != 40 {
			t.Errorf("%d records wait", waiting)
		}
	})
}

// With a gate for each partition too, one in keep of the refused is kept, and the
// others of its partition go by it when there is room again.
func TestDegradeByPartition(t *testing.T) {
	gates, first := sluices(t)
	degraded := func(b *bench) { b.cfg.Partitioned, b.cfg.Excess, b.cfg.Keep = gates, backpressure.Degrade, 5 }
	inBubble(t, 1000, degraded, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, time.Second)
		b.ps.Start()
		time.Sleep(1000500 * time.Microsecond)
		warmup, _ := b.ps.Sent()
		if warmup.ShedByDegrade != 200 || warmup.Deferred() != 50 || warmup.Acked != 750 {
			t.Errorf("%+v; want 250 refused, of which 50 wait", warmup)
		}
		first.open = true
		report(gates)
		<-b.ps.Done()
		b.ps.Close()
		warmup, measured := b.ps.Sent()
		wantBalance(t, warmup, 1000)
		wantBalance(t, measured, 1000)
		if warmup.Acked != 800 || measured.Acked+measured.ShedByDegrade != 1000 || measured.ShedByDegrade > 1 {
			t.Errorf("warm-up %+v, measured %+v; want the kept 50 sent", warmup, measured)
		}
	})
}

// The gate learns of every record what became of it: acked and failed are settled at
// once, the unknown only when they can no longer come into the log.
func TestGateLearnsWhatBecameOfRecords(t *testing.T) {
	const doubt = 10 * time.Second
	gate := func(b *bench) *backpressure.Gate {
		g, err := backpressure.New(backpressure.Config{Doubt: doubt, Now: func() time.Duration { return time.Duration(b.axis.Now()) }})
		if err != nil {
			panic(err)
		}
		return g
	}
	mixed := func(b *bench) {
		b.kafka.outcome = func(i int) driver.Outcome { return driver.Outcome(i % 3) }
		b.cfg.Gate = gate(b)
	}
	inBubble(t, 900, mixed, func(t *testing.T, b *bench) {
		b.offer(time.Second)
		b.cfg.Gate.Mark()
		if s := b.cfg.Gate.Stats(); s.Admitted != 1800 || s.Settled != 1200 {
			t.Errorf("%d admitted, %d settled; want 1800, and the 600 unknown not settled", s.Admitted, s.Settled)
		}
		time.Sleep(2 * doubt)
		b.cfg.Gate.Mark()
		if s := b.cfg.Gate.Stats(); s.Settled != 1800 {
			t.Errorf("%d settled in the end, want all", s.Settled)
		}
	})
}

// TestCreditKeepsItsBoundInTheWorker is the guarantee from the worker's side: with a
// slow broker, commits in steps and readings that take long, there are never more
// records in the log and not committed than the bound. A worker that called a record
// settled before it was would break it.
func TestCreditKeepsItsBoundInTheWorker(t *testing.T) {
	const bound = 100
	credit, err := backpressure.NewCredit(bound)
	if err != nil {
		t.Fatal(err)
	}
	slow := func(b *bench) {
		b.kafka.ackAfter = func(now int64) time.Duration { return time.Duration(now/1e6%37) * time.Millisecond }
		b.kafka.outcome = func(i int) driver.Outcome {
			return []driver.Outcome{driver.Acked, driver.Acked, driver.Acked, driver.Failed}[i%4]
		}
		if b.cfg.Gate, err = backpressure.New(backpressure.Config{Controller: credit}); err != nil {
			panic(err)
		}
	}
	inBubble(t, 1000, slow, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, 3*time.Second)
		b.ps.Start()
		var committed, peak int64
		inLog := func() (sum int64) {
			b.kafka.mu.Lock()
			defer b.kafka.mu.Unlock()
			for _, partition := range b.kafka.log {
				sum += int64(len(partition))
			}
			return sum
		}
		gate := b.cfg.Gate
		for step := range 400 {
			mark, r := gate.Mark(), backpressure.Reading{Committed: committed}
			time.Sleep(4 * time.Millisecond)
			r.Lag = inLog() - committed
			time.Sleep(6 * time.Millisecond)
			peak = max(peak, inLog()-committed)
			if step%7 == 0 {
				committed = min(inLog(), committed+35) // 500/s
			}
			gate.Report(mark, r)
		}
		b.ps.Close()
		_, measured := b.ps.Sent()
		wantBalance(t, measured, 3000)
		if peak > bound || peak < bound*9/10 {
			t.Errorf("the lag had its peak at %d, the bound is %d", peak, bound)
		}
		// 4 s at 500/s come into the log, and one in four records fails.
		if sent := gate.Admitted(); math.Abs(float64(sent)-4000*0.5*4/3) > 200 {
			t.Errorf("%d records were admitted, want about 2667", sent)
		}
	})
}
