package kgogate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

const (
	noRoom  = ": kgogate: the record was shed: the gate has no room"
	full    = ": kgogate: the record was shed: the queue of deferred records is full"
	without = ": kgogate: the record was shed: the application dropped it"
	closed  = ": kgogate: the record was shed: the producer is closed"
)

func TestBlock(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(3)
		producer := p.producer(gate, kgogate.Config{})
		defer producer.Close()
		returned := make(chan struct{})
		go func() {
			p.produce(producer, 0, 5)
			close(returned)
		}()
		p.wantPromised("0", "1", "2")
		select {
		case <-returned:
			t.Error("Produce did not wait for room")
		default:
		}
		report(gate, 2) // one of three is committed
		p.wantPromised("3")
		report(gate, 0)
		p.wantPromised("4")
		<-returned
		p.wantStats(producer, "produced 5 acked 5")
	})
}

func TestBlockEnds(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		producer := p.producer(p.gate(1), kgogate.Config{})
		p.produce(producer, 0, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		producer.Produce(ctx, record(1), p.promise)
		p.wantPromised("0", "1: context deadline exceeded")
		producer.Produce(ctx, record(2), p.promise)
		p.wantPromised("2: context deadline exceeded")

		var calls sync.WaitGroup
		live, stop := context.WithCancel(context.Background())
		defer stop()
		calls.Go(func() { producer.Produce(live, record(3), p.promise) })
		calls.Go(func() { producer.Produce(context.Background(), record(3), p.promise) })
		p.wantPromised()
		producer.Close()
		calls.Wait()
		producer.Close()
		p.produce(producer, 3, 4)
		p.wantPromised("3"+closed, "3"+closed, "3"+closed)
		p.wantStats(producer, "produced 1 acked 1 abandoned 2 close 3")
	})
}

func TestShed(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(2)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Shed})
		defer producer.Close()
		p.produce(producer, 0, 4)
		p.wantPromised("2"+noRoom, "3"+noRoom, "0", "1")
		report(gate, 0)
		p.produce(producer, 4, 5)
		p.wantPromised("4")
		p.wantStats(producer, "produced 3 acked 3 gate 2")
		if n := gate.Stats().Refused; n != 2 {
			t.Errorf("the gate counts %d refused, want 2", n)
		}
	})
}

func TestShedError(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		producer := p.producer(p.gate(1), kgogate.Config{Excess: kgogate.Shed})
		defer producer.Close()
		results := producer.ProduceSync(context.Background(), record(0), record(1))
		if len(results) != 2 {
			t.Fatalf("%d results of 2 records", len(results))
		}
		if err := results.FirstErr(); !errors.Is(err, kgogate.ErrShed) {
			t.Errorf("the error of a record that was shed is %v", err)
		}
	})
}

func TestDefer(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(2)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Defer, MaxDeferred: 3})
		p.produce(producer, 0, 6)
		p.wantPromised("5"+full, "0", "1")
		p.wantStats(producer, "produced 2 acked 2 deferred 3 queue 1")
		report(gate, 1)
		p.wantPromised("2")
		report(gate, 1)
		p.produce(producer, 6, 7)
		p.wantPromised("3")
		report(gate, 0)
		p.wantPromised("4", "6")
		p.wantStats(producer, "produced 6 acked 6 queue 1")
		report(gate, 0)
		p.produce(producer, 7, 8) // with an empty queue it passes at once
		p.wantPromised("7")
		producer.Close()
	})
}

func TestDeferredIsNotOvertaken(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		p.delay = time.Second
		gate := p.gate(10)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Defer})
		defer producer.Close()
		report(gate, 10)
		p.produce(producer, 0, 3)
		p.wantPromised()
		report(gate, 0)
		p.rest()
		p.produce(producer, 3, 4)
		time.Sleep(time.Minute)
		p.wantPromised("0", "1", "2", "3")
	}, kgo.MaxBufferedRecords(1))
}

func TestDeferredIsGivenUpWithItsContext(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(1)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Defer})
		defer producer.Close()
		p.produce(producer, 0, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		producer.Produce(ctx, record(1), p.promise)
		p.produce(producer, 2, 3)
		p.wantPromised("0")
		time.Sleep(time.Minute)
		p.wantPromised("1: context deadline exceeded")
		report(gate, 0)
		p.wantPromised("2")
		p.wantStats(producer, "produced 2 acked 2 abandoned 1")
	})
}

func TestFlushWaitsForTheDeferred(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(1)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Defer})
		defer producer.Close()
		p.produce(producer, 0, 3)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := producer.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush returned %v while records waited", err)
		}
		flushed := make(chan error, 1)
		go func() { flushed <- producer.Flush(context.Background()) }()
		for range 3 {
			p.rest()
			if producer.Stats().Deferred > 0 && len(flushed) > 0 {
				t.Error("Flush returned while records waited")
			}
			report(gate, 0)
		}
		if err := <-flushed; err != nil {
			t.Error(err)
		}
		p.wantPromised("0", "1", "2")
	})
}

