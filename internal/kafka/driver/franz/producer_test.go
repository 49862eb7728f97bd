package franz

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// TestSlotIsUsedAgain: a record's second use takes the client's record of the
// first, with a time stamp of its own (the client judges a record's age by it).
func TestSlotIsUsedAgain(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	p, err := New().NewProducer(driver.ProducerConfig{
		Brokers: cluster.ListenAddrs(), Topic: "t", Acks: driver.AcksLeader, OnDone: func(driver.Done) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := &driver.Record{Value: []byte("value")}
	use := func() (*slot, time.Time) {
		p.Produce(r)
		if err := p.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		s := r.Native.(*slot)
		return s, s.record.Timestamp
	}
	first, firstTime := use()
	time.Sleep(2 * time.Millisecond) // time stamps count milliseconds
	second, secondTime := use()
	if first != second {
		t.Error("the second use made a new slot")
	}
	if !secondTime.After(firstTime) {
		t.Errorf("time stamps %v and %v", firstTime, secondTime)
	}
	copied := *r
	p.Produce(&copied)
	if copied.Native.(*slot) == second {
		t.Error("a copy of a record shares its slot")
	}
}
