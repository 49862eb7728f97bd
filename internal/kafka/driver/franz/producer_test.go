package franz

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
)

// TestSlotIsUsedAgain: a reused record has a new timestamp, by which the client judges its age.
func TestSlotIsUsedAgain(t *testing.T) {
	drivertest.Virtual(t, testSlotIsUsedAgain, drivertest.Topics(1)...)
}

func testSlotIsUsedAgain(t *testing.T, cluster drivertest.Cluster) {
	done := make(chan driver.Done, 1)
	p := drivertest.Producer(t, New(), driver.ProducerConfig{
		Brokers: cluster.ListenAddrs(), Access: cluster.Access, Acks: driver.AcksLeader,
		OnDone: func(d driver.Done) { done <- d },
	})
	r := &driver.Record{Value: []byte("value")}
	use := func() (*slot, time.Time) {
		p.Produce(r)
		<-done
		s := r.Native.(*slot)
		return s, s.record.Timestamp
	}
	first, firstTime := use()
	time.Sleep(2 * time.Millisecond)
	second, secondTime := use()
	if first != second {
		t.Error("the second use made a new slot")
	}
	if apart := secondTime.Sub(firstTime); apart != 2*time.Millisecond {
		t.Errorf("the time stamps are %v apart, want 2ms", apart)
	}
	copied := *r
	p.Produce(&copied)
	if copied.Native.(*slot) == second {
		t.Error("a copy of a record shares its slot")
	}
}
