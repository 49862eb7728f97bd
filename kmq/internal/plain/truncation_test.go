package plain

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// turn elects the leader of the topic's partition again, and returns its new epoch.
func (p *place) turn() int32 {
	p.Helper()
	if err := p.cluster.MoveTopicPartition("t", 0, p.cluster.LeaderFor("t", 0)); err != nil {
		p.Fatal(err)
	}
	return p.cluster.PartitionInfo("t", 0).Epoch
}

// The log is truncated while it is read: its new records are delivered, though their offsets were read before.
func TestTruncatedWhileRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		epoch := p.turn()
		p.produce(30)
		e := p.open()
		first := p.take(e, 30)
		p.cluster.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(r kmsg.Request) (kmsg.Response, error, bool) {
			resp := r.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
			topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
			one := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			one.LeaderEpoch, one.EndOffset = epoch, 20
			topic.Topic, topic.Partitions = "t", append(topic.Partitions, one)
			resp.Topics = append(resp.Topics, topic)
			return resp, nil, true
		})
		p.turn()
		p.produce(1) // or the client would not look for the new leader for minutes
		for i, l := range p.take(e, 11) {
			if l.At.Offset != int64(20+i) {
				t.Fatalf("%v is the %d. of the new records", l.At, i)
			}
			if err := e.Ack(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
		for _, l := range first {
			err := e.Ack(t.Context(), l)
			if gone := l.At.Offset >= 20; gone && !errors.Is(err, lease.ErrLost) || !gone && err != nil {
				t.Errorf("ack of %v: %v", l.At, err)
			}
		}
		if err := e.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if c := e.Counts(); c.CommitBehind != 0 || c.InFlight != 0 || c.Lost != 10 {
			t.Errorf("counted %+v", c)
		}
	})
}

// The commit is beyond the end of a log that was truncated: the queue goes on at the divergence, not at the start
// of the log.
func TestCommitBeyondATruncatedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		epoch := p.turn()
		p.produce(60)
		p.turn()
		p.produce(5)
		var o kadm.Offsets
		o.Add(kadm.Offset{Topic: "t", At: 100, LeaderEpoch: epoch})
		if err := p.adm.CommitAllOffsets(t.Context(), "g", o); err != nil {
			t.Fatal(err)
		}
		e := p.open()
		for i, l := range p.take(e, 5) {
			if l.At.Offset != int64(60+i) {
				t.Fatalf("%v is the %d. record", l.At, i)
			}
			if err := e.Ack(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Second)
		now, err := p.adm.FetchOffsets(t.Context(), "g")
		if err != nil {
			t.Fatal(err)
		}
		if at, _ := now.Lookup("t", 0); at.At != 65 || at.LeaderEpoch != epoch+1 {
			t.Errorf("committed %+v, want 65 of epoch %d", at, epoch+1)
		}
	})
}
