package segmentio_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/segmentio"
)

const topic = "t"

// TestOutcomeOfFaults produces one record to a broker that misbehaves, and checks the
// outcome that comes back.
func TestOutcomeOfFaults(t *testing.T) {
	var all sync.WaitGroup // the tests wait most of the time, so they run at once
	for _, test := range []struct {
		name   string
		fault  func(*kfake.Cluster)
		change func(*driver.ProducerConfig)
		want   driver.Outcome
	}{
		{"healthy", nil, nil, driver.Acked},
		{"leader moves once", answer(kerr.NotLeaderForPartition, 1), patient, driver.Acked},
		{"times out once", answer(kerr.RequestTimedOut, 1), patient, driver.Acked},
		{"not authorized", answer(kerr.TopicAuthorizationFailed, -1), nil, driver.Failed},
		{"too large for the broker", answer(kerr.MessageTooLarge, -1), nil, driver.Failed},
		{"too few replicas", answer(kerr.NotEnoughReplicas, -1), nil, driver.Failed},
		{"not the leader, acks 1", answer(kerr.NotLeaderForPartition, -1), acksLeader, driver.Failed},
		{"not the leader, acks all", answer(kerr.NotLeaderForPartition, -1), nil, driver.Unknown},
		{"timed out after the append", answer(kerr.RequestTimedOut, -1), nil, driver.Unknown},
		{"too few replicas after the append", answer(kerr.NotEnoughReplicasAfterAppend, -1), nil, driver.Unknown},
		{"storage", answer(kerr.KafkaStorageError, -1), nil, driver.Unknown},
		{"timed out, then refused", timeOutThenRefuse, patient, driver.Unknown},
		{"cut off after the write", cut(-1), nil, driver.Unknown},
		{"cut off once", cut(1), patient, driver.Acked},
		{"cut off, then refused", cutThenRefuse, patient, driver.Unknown},
		{"silent", silence, nil, driver.Unknown},
	} {
		all.Go(func() {
			t.Run(test.name, func(t *testing.T) { testFault(t, test.fault, test.change, test.want) })
		})
	}
	all.Wait()
}

func testFault(t *testing.T, fault func(*kfake.Cluster), change func(*driver.ProducerConfig), want driver.Outcome) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if fault != nil {
		fault(cluster)
	}
	done := make(chan driver.Done, 2)
	cfg := config(cluster, done)
	if change != nil {
		change(&cfg)
	}
	r := produceOne(t, cfg, done)
	if r.Outcome != want || (r.Err == nil) != (want == driver.Acked) {
		t.Errorf("%v (%v), want %v", r.Outcome, r.Err, want)
	}
	if (r.Offset >= 0) != (want == driver.Acked) {
		t.Errorf("offset %d of a record that is %v", r.Offset, r.Outcome)
	}
}

func config(cluster *kfake.Cluster, done chan driver.Done) driver.ProducerConfig {
	return driver.ProducerConfig{
		Brokers: cluster.ListenAddrs(), Topic: topic, Acks: driver.AcksAll,
		DeliveryTimeout: time.Second,
		OnDone:          func(d driver.Done) { done <- d },
	}
}

func patient(c *driver.ProducerConfig)    { c.DeliveryTimeout = 10 * time.Second }
func acksLeader(c *driver.ProducerConfig) { c.Acks = driver.AcksLeader }

// answer has the broker answer produce requests with err, n times or always (-1).
func answer(err *kerr.Error, n int) func(*kfake.Cluster) {
	return func(c *kfake.Cluster) {
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: n})
	}
}

// cut has the broker cut the connection instead of answering.
func cut(n int) func(*kfake.Cluster) {
	return func(c *kfake.Cluster) {
		c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			if n < 0 {
				c.KeepControl()
			}
			return nil, errors.New("cut"), true
		})
	}
}

func timeOutThenRefuse(c *kfake.Cluster) {
	answer(kerr.RequestTimedOut, 1)(c)
	answer(kerr.TopicAuthorizationFailed, -1)(c)
}

func cutThenRefuse(c *kfake.Cluster) {
	cut(1)(c)
	answer(kerr.TopicAuthorizationFailed, -1)(c)
}

// silence has the broker never answer.
func silence(c *kfake.Cluster) {
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, nil, true
	})
}

// produceOne produces one record and waits until it is handed back, once.
func produceOne(t *testing.T, cfg driver.ProducerConfig, done chan driver.Done) (d driver.Done) {
	t.Helper()
	p, err := segmentio.New().NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Produce(&driver.Record{Value: []byte("value")})
	select {
	case d = <-done:
	case <-time.After(10 * cfg.DeliveryTimeout):
		t.Errorf("not handed back %v after Produce", 10*cfg.DeliveryTimeout)
	}
	p.Close()
	if len(done) > 0 {
		t.Error("handed back again")
	}
	return d
}

// TestOutcomeOfClose closes a producer whose record was not written, and one whose
// record was.
func TestOutcomeOfClose(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	written := make(chan struct{}, 1)
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		written <- struct{}{}
		return nil, nil, true
	})
	for _, test := range []struct {
		name   string
		linger time.Duration
		await  func()
		want   driver.Outcome
	}{
		{"held back", time.Minute, func() {}, driver.Failed},
		{"in flight", 0, func() { <-written }, driver.Unknown},
	} {
		done := make(chan driver.Done, 2)
		cfg := config(cluster, done)
		cfg.Linger, cfg.DeliveryTimeout = test.linger, 0
		p, err := segmentio.New().NewProducer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.Produce(&driver.Record{Value: []byte("value")})
		test.await()
		p.Close()
		if len(done) != 1 {
			t.Fatalf("%s: handed back %d times when Close returned", test.name, len(done))
		}
		if d := <-done; d.Outcome != test.want {
			t.Errorf("%s: %v (%v), want %v", test.name, d.Outcome, d.Err, test.want)
		}
	}
}

// TestProduceAfterClose: a record that comes too late comes back, too.
func TestProduceAfterClose(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	done := make(chan driver.Done, 1)
	p, err := segmentio.New().NewProducer(config(cluster, done))
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	p.Produce(&driver.Record{Value: []byte("value")})
	if d := <-done; d.Outcome != driver.Failed {
		t.Errorf("%v (%v), want failed", d.Outcome, d.Err)
	}
}

// TestDialer: a driver with a dialer of the caller's uses it for every connection, and
// a broker that it does not reach fails the records.
func TestDialer(t *testing.T) {
	refused := errors.New("no such road")
	d := segmentio.New(segmentio.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, refused }))
	done := make(chan driver.Done, 2)
	cfg := driver.ProducerConfig{
		Brokers: []string{"127.0.0.1:1"}, Topic: topic, Acks: driver.AcksLeader, DeliveryTimeout: time.Second,
		OnDone: func(d driver.Done) { done <- d },
	}
	p, err := d.NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Produce(&driver.Record{Value: []byte("value")})
	if r := <-done; r.Outcome != driver.Failed || !errors.Is(r.Err, refused) {
		t.Errorf("%v (%v), want failed, because of the dialer", r.Outcome, r.Err)
	}
}
