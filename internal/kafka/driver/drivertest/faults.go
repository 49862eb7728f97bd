package drivertest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// This file has the faults. Each driver's tests have the outcomes, which depend on the client's
// retries.

// Outcomes are the expected outcomes of a driver's records.
type Outcomes struct {
	Driver driver.Driver
	// Place is where the brokers run.
	Place Place
	// DeliveryTimeout is the delivery timeout of the records. It is 10 s instead for records that a
	// broker's answer ends, or that must outlast a fault.
	DeliveryTimeout time.Duration
	// Within is the longest time until a record is complete, in delivery timeouts, for any fault.
	Within int
	// Acked, Failed and Unknown list each fault that the driver's capabilities allow, by the outcome of a record.
	Acked, Failed, Unknown []string
	// HeldBack is the outcome of a record that is not sent before the producer is closed, and Closing is the
	// longest time of that close.
	HeldBack driver.Outcome
	Closing  time.Duration
	// DropsReasons is true if the client drops the broker's message.
	DropsReasons bool
}

type fault struct {
	name   string
	inject func(Cluster)
	change func(*driver.ProducerConfig)
	needs  driver.Capability // without it, the fault is not tested
}

var faults = []fault{
	{name: "healthy"},
	{name: "leader moves once", inject: answer(kerr.NotLeaderForPartition, 1), change: patient},
	{name: "times out once", inject: answer(kerr.RequestTimedOut, 1), change: patient},
	{name: "cut off once", inject: cutOff(1), change: patient},
	{name: "cut off once, idempotent", inject: cutOff(1), change: patientIdempotent, needs: driver.Idempotence},
	{name: "not authorized", inject: answer(kerr.TopicAuthorizationFailed, -1), change: patient},
	{name: "too large for the broker", inject: answer(kerr.MessageTooLarge, -1), change: patient},
	{name: "too large, idempotent", inject: answer(kerr.MessageTooLarge, -1), change: patientIdempotent,
		needs: driver.Idempotence},
	{name: "too large, requests overtake", inject: answer(kerr.MessageTooLarge, -1), change: overtaking,
		needs: driver.InFlightLimit},
	{name: "not the leader, acks 1", inject: answer(kerr.NotLeaderForPartition, -1), change: acksLeader},
	{name: "not the leader, acks all", inject: answer(kerr.NotLeaderForPartition, -1)},
	{name: "too few replicas", inject: answer(kerr.NotEnoughReplicas, -1)},
	{name: "too few replicas after the append", inject: answer(kerr.NotEnoughReplicasAfterAppend, -1)},
	{name: "timed out after the append", inject: answer(kerr.RequestTimedOut, -1)},
	{name: "timed out, then refused", inject: timeOutThenRefuse, change: patient},
	{name: "storage", inject: answer(kerr.KafkaStorageError, -1)},
	{name: "unknown to the broker", inject: answer(kerr.UnknownServerError, -1)},
	{name: "data loss, idempotent", inject: answer(kerr.OutOfOrderSequenceNumber, -1), change: idempotent,
		needs: driver.Idempotence},
	{name: "cut off after the write", inject: cutOff(-1)},
	{name: "cut off after the write, idempotent", inject: cutOff(-1), change: idempotent, needs: driver.Idempotence},
	{name: "cut off, then refused", inject: cutThenRefuse, change: patient},
	{name: "silent", inject: silence},
	{name: "silent, idempotent", inject: silence, change: idempotent, needs: driver.Idempotence},
}

func patient(c *driver.ProducerConfig)           { c.DeliveryTimeout = 10 * time.Second }
func idempotent(c *driver.ProducerConfig)        { c.Idempotent = true }
func patientIdempotent(c *driver.ProducerConfig) { patient(c); idempotent(c) }
func overtaking(c *driver.ProducerConfig)        { patient(c); c.InFlight = 5 }
func acksLeader(c *driver.ProducerConfig)        { c.Acks = driver.AcksLeader }

// n of -1 means always.
func answer(err *kerr.Error, n int) func(Cluster) {
	return func(c Cluster) {
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: n})
	}
}

// n of -1 means always.
func cutOff(n int) func(Cluster) {
	return func(c Cluster) {
		c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			if n < 0 {
				c.KeepControl()
			}
			return nil, errors.New("cut"), true
		})
	}
}

func cutThenRefuse(c Cluster) {
	cutOff(1)(c)
	answer(kerr.TopicAuthorizationFailed, -1)(c)
}

func timeOutThenRefuse(c Cluster) {
	answer(kerr.RequestTimedOut, 1)(c)
	answer(kerr.TopicAuthorizationFailed, -1)(c)
}

func silence(c Cluster) { Silence(c) }

// Silence makes the broker never answer a produce request. written receives a value when the first
// request has arrived.
func Silence(c Cluster) (written <-chan struct{}) {
	arrived := make(chan struct{}, 1)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		notify(arrived)
		return nil, nil, true
	})
	return arrived
}

// TestFaults produces one record for each fault, and checks its outcome.
func (o Outcomes) TestFaults(t *testing.T) {
	want := o.byFault(t)
	var tested []fault
	for _, f := range faults {
		_, wanted := want[f.name]
		if _, lacking := o.Driver.Lacks()[f.needs]; lacking == wanted {
			t.Errorf("the outcome with the fault %q is said: %t, and the driver lacks what it needs: %t", f.name,
				wanted, lacking)
		} else if wanted {
			tested = append(tested, f)
		}
	}
	if len(tested) != len(want) {
		t.Errorf("outcomes with %d faults are said, and there are %d", len(want), len(tested))
	}
	atOnce(tested, func(f fault) {
		t.Run(f.name, func(t *testing.T) {
			o.Place(t, func(t *testing.T, c Cluster) { o.testFault(t, c, f, want[f.name]) }, Topics(1)...)
		})
	})
}

