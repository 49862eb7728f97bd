package plain

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

type place struct {
	*testing.T
	on      *virtual.Cluster
	cluster *kfake.Cluster
	cfg     engine.Config
	client  *kgo.Client
	adm     *kadm.Client
	log     virtual.Log
}

func newPlace(t *testing.T) *place {
	c := virtual.Start(t, virtual.Options{Config: map[string]string{"group.initial.rebalance.delay.ms": "0"}})
	c.Topic(t, "t", 1)
	p := &place{T: t, on: c, cluster: c.Fake()}
	p.cfg = engine.Config{
		Brokers: c.Bootstrap(), Client: c.Client(), Topic: "t", Group: "g", DeadLetterTopic: "dead",
		MaxInFlight: 100, CommitEvery: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&p.log, nil)),
	}
	p.client = c.NewClient(t)
	p.adm = kadm.NewClient(p.client)
	return p
}

func (p *place) open() *Engine {
	p.Helper()
	e, err := New(p.Context(), p.cfg)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = e.Close(context.Background()) })
	return e.(*Engine)
}

func (p *place) produce(n int) {
	p.Helper()
	for range n {
		if err := p.client.ProduceSync(p.Context(), &kgo.Record{Topic: "t", Value: []byte("v")}).FirstErr(); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *place) take(e *Engine, n int) (all []*lease.Lease) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	defer cancel()
	for len(all) < n {
		ls, err := engine.Receive(ctx, e, n-len(all))
		if err != nil {
			p.Fatalf("%d of %d came: %v", len(all), n, err)
		}
		all = append(all, ls...)
	}
	return all
}

func (p *place) deadLetters() int64 {
	p.Helper()
	ends, err := p.adm.ListEndOffsets(p.Context(), "dead")
	if err != nil {
		p.Fatal(err)
	}
	var n int64
	ends.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n
}

// Records that are deleted before they are read count as missing; others do not.
func TestWhatWasDeletedIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.produce(20)
		var o kadm.Offsets
		o.Add(kadm.Offset{Topic: "t", At: 5, LeaderEpoch: -1})
		if err := p.adm.CommitAllOffsets(t.Context(), "g", o); err != nil {
			t.Fatal(err)
		}
		p.on.Delete(t, "t", 0, 12)
		e := p.open()
		all := p.take(e, 8)
		if all[0].At.Offset != 12 {
			t.Errorf("the first is %v", all[0].At)
		}
		if n := e.Counts().Missing; n != 7 {
			t.Errorf("%d are missing, of the offsets 5 to 11", n)
		}
		if log := p.log.String(); !strings.Contains(log, "from=5 to=12") {
			t.Errorf("nothing of it in %s", log)
		}
		for _, l := range all {
			if err := e.Ack(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
		p.on.Delete(t, "t", 0, 20)
		p.produce(1)
		p.take(e, 1)
		if n := e.Counts().Missing; n != 7 {
			t.Errorf("%d are missing after what was read is deleted too", n)
		}

		// Without commits the engine begins at the start of the log.
		p.cfg.Group = "new"
		e = p.open()
		p.take(e, 1)
		if n := e.Counts().Missing; n != 0 {
			t.Errorf("%d are missing to a new group", n)
		}
	})
}

func TestADeliveryIsRejectedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.produce(1)
		e := p.open()
		l := p.take(e, 1)[0]
		slow := p.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Topic: "dead", Count: 3})
		const many = 8
		errs := make(chan error, 2*many)
		for range many {
			go func() { errs <- e.Reject(t.Context(), l, "no") }()
		}
		for slow.Hits() == 0 {
			time.Sleep(time.Millisecond)
		}
		for range many {
			go func() { errs <- e.Ack(t.Context(), l) }()
		}
		succeeded := 0
		for range 2 * many {
			if err := <-errs; err == nil {
				succeeded++
			} else if !errors.Is(err, lease.ErrSettled) {
				t.Error(err)
			}
		}
		c := e.Counts()
		if succeeded != 1 || c.Acked != 0 || c.Rejected != 1 || p.deadLetters() != 1 || c.DeadLettered != c.Rejected {
			t.Errorf("%d succeeded, %d dead letters: %+v", succeeded, p.deadLetters(), c)
		}
	})
}

func TestARejectionThatFailsLeavesTheDeliveryOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.produce(1)
		e := p.open()
		l := p.take(e, 1)[0]
		p.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed, Topic: "dead", Count: 1})
		if err := e.Reject(t.Context(), l, "no"); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("reject: %v", err)
		}
		if err := e.Reject(t.Context(), l, "no"); err != nil || p.deadLetters() != 1 {
			t.Errorf("reject again: %v, %d dead letters", err, p.deadLetters())
		}
	})
}

func TestAbortedRecordsAreNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		tx := p.on.NewClient(t, kgo.TransactionalID("tx"))
		for i, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
			if err := tx.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			if err := tx.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Value: []byte{byte(i)}}).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if err := tx.EndTransaction(t.Context(), end); err != nil {
				t.Fatal(err)
			}
		}
		var o kadm.Offsets
		o.Add(kadm.Offset{Topic: "t", At: 0, LeaderEpoch: -1})
		if err := p.adm.CommitAllOffsets(t.Context(), "g", o); err != nil {
			t.Fatal(err)
		}
		e := p.open()
		if l := p.take(e, 1)[0]; l.Record.Value[0] != 1 {
			t.Errorf("the record at offset %d was aborted", l.At.Offset)
		}
		if n := e.Counts().Missing; n != 0 {
			t.Errorf("%d are missing, of offsets that are no records", n)
		}
	})
}
