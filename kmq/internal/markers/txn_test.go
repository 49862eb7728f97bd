package markers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Starts and commits in one transaction, copies and ends in another: what was aborted is
// seen by nobody, and the offsets are committed with the starts.
func inTxns(t *testing.T, w *world) {
	const n = 200
	for p := range int32(2) {
		w.produce(p, n/2)
	}
	q := w.open()
	var dropped []*lease.Lease
	for i, l := range w.receive(q, n) {
		if i%10 == 0 {
			dropped = append(dropped, l)
			continue
		}
		w.ack(q, l)
	}
	for p := range int32(2) {
		w.until("what was started is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, p) == n/2 })
	}
	again := w.receive(q, len(dropped))
	for _, l := range again {
		if l.Attempt != 2 || l.At.Offset < n/2 || l.At.Offset == n/2+n/20 { // behind the transaction's own marker
			t.Errorf("attempt %d at %v", l.Attempt, l.At)
		}
	}
	w.ack(q, again...)
	w.flush(q)
	w.until("the tracker commits", func() bool {
		for p := range int32(2) {
			ends, err := w.adm.ListEndOffsets(w.ctx, w.cfg.MarkersTopic)
			if err != nil {
				t.Fatal(err)
			}
			end, _ := ends.Lookup(w.cfg.MarkersTopic, p)
			if w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, p) != end.Offset {
				return false
			}
		}
		return true
	})
	if err := q.Close(w.ctx); err != nil {
		t.Error(err)
	}
	next := w.open()
	ctx, cancel := context.WithTimeout(w.ctx, time.Second)
	defer cancel()
	if ls, err := next.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d records came again, %v", len(ls), err)
	}
}

func inTransactions(c *engine.Config) { c.Transactions, c.Visibility = true, 4*time.Second }

func TestTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { inTxns(t, newWorld(t, 2, inTransactions)) })
}

// overtaken has the next transaction end later than its timeout lets it: when its end comes,
// the coordinator has aborted it, and fenced its producer. It says whether that has happened.
func (w *world) overtaken() func() bool {
	var begun, done atomic.Bool
	w.fake.ControlKey(int16(kmsg.EndTxn), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		if begun.CompareAndSwap(false, true) {
			w.fake.SleepControl(func() {
				fence := kmsg.NewPtrInitProducerIDRequest()
				id := req.(*kmsg.EndTxnRequest).TransactionalID
				fence.TransactionalID, fence.TransactionTimeoutMillis = &id, int32(transactionTimeout.Milliseconds())
				if _, err := fence.RequestWith(w.ctx, w.client); err != nil {
					w.Errorf("fence: %v", err)
				}
			})
			done.Store(true)
		}
		return nil, nil, false
	})
	return done.Load
}

// Starts whose transaction outlived its timeout are written again, by another producer, and
// so are those that come after.
func TestStartsOutliveATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, inTransactions, visible(30*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
		q := w.open()
		for range 2 {
			fenced := w.overtaken()
			w.produce(0, 10)
			w.ack(q, w.receive(q, 10)...)
			if !fenced() {
				t.Error("no producer was fenced")
			}
		}
		w.until("what was started is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 20 })
		w.flush(q)
		w.aborted(w.cfg.MarkersTopic, 2)
	})
}

// Copies and ends whose transaction outlived its timeout are written again, by another
// producer: those of many records, and that of a record which is moved alone.
func TestRedeliveriesOutliveATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, inTransactions, visible(2*time.Second))
		w.produce(0, 10)
		q := w.open()
		first := w.receive(q, 10)
		fenced := w.overtaken()
		w.ack(q, w.receive(q, len(first))...)
		if !fenced() {
			t.Error("no producer was fenced")
		}
		w.until("each is copied once", func() bool { return q.Counts().Tailed == 10 })
		w.aborted(w.cfg.Topic, 1)

		alone, err := q.tracker.alone()
		if err != nil {
			t.Fatal(err)
		}
		fenced = w.overtaken()
		again := func() error {
			return alone.write(w.ctx, writeFor, []*kgo.Record{{Topic: w.cfg.Topic, Value: []byte("large")}}, nil)
		}
		if err := again(); err == nil || !fenced() {
			t.Errorf("written, though the producer was fenced: %t", fenced())
		}
		w.until("it is written again", func() bool { return again() == nil })
	})
}

// aborted holds that so many transactions that wrote to partition 0 of a topic were aborted, and
// that nobody waits for one.
func (w *world) aborted(topic string, want int) {
	w.Helper()
	n := 0
	for _, r := range w.read(topic, 0) {
		if r.Attrs.IsControl() && r.Key[3] == 0 { // a version (int16), then the type (int16): 0 aborts
			n++
		}
	}
	if n != want {
		w.Errorf("%d transactions in topic %s were aborted, not %d", n, topic, want)
	}
	ends, err := w.adm.ListEndOffsets(w.ctx, topic)
	if err != nil {
		w.Fatal(err)
	}
	stable, err := w.adm.ListCommittedOffsets(w.ctx, topic)
	if err != nil {
		w.Fatal(err)
	}
	end, _ := ends.Lookup(topic, 0)
	if last, _ := stable.Lookup(topic, 0); last.Offset != end.Offset {
		w.Errorf("topic %s can be read up to %d, and ends at %d", topic, last.Offset, end.Offset)
	}
}
