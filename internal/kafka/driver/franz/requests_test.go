package franz

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func TestRequestsAreTimed(t *testing.T) {
	var w wire
	took := kgo.BrokerE2E{WriteWait: time.Hour, TimeToWrite: time.Millisecond, ReadWait: 3 * time.Millisecond, TimeToRead: time.Millisecond}
	for _, broker := range []int32{1, 2, 1} {
		w.OnBrokerE2E(kgo.BrokerMetadata{NodeID: broker}, int16(kmsg.Produce), took)
	}
	w.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 3}, int16(kmsg.Fetch), took)
	w.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 4}, int16(kmsg.Metadata), took)
	took.ReadErr = errors.New("lost")
	w.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 5}, int16(kmsg.Produce), took)
	want := driver.Requests{
		Produce: driver.RequestSum{Count: 3, Time: 15 * time.Millisecond, Connections: 2},
		Fetch:   driver.RequestSum{Count: 1, Time: 5 * time.Millisecond, Connections: 1},
	}
	if got := w.requests(); got != want {
		t.Errorf("requests %+v, want %+v", got, want)
	}
	if w.unanswered.Load() != 1 {
		t.Errorf("%d unanswered, want 1", w.unanswered.Load())
	}
}

func TestTimingARequestAllocatesNothing(t *testing.T) {
	var w wire
	e2e := kgo.BrokerE2E{ReadWait: time.Millisecond}
	if n := testing.AllocsPerRun(100, func() { w.time(7, int16(kmsg.Produce), e2e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
