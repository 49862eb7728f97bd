package send

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// With rations, the gate may admit so many more records after each reading.
type rations struct{ each, ceiling int64 }

func (r *rations) Decide(lagcontrol.Observation) lagcontrol.Decision {
	r.ceiling += r.each
	return lagcontrol.Decision{Ceiling: r.ceiling, Bound: lagcontrol.Unlimited}
}

// The gate takes half of the load, in rations that one worker could use up.
func TestDeferredRecordsGoInOrderOfDueTime(t *testing.T) {
	rationed := func(b *bench) { b.cfg.Workers, b.cfg.Gate = 8, gateOf(&rations{each: 50}) }
	inBubble(t, 1000, rationed, func(t *testing.T, b *bench) {
		gate := b.cfg.Gate
		b.axis.Set(time.Second, 2*time.Second)
		b.ps.Start()
		for range 60 {
			time.Sleep(100 * time.Millisecond)
			gate.Report(gate.Mark(), lagcontrol.Reading{})
		}
		<-b.ps.Done()
		b.ps.Close()
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
