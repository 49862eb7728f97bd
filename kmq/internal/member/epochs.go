package member

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Epoch is a leader epoch of a log and the offset of its first record; -1 if that is not known.
type Epoch struct {
	Number int32
	From   int64
}

// Epochs are the leader epochs of a part of a log. Numbers and offsets rise. No method changes the slice.
type Epochs []Epoch

func (e Epochs) newest() int32 {
	if len(e) == 0 {
		return -1
	}
	return e[len(e)-1].Number
}

// add notes the epoch of a record that was read. A lower one than the newest is known from a commit.
func (e Epochs) add(r *kgo.Record) Epochs {
	if r.LeaderEpoch <= e.newest() {
		return e
	}
	return append(e[:len(e):len(e)], Epoch{r.LeaderEpoch, r.Offset})
}

// before returns the epoch of the record before an offset; -1 if it is not known.
func (e Epochs) before(offset int64) int32 { return e.cut(offset).newest() }

func (e Epochs) cut(offset int64) Epochs {
	for len(e) > 0 && e[len(e)-1].From >= offset {
		e = e[:len(e)-1]
	}
	return e
}

// Within returns the epochs of the records below to, from the record before from on.
func (e Epochs) Within(from, to int64) Epochs {
	e = e.cut(to)
	for len(e) > 1 && e[1].From < from {
		e = e[1:]
	}
	return e
}

// diverges takes a broker's answer to the question where an epoch ends: the newest epoch of its log that is not
// above the asked one, and the end of that. It returns the offset from which on the broker's log may have other
// records than were read below end; -1 if nothing is known. Or it returns which epoch to ask for next; otherwise
// ask is -1.
func (e Epochs) diverges(end int64, asked, answered int32, answeredEnd int64) (at int64, ask int32) {
	if answered < 0 || answeredEnd < 0 {
		return -1, -1
	}
	if asked < e[0].Number { // where the answered epoch of the former question begins
		return min(answeredEnd, end), -1
	}
	for i := len(e) - 1; i >= 0; i-- {
		switch {
		case e[i].Number > answered:
			end = e[i].From
		case e[i].Number == answered:
			return min(answeredEnd, end), -1
		default:
			return 0, e[i].Number
		}
	}
	if end >= 0 || answered == 0 {
		return max(0, min(answeredEnd, end)), -1
	}
	return 0, answered - 1
}

// A question is about the log below end, which was read in these epochs.
type question struct {
	epochs Epochs
	end    int64
	asked  int32
}

// askFor bounds the time for questions about epochs.
const askFor = 5 * time.Second

// diverged asks the brokers about epochs. It returns, for each partition whose log has other records than were
// read, from which offset on; -1 if the brokers do not say.
func (m *Member) diverged(ctx context.Context, of map[int32]question) (map[int32]int64, error) {
	asking, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	out, wait := make(map[int32]int64), engine.NewWait()
	for len(of) > 0 {
		failed := m.ask(asking, of, out)
		switch {
		case failed == nil:
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case engine.Fatal(failed):
			m.cfg.Log.Info("kmq: whether logs were truncated can't be checked", append(logged(sorted(of)), "error", failed)...)
			return out, nil
		case wait.Sleep(asking) != nil && ctx.Err() == nil:
			m.cfg.Log.Warn("kmq: whether logs were truncated can't be checked; "+
				"what was acknowledged beyond the commits is delivered again", append(logged(sorted(of)), "error", failed)...)
			for p := range of {
				out[p] = -1
			}
			return out, nil
		}
	}
	return out, nil
}

// ask sends one round of questions. Answered ones are deleted, or name an older epoch.
func (m *Member) ask(ctx context.Context, of map[int32]question, out map[int32]int64) (failed error) {
	var req kadm.OffsetForLeaderEpochRequest
	for p, q := range of {
		req.Add(m.topicOf(p), lease.NumberInTopic(p), q.asked)
	}
	answers, err := kadm.NewClient(m.client).OffsetForLeaderEpoch(ctx, req)
	for p, q := range of {
		a, ok := answers[m.topicOf(p)][lease.NumberInTopic(p)]
		if !ok && err == nil {
			err = errors.New("no broker answers")
		}
		if !ok || a.Err != nil {
			failed = errors.Join(failed, err, a.Err)
			continue
		}
		at, older := q.epochs.diverges(q.end, q.asked, a.LeaderEpoch, a.EndOffset)
		if older >= 0 {
			q.asked = older
			of[p] = q
			continue
		}
		if at < q.end {
			out[p] = at
		}
		delete(of, p)
	}
	return failed
}