// The application keeps 1, drops 2 and sends 30 instead of 3.
func TestDegrade(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(1)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Degrade, Degrade: func(r *kgo.Record) *kgo.Record {
			switch string(r.Value) {
			case "2":
				return nil
			case "3":
				return record(30)
			}
			return r
		}})
		defer producer.Close()
		p.produce(producer, 0, 4)
		p.wantPromised("2"+without, "0")
		report(gate, 0)
		p.wantPromised("1")
		report(gate, 0)
		p.wantPromised("30")
		p.wantStats(producer, "produced 3 acked 3 degrade 1")
	})
}

func TestEveryRecordIsCounted(t *testing.T) {
	for _, excess := range []kgogate.Excess{kgogate.Block, kgogate.Shed, kgogate.Defer, kgogate.Degrade} {
		cfg := kgogate.Config{Excess: excess, MaxDeferred: 50}
		if excess == kgogate.Degrade {
			cfg.Degrade = func(r *kgo.Record) *kgo.Record {
				if r.Value[len(r.Value)-1]%2 == 0 {
					return nil
				}
				return r
			}
		}
		inVirtualTime(t, func(p *plant) {
			gate := p.gate(20)
			producer := p.producer(gate, cfg)
			var calls sync.WaitGroup
			for i := range 8 {
				calls.Go(func() { p.produce(producer, 100*i, 100*(i+1)) })
			}
			for range 20 {
				time.Sleep(10 * time.Millisecond)
				report(gate, 0)
			}
			producer.Close()
			calls.Wait()
			p.rest()
			s := producer.Stats()
			sum := s.Produced
			for _, n := range s.Shed {
				sum += n
			}
			if sum != 800 || s.Acked != s.Produced || s.Deferred != 0 || len(p.promised) != 800 {
				t.Errorf("excess %d: %d of 800 records are counted, %d promised: %+v", excess, sum, len(p.promised), s)
			}
		})
	}
}

func TestCloseWaitsForNoBroker(t *testing.T) {
	for name, excess := range map[string]kgogate.Excess{"Block": kgogate.Block, "Shed": kgogate.Shed, "Defer": kgogate.Defer} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(p *plant) {
				p.away.Store(true)
				gate := p.gate(4)
				producer := p.producer(gate, kgogate.Config{Excess: excess})
				p.produce(producer, 0, 1)
				gate.TryAcquire(3)
				var calls sync.WaitGroup
				if excess == kgogate.Shed {
					gate.Done(3)
					report(gate, 0)
				}
				calls.Go(func() { p.produce(producer, 1, 2) })
				p.rest()
				if excess != kgogate.Shed {
					gate.Done(3)
					report(gate, 0) // calls that waited for room now wait for the client
				}
				if excess == kgogate.Defer {
					p.produce(producer, 2, 3)
				}
				p.rest()
				closing := time.Now()
				producer.Close()
				calls.Wait()
				if d := time.Since(closing); d > time.Second {
					t.Errorf("Close took %v", d)
				}
				late := []string{"1: kgogate: the producer was closed while the record waited for space in the client's buffer: context canceled"}
				stats := "produced 2 acked 1 unknown 1"
				if excess == kgogate.Defer {
					late, stats = append(late, "2"+closed), stats+" close 1"
				}
				p.rest()
				p.mu.Lock()
				slices.Sort(p.promised) // they come from two goroutines
				p.mu.Unlock()
				p.wantPromised(late...)
				p.away.Store(false)
				time.Sleep(time.Minute)
				p.wantPromised("0")
				p.wantStats(producer, stats)
			}, kgo.MaxBufferedRecords(1))
		})
	}
}

func TestCloseLeavesWhatTheClientHas(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		producer := p.producer(p.gate(2), kgogate.Config{})
		r := record(0)
		r.Topic = "later"
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		producer.Produce(ctx, r, p.promise)
		p.wantPromised()
		producer.Close()
		p.wantPromised()
		if err := p.cluster.CreateTopic("later", 1, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		p.wantPromised("0")
	}, kgo.UnknownTopicRetries(-1))
}

func TestNilFaults(t *testing.T) {
	_, err := kgogate.Open(context.Background(), nil, kgogate.Config{Excess: 9})
	for _, says := range []string{"no client", "set one of MaxLag", "Excess is 9"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Open said %v, want %q", err, says)
		}
	}
}

func TestDoubtCoversTheDeliveryTimeout(t *testing.T) {
	for _, c := range []struct {
		timeout, doubt time.Duration
		fits           bool
	}{
		{0, 0, true},
		{lagcontrol.DefaultDoubt, 0, true},
		{lagcontrol.DefaultDoubt + time.Second, 0, false},
		{10 * time.Minute, 10 * time.Minute, true},
		{10 * time.Second, 5 * time.Second, false},
	} {
		inVirtualTime(t, func(p *plant) {
			gate := p.gate(1)
			gate.cfg.Doubt = c.doubt
			producer, err := kgogate.Open(context.Background(), p.client, kgogate.Config{Gate: gate.cfg})
			if err == nil {
				producer.Close()
			}
			if fits := err == nil; fits != c.fits || err != nil && !strings.Contains(err.Error(), "kgo.RecordDeliveryTimeout of "+c.timeout.String()) {
				t.Errorf("delivery timeout %v, doubt %v: %v", c.timeout, c.doubt, err)
			}
		}, kgo.RecordDeliveryTimeout(c.timeout))
	}
}

