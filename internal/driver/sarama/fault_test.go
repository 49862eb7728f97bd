package sarama_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/sarama"
)

const topic = "t"

// TestOutcomeOfFaults produces one record to a broker that misbehaves, and checks
// the outcome that comes back.
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
		{"cut off once", cut(1), patient, driver.Acked},
		{"cut off once, idempotent", cut(1), func(c *driver.ProducerConfig) { patient(c); idempotent(c) }, driver.Acked},
		{"not authorized", answer(kerr.TopicAuthorizationFailed, -1), nil, driver.Failed},
		{"too large for the broker", answer(kerr.MessageTooLarge, -1), nil, driver.Failed},
		{"too large, idempotent", answer(kerr.MessageTooLarge, -1), idempotent, driver.Failed},
		{"timed out after the append", answer(kerr.RequestTimedOut, -1), nil, driver.Unknown},
		{"too few replicas after the append", answer(kerr.NotEnoughReplicasAfterAppend, -1), nil, driver.Unknown},
		{"too few replicas", answer(kerr.NotEnoughReplicas, -1), nil, driver.Unknown},
		{"unknown to the broker", answer(kerr.UnknownServerError, -1), nil, driver.Unknown},
		{"cut off after the write", cut(-1), nil, driver.Unknown},
		{"cut off after the write, idempotent", cut(-1), idempotent, driver.Unknown},
		{"cut off, then refused", cutThenRefuse, patient, driver.Unknown},
		{"silent", silence, nil, driver.Unknown},
		{"silent, idempotent", silence, idempotent, driver.Unknown},
		{"data loss, idempotent", answer(kerr.OutOfOrderSequenceNumber, -1), idempotent, driver.Unknown},
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
	d, took := produceOne(t, cfg, done)
	if d.Outcome != want || (d.Err == nil) != (want == driver.Acked) {
		t.Errorf("%v (%v), want %v", d.Outcome, d.Err, want)
	}
	if (d.Offset >= 0) != (want == driver.Acked) {
		t.Errorf("offset %d of a record that is %v", d.Offset, d.Outcome)
	}
	if most := 2 * cfg.DeliveryTimeout; took > most {
		t.Errorf("it took %v, with a delivery timeout of %v", took, cfg.DeliveryTimeout)
	}
}

func config(cluster *kfake.Cluster, done chan driver.Done) driver.ProducerConfig {
	return driver.ProducerConfig{
		Brokers: cluster.ListenAddrs(), Topic: topic, Acks: driver.AcksAll,
		DeliveryTimeout: 1500 * time.Millisecond,
		OnDone:          func(d driver.Done) { done <- d },
	}
}

func patient(c *driver.ProducerConfig)    { c.DeliveryTimeout = 10 * time.Second }
func idempotent(c *driver.ProducerConfig) { c.Idempotent = true }

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
func produceOne(t *testing.T, cfg driver.ProducerConfig, done chan driver.Done) (d driver.Done, took time.Duration) {
	t.Helper()
	p, err := sarama.New().NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p.Produce(&driver.Record{Value: []byte("value")})
	select {
	case d = <-done:
	case <-time.After(10 * cfg.DeliveryTimeout):
		t.Errorf("not handed back %v after Produce", 10*cfg.DeliveryTimeout)
	}
	took = time.Since(began)
	p.Close()
	if len(done) > 0 {
		t.Error("handed back again")
	}
	return d, took
}

// TestOutcomeOfClose closes a producer whose record was not written, and one whose
// record was, both at once.
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
		{"held back", time.Minute, func() { time.Sleep(100 * time.Millisecond) }, driver.Failed},
		{"just come", time.Minute, func() {}, driver.Failed},
		{"in flight", 0, func() { <-written }, driver.Unknown},
	} {
		done := make(chan driver.Done, 2)
		cfg := config(cluster, done)
		cfg.Linger, cfg.DeliveryTimeout = test.linger, 0
		p, err := sarama.New().NewProducer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.Produce(&driver.Record{Value: []byte("value")})
		test.await()
		began := time.Now()
		p.Close()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: closing took %v", test.name, took)
		}
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
	p, err := sarama.New().NewProducer(config(cluster, done))
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

// TestIdempotentUnreachable: a client that can't open, because no broker gives it a
// number, fails its records at the delivery timeout, and those that are left when it
// is closed.
func TestIdempotentUnreachable(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1))
	done := make(chan driver.Done, 2)
	cfg := config(cluster, done)
	cfg.Idempotent = true
	cluster.Close()
	d, took := produceOne(t, cfg, done)
	if d.Outcome != driver.Failed || d.Err == nil || took < cfg.DeliveryTimeout {
		t.Errorf("%v (%v) after %v, want failed after %v", d.Outcome, d.Err, took, cfg.DeliveryTimeout)
	}
	p, err := sarama.New().NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Produce(&driver.Record{Value: []byte("value")})
	p.Close()
	if len(done) != 1 {
		t.Fatalf("handed back %d times when Close returned", len(done))
	}
}

// TestOwnAge: of records that wait for a client that can't open, each is given up by its
// own age, not by that of the first.
func TestOwnAge(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1))
	done := make(chan driver.Done, 2)
	cfg := config(cluster, done)
	cfg.Idempotent = true
	cluster.Close()
	p, err := sarama.New().NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var began [2]time.Time
	for tag := range began {
		began[tag] = time.Now()
		p.Produce(&driver.Record{Tag: uint64(tag), Value: []byte("value")})
		time.Sleep(cfg.DeliveryTimeout / 2)
	}
	for range 2 {
		d := <-done
		age := time.Since(began[d.Tag])
		if age < cfg.DeliveryTimeout || age > cfg.DeliveryTimeout*4/3 {
			t.Errorf("record %d was given up after %v, with a delivery timeout of %v", d.Tag, age, cfg.DeliveryTimeout)
		}
	}
}