// A Cutter is a Handler that wants to know that a log was truncated; for others only the client looks. Cut is
// called like Begin: from an offset on, the log has other records than were begun or committed, or none.
type Cutter interface {
	Cut(partition int32, offset int64)
}

func (m *Member) cuts() bool {
	_, ok := m.cfg.Handler.(Cutter)
	return ok
}

// A Mapper is a Handler whose commits say what is done beyond the committed offset.
type Mapper interface {
	// Mapped returns, after Assigned, the end of what the commit says of a partition, and the epochs up to there.
	Mapped(partition int32) (end int64, epochs Epochs)
	// Read is called like Begin, before the first records of a partition, and those of a new epoch, are begun. The
	// partition's end was this one when its first records were read; 0: none were.
	Read(partition int32, epochs Epochs, end int64)
}

// cut is an offset from which on a log has other records than were read.
type cut struct {
	partition int32
	offset    int64
}

// checkAssigned compares the logs of assigned partitions with what is committed of them. It cuts what does not
// agree, and lets the client begin there.
func (m *Member) checkAssigned(ctx context.Context, partitions map[int32]kgo.Offset) error {
	ask := make(map[int32]question)
	for p := range partitions {
		committed := m.offsets.fetched[p]
		q := question{end: committed.At}
		if epoch := m.offsets.leaders[p]; committed.At > 0 && epoch >= 0 {
			q.epochs = Epochs{{Number: epoch, From: -1}}
		}
		if h, ok := m.cfg.Handler.(Mapper); ok {
			end, epochs := h.Mapped(p)
			if q.end = end; len(epochs) > 0 {
				q.epochs = epochs
			}
		}
		if m.offsets.know(p, q); len(q.epochs) > 0 && m.cuts() {
			q.asked = q.epochs.newest()
			ask[p] = q
		}
	}
	ends := make(map[int32]int64, len(ask))
	for p, q := range ask {
		ends[p] = q.end
	}
	diverged, err := m.diverged(ctx, ask)
	if err != nil {
		return err
	}
	for p, at := range diverged {
		if c := m.offsets.cut(p, at); c.offset < ends[p] {
			m.tellCut(c)
		}
	}
	for p, at := range partitions {
		m.tellEpochs(p)
		if is := m.offsets.of(p); is.begun {
			partitions[p] = at.At(is.next).WithEpoch(is.epochs.before(is.next))
		}
	}
	return nil
}

// tellCut is called in turn.
func (m *Member) tellCut(c cut) {
	if h, ok := m.cfg.Handler.(Cutter); ok {
		h.Cut(c.partition, c.offset)
	}
	m.tellEpochs(c.partition)
}

// tellEpochs is called in turn.
func (m *Member) tellEpochs(partition int32) {
	if h, ok := m.cfg.Handler.(Mapper); ok {
		is := m.offsets.of(partition)
		h.Read(partition, is.epochs, is.end)
	}
}

// checkTurns asks whether the log below a new leader epoch is the one that was read, since the client compares only
// offsets. From partitions whose log is another, it takes the records, and has them read again from the divergence
// on.
func (m *Member) checkTurns(fetches kgo.Fetches) (cuts []cut) {
	if !m.cuts() {
		return nil
	}
	var ask map[int32]question
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if n := len(p.Records); n > 0 {
			number := m.number(p.Topic, p.Partition)
			if q, ok := m.offsets.of(number).turn(p.Records[n-1]); ok {
				if ask == nil {
					ask = make(map[int32]question)
				}
				ask[number] = q
			}
		}
	})
	if ask == nil {
		return nil
	}
	again := make(map[int32]kgo.EpochOffset)
	diverged, _ := m.diverged(m.running, maps.Clone(ask))
	for p, at := range diverged {
		if at < 0 {
			continue // the client resets itself
		}
		if m.offsets.of(p).readBeyond(at) {
			again[p] = kgo.EpochOffset{Epoch: ask[p].epochs.before(at), Offset: at}
		}
		cuts = append(cuts, m.offsets.cut(p, at))
	}
	if len(again) > 0 {
		m.takeOut(fetches, again)
		m.client.SetOffsets(byTopic(m, again))
	}
	return cuts
}

func (m *Member) takeOut(fetches kgo.Fetches, of map[int32]kgo.EpochOffset) {
	for i := range fetches {
		for _, topic := range fetches[i].Topics {
			for j := range topic.Partitions {
				if _, ok := of[m.number(topic.Topic, topic.Partitions[j].Partition)]; ok {
					topic.Partitions[j].Records = nil
				}
			}
		}
	}
}
