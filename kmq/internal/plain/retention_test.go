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

func (p *place) old(partition int32, n int) {
	p.Helper()
	cl := p.on.NewClient(p, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for range n {
		r := &kgo.Record{Topic: p.cfg.Topic, Partition: partition, Value: []byte("v"), Timestamp: time.Now().Add(-time.Hour)}
		if err := cl.ProduceSync(p.Context(), r).FirstErr(); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *place) look(e *Engine) string {
	p.Helper()
	if err := e.watch.Look(p.Context()); err != nil {
		p.Fatal(err)
	}
	return e.Counts().RetentionAlarm
}

// Invariant 9: an old open record is an alarm until it is done or its partition is revoked.
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
		p.on.Set(t, p.cfg.Topic, "retention.ms", "3660000")
		const want = "offset 3 of partition 0 of topic t is not settled and older than 45m45s of its retention.ms of 1h1m0s"
		for range 2 {
			if a := p.look(e); a != want {
				t.Errorf("the alarm is %q", a)
			}
		}
		if log := p.log.String(); strings.Count(log, "retention does not cover all unsettled records") != 1 {
			t.Errorf("not one line of it in %s", log)
		}
		p.on.Delete(t, "t", 0, 5)
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
		if log := p.log.String(); strings.Count(log, "retention covers all unsettled records again") != 1 {
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

// The alarm ignores records that were deleted before the group began. A group with a commit at
// offset 0 has begun.
func TestRetentionAlarmOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.cfg.Topic, p.cfg.MaxInFlight = "wide", 1
		p.on.Topic(t, p.cfg.Topic, 2)
		for partition := range int32(2) {
			p.old(partition, 10)
		}
		for _, c := range []struct {
			group     string
			committed int64
			from      string
		}{{"behind", 7, "offset 7"}, {"new", -1, "offset 5"}, {"zero", 0, ""}} {
			if c.committed >= 0 {
				var committed kadm.Offsets
				for partition := range int32(2) {
					committed.Add(kadm.Offset{Topic: p.cfg.Topic, Partition: partition, At: c.committed, LeaderEpoch: -1})
				}
				if err := p.adm.CommitAllOffsets(t.Context(), c.group, committed); err != nil {
					t.Fatal(err)
				}
			}
			for partition := range int32(2) {
				p.on.Delete(t, p.cfg.Topic, partition, 5)
			}
			p.on.Set(t, p.cfg.Topic, "retention.ms", "-1")
			p.cfg.Group = c.group
			e := p.open()
			waits := 1 - p.take(e, 1)[0].At.Partition
			want := ""
			if c.committed == 0 {
				want = fmt.Sprintf("offsets 0 to 4 of partition %d of topic wide are deleted and were not settled", waits)
			}
			if a := p.look(e); a != want {
				t.Errorf("group %s: the alarm is %q, want %q", c.group, a, want)
			}
			p.on.Set(t, p.cfg.Topic, "retention.ms", "3660000")
			if a := p.look(e); !strings.Contains(a, c.from+" of partition 0") || !strings.Contains(a, c.from+" of partition 1") {
				t.Errorf("group %s: the alarm is %q", c.group, a)
			}
		}
	})
}