func (o Outcomes) byFault(t *testing.T) map[string]driver.Outcome {
	t.Helper()
	by := make(map[string]driver.Outcome)
	for outcome, names := range map[driver.Outcome][]string{driver.Acked: o.Acked, driver.Failed: o.Failed,
		driver.Unknown: o.Unknown} {
		for _, name := range names {
			if other, twice := by[name]; twice {
				t.Errorf("the fault %q is said to end both %v and %v", name, other, outcome)
			}
			by[name] = outcome
		}
	}
	return by
}

func (o Outcomes) testFault(t *testing.T, c Cluster, f fault, want driver.Outcome) {
	if f.inject != nil {
		f.inject(c)
	}
	cfg := o.Config(c)
	if f.change != nil {
		f.change(&cfg)
	}
	d, took := o.ProduceOne(t, cfg)
	if most := time.Duration(o.Within) * cfg.DeliveryTimeout; took > most {
		t.Errorf("it took %v, with a delivery timeout of %v", took, cfg.DeliveryTimeout)
	}
	if d.Outcome != want || (d.Err == nil) != (want == driver.Acked) {
		t.Errorf("%v (%v), want %v", d.Outcome, d.Err, want)
	}
	if (d.Offset >= 0) != (want == driver.Acked) {
		t.Errorf("offset %d of a record that is %v", d.Offset, d.Outcome)
	}
}

// Config returns a configuration that produces to Topic of a cluster.
func (o Outcomes) Config(c Cluster) driver.ProducerConfig {
	return driver.ProducerConfig{
		Brokers: c.ListenAddrs(), Access: c.Access, Topic: Topic, Acks: driver.AcksAll,
		DeliveryTimeout: o.DeliveryTimeout,
	}
}

// Open opens a producer with cfg, and a channel with space for two completions of its only record.
func (o Outcomes) Open(t testing.TB, cfg driver.ProducerConfig) (driver.Producer, <-chan driver.Done) {
	t.Helper()
	done := make(chan driver.Done, 2)
	cfg.OnDone = func(d driver.Done) { done <- d }
	return Producer(t, o.Driver, cfg), done
}

// ProduceOne produces one record and waits until it is complete. It fails if the record completes
// twice.
func (o Outcomes) ProduceOne(t testing.TB, cfg driver.ProducerConfig) (d driver.Done, took time.Duration) {
	t.Helper()
	p, done := o.Open(t, cfg)
	atMost := 10 * cfg.DeliveryTimeout
	began := time.Now()
	p.Produce(aRecord())
	select {
	case d = <-done:
	case <-time.After(atMost):
		t.Fatalf("not handed back %v after Produce, with a delivery timeout of %v", atMost, cfg.DeliveryTimeout)
	}
	took = time.Since(began)
	p.Close()
	if len(done) > 0 {
		t.Error("handed back again")
	}
	return d, took
}

func aRecord() *driver.Record { return &driver.Record{Value: []byte("value")} }

// TestClose closes a producer whose record was not written, and one whose record was written.
func (o Outcomes) TestClose(t *testing.T) { o.Place(t, o.testClose, Topics(1)...) }

func (o Outcomes) testClose(t *testing.T, c Cluster) {
	written := Silence(c)
	for _, test := range []struct {
		name   string
		linger time.Duration
		await  func()
		want   driver.Outcome
	}{
		{"just come", time.Minute, func() {}, o.HeldBack},
		{"held back", time.Minute, func() { time.Sleep(100 * time.Millisecond) }, o.HeldBack},
		{"in flight", 0, func() { <-written }, driver.Unknown},
	} {
		cfg := o.Config(c)
		cfg.Linger, cfg.DeliveryTimeout = test.linger, 0
		p, done := o.Open(t, cfg)
		p.Produce(aRecord())
		test.await()
		began := time.Now()
		p.Close()
		if took := time.Since(began); took > o.Closing {
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

// TestProduceAfterClose: a record that comes after Close fails.
func (o Outcomes) TestProduceAfterClose(t *testing.T) {
	o.Place(t, func(t *testing.T, c Cluster) {
		p, done := o.Open(t, o.Config(c))
		p.Close()
		p.Close()
		p.Produce(aRecord())
		if d := <-done; d.Outcome != driver.Failed {
			t.Errorf("%v (%v), want failed", d.Outcome, d.Err)
		}
	}, Topics(1)...)
}

// Dial opens a connection, like net.Dialer's DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// TestDialer checks that a driver uses a given dialer for every connection. It returns the completion of one
// record, and the dialer's error.
func TestDialer(t *testing.T, with func(Dial) driver.Driver) (d driver.Done, refused error) {
	refused = errors.New("no such road")
	o := Outcomes{Driver: with(func(context.Context, string, string) (net.Conn, error) { return nil, refused })}
	Virtual(t, func(t *testing.T, c Cluster) {
		p, done := o.Open(t, driver.ProducerConfig{Acks: driver.AcksLeader, DeliveryTimeout: time.Second})
		p.Produce(aRecord())
		if d = <-done; d.Outcome != driver.Failed {
			t.Errorf("%v (%v), want failed", d.Outcome, d.Err)
		}
	}, Topics(1)...)
	return d, refused
}
