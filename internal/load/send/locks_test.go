package send

import (
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

func TestCompletedRecordsAreEnteredAtOnce(t *testing.T) {
	const n = 50
	p := &producer{
		axis: load.NewAxis(nil), slots: newSlots(0, n), recorder: latency.NewRecorder(latency.SendServiceTime),
		books: ledger.NewSender(0, 1), acks: []load.GapWatch{load.NewGapWatch(1)}, inFlight: n,
		errors: [2]map[string]int64{{}, {}},
	}
	for range n {
		s := p.slots.take()
		s.sequence = p.books.Next(0, false)
		p.slots.report(completion{tag: s.record.Tag, outcome: driver.Acked, err: slowError{}})
	}
	var sampling sync.WaitGroup
	completed := make(chan struct{})
	sampling.Go(func() {
		for running := true; running; {
			select {
			case <-completed:
				running = false
			default:
			}
			p.recorder.Lock()
			seen := p.counts[1].Acked
			p.recorder.Unlock()
			if seen != 0 && seen != n {
				t.Errorf("the sampler saw %d of %d records of one round", seen, n)
				return
			}
		}
	})
	p.complete()
	close(completed)
	sampling.Wait()
	if p.counts[1].Acked != n {
		t.Errorf("%d of %d records were entered", p.counts[1].Acked, n)
	}
}

// A slowError takes a millisecond to count, so that a sampler can get a lock that is released between records.
type slowError struct{}

func (slowError) Error() string {
	time.Sleep(time.Millisecond)
	return "slow"
}
