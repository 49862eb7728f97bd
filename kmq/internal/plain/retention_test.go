package plain

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// old produces records of a partition that are an hour old; set has them live for little more.
func (p *place) old(partition int32, n int) {
	p.Helper()
	cl := p.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for range n {
		r := &kgo.Record{Topic: p.cfg.Topic, Partition: partition, Value: []byte("v"), Timestamp: time.Now().Add(-time.Hour)}
		if err := cl.ProduceSync(p.Context(), r).FirstErr(); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *place) set(retention string) {
	p.Helper()
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &retention}}
	if _, err := p.adm.AlterTopicConfigs(p.Context(), change, p.cfg.Topic); err != nil {
		p.Fatal(err)
	}
}

// look is the alarm of now; the engine itself looks every 30 s.
func (p *place) look(e *Engine) string {
	p.Helper()
	if err := e.watch.Look(p.Context()); err != nil {
		p.Fatal(err)
	}
	return e.Counts().RetentionAlarm
}

// Invariant 9: a consumer that hangs on an old record is an alarm, until it is done, or the
// partition is another's.
func TestRetentionAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.old(0, 10)
		e := p.open()
		all := p.take(e, 10)
		for i, l := range all {
			if i != 3 && i != 9 {
				if err := e.Ack(t.Context(), l); err != nil {
					t.Fatal(err)
				}
			}
		}
		if a := p.look(e); a != "" {
			t.Errorf("all is covered, and the alarm is %q", a)
		}
		p.set("3660000")
		const want = "offset 3 of partition 0 of topic t is not settled and older than 45m45s of its retention.ms of 1h1m0s"
		for range 2 {
			if a := p.look(e); a != want {
				t.Errorf("the alarm is %q", a)
			}
		}
		if log := p.log.String(); strings.Count(log, "retention does not cover what is not settled") != 1 {
			t.Errorf("not one line of it in %s", log)
		}
		p.delete(5)
		if a := p.look(e); !strings.Contains(a, "offsets 3 to 4 of partition 0 of topic t are deleted") {
			t.Errorf("the alarm is %q", a)
		}
		if err := e.Ack(t.Context(), all[3]); err != nil {
			t.Fatal(err)
		}
		if a := p.look(e); !strings.Contains(a, "offset 9") {
			t.Errorf("the alarm is %q", a)
		}
		if err := e.Ack(t.Context(), all[9]); err != nil {
			t.Fatal(err)
		}
		if a := p.look(e); a != "" {
			t.Errorf("all is settled, and the alarm is %q", a)
		}
		if log := p.log.String(); strings.Count(log, "retention covers what is not settled again") != 1 {
			t.Errorf("not one line of its end in %s", log)
		}
		p.old(0, 1)
		p.take(e, 1)
		if a := p.look(e); !strings.Contains(a, "offset 10") {
			t.Errorf("the alarm is %q", a)
		}
		(*handler)(e).Forget([]int32{0})
		if a := p.look(e); a != "" {
			t.Errorf("the partition is another's, and the alarm is %q", a)
		}
	})
}

// wide makes a topic of two partitions, of each of which the first five of ten records are
// deleted and a group has committed an offset. One record may be in flight.
func (p *place) wide(group string, at int64) {
	p.Helper()
	p.cfg.Topic, p.cfg.MaxInFlight = "wide", 1
	if _, err := p.adm.CreateTopic(p.Context(), 2, 1, nil, p.cfg.Topic); err != nil {
		p.Fatal(err)
	}
	var committed, deleted kadm.Offsets
	for partition := range int32(2) {
		p.old(partition, 10)
		committed.Add(kadm.Offset{Topic: p.cfg.Topic, Partition: partition, At: at, LeaderEpoch: -1})
		deleted.Add(kadm.Offset{Topic: p.cfg.Topic, Partition: partition, At: 5})
	}
	if err := p.adm.CommitAllOffsets(p.Context(), group, committed); err != nil {
		p.Fatal(err)
	}
	if res, err := p.adm.DeleteRecords(p.Context(), deleted); err != nil || res.Error() != nil {
		p.Fatal(err, res.Error())
	}
}

// What waits is covered too, whether its partition was begun or not. What was deleted before
// a group began is not missed by it.
func TestRetentionAlarmOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.wide("behind", 7)
		for group, at := range map[string]string{"behind": "offset 7", "new": "offset 5"} {
			p.set("-1")
			p.cfg.Group = group
			e := p.open()
			p.take(e, 1) // the other partition waits
			if a := p.look(e); a != "" {
				t.Errorf("group %s: all is covered, and the alarm is %q", group, a)
			}
			p.set("3660000")
			if a := p.look(e); !strings.Contains(a, at+" of partition 0") || !strings.Contains(a, at+" of partition 1") {
				t.Errorf("group %s: the alarm is %q", group, a)
			}
		}
	})
}

// A group that has committed offset 0 has begun there: what is deleted from 0 on is lost to
// it, as it is not to a group that has committed nothing.
func TestRetentionAlarmFromOffsetZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.wide("zero", 0)
		p.set("-1")
		for _, group := range []string{"zero", "new"} {
			p.cfg.Group = group
			e := p.open()
			waits := 1 - p.take(e, 1)[0].At.Partition
			want := ""
			if group == "zero" {
				want = fmt.Sprintf("offsets 0 to 4 of partition %d of topic wide are deleted and were not settled", waits)
			}
			if a := p.look(e); a != want {
				t.Errorf("group %s: the alarm is %q, want %q", group, a, want)
			}
		}
	})
}
