package send

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

type sluice struct{ open bool }

func (s *sluice) Decide(lagcontrol.Observation) lagcontrol.Decision {
	d := lagcontrol.Decision{Bound: lagcontrol.Unlimited}
	if s.open {
		d.Ceiling = lagcontrol.Unlimited
	}
	return d
}

func wantBalance(t *testing.T, s snapshot.Sent, scheduled int64) {
	t.Helper()
	if s.Scheduled != scheduled || s.Deferred() < 0 || s.InFlight() != 0 {
		t.Errorf("%+v: deferred %d, in flight %d; want %d scheduled, none of them twice and none in flight",
			s, s.Deferred(), s.InFlight(), scheduled)
	}
}

// Of every N refused records one waits, and is sent first when the gate opens.
func TestDegradeKeepsOneInSoMany(t *testing.T) {
	control := &sluice{}
	gate, err := lagcontrol.New(lagcontrol.Config{Controller: control})
	if err != nil {
		t.Fatal(err)
	}
	gate.Report(gate.Mark(), lagcontrol.Reading{})
	degraded := func(b *bench) { b.cfg.Gate, b.cfg.Excess, b.cfg.Keep = gate, Degrade, 10 }
	inBubble(t, 1000, degraded, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, 2*time.Second)
		b.ps.Start()
		time.Sleep(1999500 * time.Microsecond)
		warmup, measured := b.ps.Sent()
		wantBalance(t, warmup, 1000)
		if warmup.ShedByDegrade != 900 || warmup.Deferred() != 100 || measured.Admitted != 0 {
			t.Errorf("warm-up %+v, measured %+v; want 900 of the first 1000 shed", warmup, measured)
		}
		if waiting, due := b.ps.Waiting(); waiting != 200 || due != -int64(time.Second) {
			t.Errorf("%d records wait, the oldest since %d; want 200, since the start", waiting, due)
		}
		control.open = true
		gate.Report(gate.Mark(), lagcontrol.Reading{})
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

func TestDegradedQueueHasItsBound(t *testing.T) {
	degraded := func(b *bench) {
		b.cfg.Gate, b.cfg.Excess, b.cfg.Keep, b.cfg.MaxDeferred = closedGate(), Degrade, 10, 40
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

// A kept record is sent before every later record.
func TestDegradeKeepsTheOrder(t *testing.T) {
	for _, warmup := range []int64{0, 2} {
		control := &sluice{}
		gate := gateOf(control)
		degraded := func(b *bench) {
			b.cfg.Gate, b.cfg.Excess, b.cfg.Keep = gate, Degrade, 1
			b.cfg.Workers, b.cfg.Partitions = 1, 1
			process, err := arrival.Constant(perSecond(1000))
			if err != nil {
				t.Fatal(err)
			}
			b.cfg.Arrivals = arrival.WithWarmup(time.Duration(warmup)*time.Millisecond, process)
		}
		inBubble(t, 1000, degraded, func(t *testing.T, b *bench) {
			start := time.Duration(warmup) * time.Millisecond
			b.axis.Set(start, 4*time.Millisecond-start)
			b.ps.Start()
			time.Sleep(1500 * time.Microsecond)
			if got := b.lane(t, 0, warmup); got != "" {
				t.Errorf("after %d of the warm-up %q was sent through a closed gate", warmup, got)
			}
			control.open = true
			gate.Report(gate.Mark(), lagcontrol.Reading{})
			<-b.ps.Done()
			b.ps.Close()
			if got := b.lane(t, 0, warmup); got != "0 1 2 3" {
				t.Errorf("after %d of the warm-up %q was sent, want the kept 0 and 1 first", warmup, got)
			}
			ofWarmup, measured := b.ps.Sent()
			wantBalance(t, ofWarmup, warmup)
			wantBalance(t, measured, 4-warmup)
			books := ledger.Close(b.ps.Books(), nil, nil)
			if books.Warmup.Acked != warmup || books.Measured.Acked != 4-warmup {
				t.Errorf("after %d of the warm-up the books have %d and %d acked", warmup, books.Warmup.Acked, books.Measured.Acked)
			}
		})
	}
}

func (b *bench) lane(t *testing.T, partition int32, warmup int64) string {
	b.kafka.mu.Lock()
	defer b.kafka.mu.Unlock()
	var all []string
	for _, r := range b.kafka.produced {
		if r.Partition != partition {
			continue
		}
		stamp, check := payload.ReadStamp(r.Value)
		if check != payload.Intact {
			t.Fatalf("a record is %v", check)
		}
		all = append(all, strconv.FormatInt(stamp.Intended/int64(time.Millisecond)+warmup, 10))
	}
	return strings.Join(all, " ")
}

// Unknown records count as done only after the time of doubt.
func TestGateLearnsWhatBecameOfRecords(t *testing.T) {
	const doubt = 10 * time.Second
	gate := func(b *bench) *lagcontrol.Gate {
		g, err := lagcontrol.New(lagcontrol.Config{Doubt: doubt, Now: func() time.Duration { return time.Duration(b.axis.Now()) }})
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

func TestCreditKeepsItsBoundInTheWorker(t *testing.T) {
	const bound = 100
	credit, err := lagcontrol.NewCredit(bound)
	if err != nil {
		t.Fatal(err)
	}
	slow := func(b *bench) {
		b.kafka.ackAfter = func(now int64) time.Duration { return time.Duration(now/1e6%37) * time.Millisecond }
		b.kafka.outcome = func(i int) driver.Outcome {
			return []driver.Outcome{driver.Acked, driver.Acked, driver.Acked, driver.Failed}[i%4]
		}
		if b.cfg.Gate, err = lagcontrol.New(lagcontrol.Config{Controller: credit}); err != nil {
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
			mark, r := gate.Mark(), lagcontrol.Reading{Committed: committed}
			time.Sleep(4 * time.Millisecond)
			r.Lag = inLog() - committed
			time.Sleep(6 * time.Millisecond)
			peak = max(peak, inLog()-committed)
			if step%7 == 0 {
				committed = min(inLog(), committed+35)
			}
			gate.Report(mark, r)
		}
		b.ps.Close()
		_, measured := b.ps.Sent()
		wantBalance(t, measured, 3000)
		if peak > bound || peak < bound*9/10 {
			t.Errorf("the lag had its peak at %d, the bound is %d", peak, bound)
		}
		// In 4 s, 500 records/s enter the log, and one in four records fails.
		if sent := gate.Admitted(); math.Abs(float64(sent)-4000*0.5*4/3) > 200 {
			t.Errorf("%d records were admitted, want about 2667", sent)
		}
	})
}
