package send

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// rations admits so many more records at each reading.
type rations struct{ each, ceiling int64 }

func (r *rations) Decide(backpressure.Observation) backpressure.Decision {
	r.ceiling += r.each
	return backpressure.Decision{Ceiling: r.ceiling, Bound: backpressure.Unlimited}
}

// The gate takes half of the load, in rations that one worker could use up.
func rationed(t *testing.T, b *bench) {
	t.Helper()
	gate, err := backpressure.New(backpressure.Config{Controller: &rations{each: 50}})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Gate = gate
	b.axis.Set(time.Second, 2*time.Second)
	if b.ps, err = Open(b.cfg); err != nil {
		t.Fatal(err)
	}
	gate.Report(gate.Mark(), backpressure.Reading{}) // a new gate of this controller is open
	b.ps.Start()
	for range 60 {
		time.Sleep(100 * time.Millisecond)
		gate.Report(gate.Mark(), backpressure.Reading{})
	}
	<-b.ps.Done()
	b.ps.Close()
}

func TestDeferredRecordsGoInOrderOfDueTime(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Workers = 8 }, func(t *testing.T, b *bench) {
		b.ps.Close()
		rationed(t, b)
		if len(b.kafka.produced) != 3000 {
			t.Fatalf("%d records were sent, want all 3000", len(b.kafka.produced))
		}
		youngest := -int64(time.Second) // the warm-up
		for _, r := range b.kafka.produced {
			stamp, _ := payload.ReadStamp(r.Value)
			if early := time.Duration(youngest - stamp.Intended); early > ahead {
				t.Fatalf("a record went %v before one that was due earlier; want at most %v", early, ahead)
			}
			youngest = max(youngest, stamp.Intended)
		}
	})
}

// The workers' peaks are of other moments.
func TestDeferredPeakIsOfOneMoment(t *testing.T) {
	s := newSource(2)
	for _, n := range []int64{100, -60, 50, 30, -120, 100} {
		s.add(n)
	}
	if peak := s.peak.Load(); peak != 120 {
		t.Errorf("the peak is %d records, want 120", peak)
	}
}

// A worker whose own buffer is full does not wait for the gate, so the others go on.
func TestFullBufferHoldsBackNoOtherWorker(t *testing.T) {
	s := newSource(2)
	const due = int64(time.Second)
	p := &producer{source: s, head: &s.heads[1], slots: newSlots(1, slabSize), admission: admission{gate: closedGate()}}
	p.queue = queue{sent: arrivalAt(due), waiting: 1}
	p.tellSource()
	if turn, want := s.turn(due), due+int64(ahead); turn != want {
		t.Errorf("records due until %d may go while one waits, want %d", turn, want)
	}
	for p.slots.available() > 0 {
		p.slots.take()
	}
	p.tellSource()
	if turn := s.turn(due + int64(retryEvery)); turn != nobody {
		t.Errorf("records due until %d may go while its worker has a full buffer", turn)
	}
}

type arrivalAt int64

func (a arrivalAt) Index() int64          { return 0 }
func (a arrivalAt) Due() int64            { return int64(a) }
func (a arrivalAt) Advance()              {}
func (a arrivalAt) Clone() arrival.Stream { return a }

// Shares of a bound follow demand, which is what the gate refuses. So not only the oldest record asks.
func TestMoreThanTheOldestRecordAsk(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Gate = closedGate() }, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, time.Second)
		b.ps.Start()
		time.Sleep(3 * time.Second)
		b.ps.Close()
		asked := int64(3 * time.Second / retryEvery)
		if refused := b.cfg.Gate.Stats().Refused; refused < 20*asked {
			t.Errorf("%d records were refused in %d milliseconds", refused, asked)
		}
	})
}
