package markers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// transactionTimeout is after how long the cluster ends the transaction of a process that
// crashed. Until then nobody who reads what is committed reads past it.
const transactionTimeout = 10 * time.Second

// transactionWriteFor is the longest that a transaction's records are to be written: the other
// half of the timeout is for its end.
const transactionWriteFor = transactionTimeout / 2

// transactions writes groups of records in transactions, one at a time. Its id is of this
// process alone: what a crashed one left open ends by its timeout, and an offset of a
// member that was put out of the group is refused by the group.
//
// A process that stands still for longer than the timeout finds its producer fenced, and the
// client is of no use any more. Then there is another one, of another id: so it need not wait
// for what the cluster has still to do for the old one, whose transaction, if there is one,
// ends by its timeout. It may also have been committed, and what is then written again
// does no harm: a second start says what the first did, and a second copy is one more delivery.
type transactions struct {
	turn engine.Turn // one transaction at a time
	name string      // what ids begin with
	opts []kgo.Opt

	swap   sync.Mutex // taken beside turn to change what follows; either is enough to read it
	cl     *kgo.Client
	id     string
	closed bool
}

func newTransactions(cfg *engine.Config, topics topics, more ...kgo.Opt) (*transactions, error) {
	opts := append(writerOptions(cfg, topics), kgo.TransactionTimeout(transactionTimeout), kgo.RequiredAcks(kgo.AllISRAcks()))
	t := &transactions{turn: engine.NewTurn(), name: "kmq-" + cfg.Group + "-", opts: cfg.ClientOptions(append(opts, more...)...)}
	if err := t.renew(); err != nil {
		return nil, err
	}
	return t, nil
}

// renew opens a client of another id in the place of the one there was.
func (t *transactions) renew() error {
	id := t.name + rand.Text()
	cl, err := kgo.NewClient(append(slices.Clip(t.opts), kgo.TransactionalID(id))...)
	if err != nil {
		return fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	t.swap.Lock()
	if t.closed {
		t.swap.Unlock()
		cl.Close()
		return lease.ErrClosed
	}
	old := t.cl
	t.cl, t.id = cl, id
	t.swap.Unlock()
	if old != nil {
		old.Close() // what it had not sent yet is never sent
	}
	return nil
}

func (t *transactions) close() {
	t.swap.Lock()
	t.closed = true
	cl := t.cl
	t.swap.Unlock()
	cl.Close()
}

// write writes all of the records, and does what also says, or nothing. It gives up what is
// refused for now, or can't be sent, after a while. After an error all of it may have been
// written all the same, if it was the end that failed.
func (t *transactions) write(ctx context.Context, within time.Duration, records []*kgo.Record, also func(context.Context) error) error {
	t.turn.Lock()
	defer t.turn.Unlock()
	if err := t.cl.BeginTransaction(); err != nil {
		return errors.Join(fmt.Errorf("kmq: begin a transaction: %w", err), t.renew())
	}
	err := t.writeWithin(ctx, within, records)
	if err == nil && also != nil {
		err = also(ctx)
	}
	if err != nil {
		return errors.Join(err, t.abort(ctx))
	}
	if err := t.end(ctx, kgo.TryCommit); err != nil {
		return errors.Join(fmt.Errorf("kmq: commit a transaction: %w", err), t.abort(ctx))
	}
	return nil
}

func (t *transactions) writeWithin(ctx context.Context, d time.Duration, records []*kgo.Record) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	_, err := write(ctx, t.cl, records)
	return err
}

func (t *transactions) abort(ctx context.Context) error {
	if err := t.end(ctx, kgo.TryAbort); err != nil {
		return errors.Join(fmt.Errorf("kmq: abort a transaction: %w", err), t.renew())
	}
	return nil
}

// end ends a transaction, even if ctx has ended: half an end would leave the client unable
// to begin another.
func (t *transactions) end(ctx context.Context, how kgo.TransactionEndTry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*transactionTimeout)
	defer cancel()
	return t.cl.EndTransaction(ctx, how)
}

// transact writes the starts of a poll and commits its offsets in one transaction: a crash
// leaves both or neither. What belongs to partitions that were taken away meanwhile can't
// be committed, and is left to others.
func (s *starts) transact(p *start) error {
	err := engine.Persist(s.running, s.q.cfg.Log, "write start markers and commit, in a transaction", func(ctx context.Context) error {
		runs := s.stillOurs(p)
		if len(runs) == 0 {
			return nil
		}
		offsets := make(map[int32]int64, len(runs))
		for _, m := range runs {
			offsets[m.Partition] = m.Offset + int64(m.Count)
		}
		err := s.txns.write(ctx, transactionWriteFor, s.records(runs), func(ctx context.Context) error { return s.commit(ctx, offsets) })
		if err != nil && !engine.Fatal(err) {
			err = s.grow(ctx, runs, err)
		}
		return err
	})
	if err == nil {
		step.At(step.Committed)
	}
	return err
}

// stillOurs are the runs of a poll whose partitions are assigned as they were when it was
// read. The leases of the others are lost, and are taken out.
func (s *starts) stillOurs(p *start) []marker.Marker {
	var ours []marker.Marker
	gone := map[int32]bool{}
	for i, m := range p.runs {
		if s.q.started.ours(p.reads[i]) {
			ours = append(ours, m)
		} else {
			gone[m.Partition] = true
		}
	}
	if len(gone) == 0 {
		return ours
	}
	ready := p.leases[:0]
	for _, l := range p.leases {
		switch {
		case !gone[l.At.Partition]:
			ready = append(ready, l)
		case s.q.set.Settle(l, lease.Lost) == nil:
			s.q.lost.Add(1)
		}
	}
	p.leases = ready
	return ours
}

// commit adds the group's offsets to the transaction, in the name of the member.
func (s *starts) commit(ctx context.Context, offsets map[int32]int64) error {
	cl := s.txns.cl
	id, epoch, err := cl.ProducerID(ctx)
	if err != nil {
		return err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = s.txns.id, id, epoch, s.q.cfg.Group
	added, err := add.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("kmq: add group %s to a transaction: %w", s.q.cfg.Group, err)
	}

	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = s.txns.id, id, epoch, s.q.cfg.Group
	req.MemberID, req.Generation = s.q.member.Client().GroupMetadata()
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = s.q.cfg.Topic, s.q.topics.id
	for p, next := range offsets {
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset, partition.LeaderEpoch = p, next, -1
		topic.Partitions = append(topic.Partitions, partition)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("kmq: commit in a transaction: %w", err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("kmq: commit partition %d in a transaction: %w", p.Partition, err)
			}
		}
	}
	return nil
}