func TestDoubtAndInheritCoverARequest(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		produce, overhead, doubt, inherit time.Duration
		says                              []string
	}{
		{10 * second, 10 * second, 0, 0, nil},
		{10 * second, 10 * second, 30 * second, 30 * second, nil},
		{10 * second, 10 * second, 30*second - 1, 30 * second, []string{"Doubt of 29.999999999s", "the 30s"}},
		{10 * second, 10 * second, 0, 30*second - 1, []string{"Inherit of 29.999999999s", "the 30s"}},
		{10 * second, 10 * second, 0, backpressure.NoInherit, nil},
		{11 * second, 10 * second, 0, 0, []string{"Inherit of 30s", "the 31s", "ProduceRequestTimeout of 11s", "NoInherit"}},
		{10 * second, 12 * second, 0, 0, []string{"Inherit of 30s", "the 32s", "RequestTimeoutOverhead of 12s"}},
		{2 * second, 1 * second, 13 * second, 13 * second, nil},
		{200 * second, 10 * second, 0, 0, []string{"Doubt of 2m0s", "Inherit of 30s", "the 3m40s"}},
	} {
		inVirtualTime(t, func(p *plant) {
			gate := p.gate(1)
			gate.cfg.Share, gate.cfg.Doubt, gate.cfg.Inherit = backpressure.Fixed(1), c.doubt, c.inherit
			producer, err := kgogate.Open(context.Background(), p.client, kgogate.Config{Gate: gate.cfg})
			if err == nil {
				producer.Close()
			}
			for _, says := range c.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%+v: Open said %v, want %q", c, err, says)
				}
			}
			if c.says == nil && err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}, kgo.ProduceRequestTimeout(c.produce), kgo.RequestTimeoutOverhead(c.overhead))
	}
}

func TestConfigFaults(t *testing.T) {
	degrade := func(r *kgo.Record) *kgo.Record { return r }
	for _, c := range []struct {
		cfg  kgogate.Config
		opts []kgo.Opt
		says string
	}{
		{cfg: kgogate.Config{Excess: 9}, says: "Excess is 9"},
		{cfg: kgogate.Config{MaxDeferred: -1}, says: "not be negative: -1 records"},
		{cfg: kgogate.Config{Excess: kgogate.Degrade}, says: "set Config.Degrade with"},
		{cfg: kgogate.Config{Degrade: degrade}, says: "only then"},
		{cfg: kgogate.Config{MaxLag: 5}, says: "set one of MaxLag and Gate.Controller"},
		{cfg: kgogate.Config{Group: "billing"}, says: "Gate.Source takes the place of Group"},
		{opts: []kgo.Opt{kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite()}, says: "acks=0"},
		{opts: []kgo.Opt{kgo.ManualFlushing()}, says: "kgo.ManualFlushing"},
	} {
		inVirtualTime(t, func(p *plant) {
			c.cfg.Gate = p.gate(1).cfg
			_, err := kgogate.Open(context.Background(), p.client, c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Open said %v, want %q", err, c.says)
			}
		}, c.opts...)
	}
}

// The first group of a new cluster has no coordinator until Kafka has made the topic of the committed offsets.
func TestOpenAwaitsTheCoordinator(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		begun, missing := time.Now(), 2*time.Second
		p.cluster.ControlKey(int16(kmsg.FindCoordinator), func(r kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			if time.Since(begun) >= missing {
				return nil, nil, false
			}
			req, resp := r.(*kmsg.FindCoordinatorRequest), r.ResponseKind().(*kmsg.FindCoordinatorResponse)
			for _, key := range req.CoordinatorKeys {
				c := kmsg.NewFindCoordinatorResponseCoordinator()
				c.Key, c.ErrorCode = key, kerr.CoordinatorNotAvailable.Code
				resp.Coordinators = append(resp.Coordinators, c)
			}
			return resp, nil, true
		})
		cfg := kgogate.Config{Group: "billing", Topics: []string{"orders"}, MaxLag: 5}
		producer, err := kgogate.Open(p.Context(), p.client, cfg)
		if err != nil || time.Since(begun) != missing {
			t.Fatalf("after %v: %v", time.Since(begun), err)
		}
		producer.Close()
		begun, missing = time.Now(), time.Hour
		other := p.newClient()
		defer other.Close()
		if _, err := kgogate.Open(p.Context(), other, cfg); !errors.Is(err, kerr.CoordinatorNotAvailable) || time.Since(begun) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
