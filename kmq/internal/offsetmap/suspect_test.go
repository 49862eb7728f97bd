package offsetmap

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

// A suspect partition takes only so many records that the deliveries of all fit beside any map.
func TestCountsComeBeforeNewRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := testConfig()
		cfg.MaxInFlight, cfg.MaxDeliveries, cfg.InPlace = 1000, 100, 1000
		limit := rapid.IntRange(40, 600).Draw(t, "limit")
		w := newWorld(cfg, limit)
		defer w.halt()
		w.gap = rapid.SampledFrom([]int64{0, 0, 1, 300}).Draw(t, "gap")
		w.produce(0, 400)
		var c coder
		w.committed[0] = member.Offset{Metadata: c.encode(0, progress{open: true})}
		w.assign(0)
		var mine []*lease.Lease
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.poll()
			mine = append(mine, w.receive(rapid.IntRange(1, 50).Draw(t, "n"))...)
			want := map[int64]int{}
			for _, l := range mine {
				want[l.At.Offset] = l.Attempt
			}
			w.commitAll()
			got, err := c.decode(w.committed[0].At, w.committed[0].Metadata)
			if err != nil || !got.open {
				t.Fatalf("%+v, %v", got, err)
			}
			for _, d := range got.delivered {
				if d.times >= want[d.offset] {
					delete(want, d.offset)
				}
			}
			if len(want) > 0 {
				t.Fatalf("of %d deliveries, %d are not in the commit of %d characters; the limit is %d",
					len(mine), len(want), len(w.committed[0].Metadata), limit)
			}
			for range rapid.IntRange(0, len(mine)).Draw(t, "settled") {
				i := rapid.IntRange(0, len(mine)-1).Draw(t, "which")
				if rapid.IntRange(0, 3).Draw(t, "nack") == 0 {
					_ = w.Nack(ctx, mine[i], 0)
				} else {
					_ = w.Ack(ctx, mine[i])
				}
				mine = append(mine[:i], mine[i+1:]...)
			}
		}
	})
}

// A record of which half of MaxDeliveries processes died, or that has only one delivery left, is delivered alone;
// but not if its partition was given back.
func TestDoubtful(t *testing.T) {
	for _, c := range []struct {
		name     string
		open     bool
		lent     bool // by the last commit of the last process
		times    int  // deliveries of the record, by processes that died
		most     int
		doubtful bool
	}{
		{"never delivered", true, false, 0, 5, false},
		{"once", true, true, 1, 5, false},
		{"twice", true, true, 2, 5, true},
		{"twice, and it waited when the process died", true, false, 2, 5, false},
		{"four times, and it waited when the process died", true, false, 4, 5, false},
		{"twice, and the partition was given back", false, false, 2, 5, false},
		{"one delivery left", true, false, 0, 1, true},
		{"half of an even number", true, true, 1, 2, true},
	} {
		cfg := testConfig()
		cfg.MaxDeliveries = c.most
		w := newWorld(cfg, 4096)
		w.produce(0, 1)
		p := progress{open: c.open}
		if c.times > 0 {
			p.delivered = []delivered{{0, c.times, c.lent}}
		}
		w.committed[0] = member.Offset{Metadata: w.coder.encode(0, p)}
		w.assign(0)
		w.poll()
		l := w.one(t, "0/0", c.times+1)
		if got := l.Private.(*slot).marks&doubtful != 0; got != c.doubtful {
			t.Errorf("%s: doubtful %t", c.name, got)
		}
		w.halt()
	}
}

// A revocation clears the flag, but not before all records are done that may have killed a process.
func TestFlag(t *testing.T) {
	cfg := testConfig()
	cfg.MaxDeliveries = 5
	w := newWorld(cfg, 4096)
	defer w.halt()
	w.produce(0, 3)
	var c coder
	w.committed[0] = member.Offset{Metadata: c.encode(0, progress{open: true})}
	for done, want := range []bool{true, true, false} {
		w.assign(0)
		w.h.Read(0, nil, 2)
		w.poll()
		l := w.receive(1)[0]
		w.commitAll()
		if p, _ := c.decode(w.committed[0].At, w.committed[0].Metadata); !p.open {
			t.Errorf("with %d done, the partition is not open", done)
		}
		if done > 0 {
			must(t, w.Ack(ctx, l))
		}
		w.revoke(0)
		w.ready = nil
		if p, _ := c.decode(w.committed[0].At, w.committed[0].Metadata); p.open != want {
			t.Errorf("with %d done and the partition revoked, it is open: %t", done, p.open)
		}
	}
}

// A delivery that was committed before a revocation and is not lent does not count after it.
func TestRevokedBeforeLent(t *testing.T) {
	cfg := testConfig()
	cfg.MaxDeliveries = 1
	w := newWorld(cfg, 4096)
	defer w.halt()
	w.produce(0, 1)
	w.committed[0] = member.Offset{Metadata: w.coder.encode(0, progress{open: true})}
	w.assign(0)
	w.poll()
	if now, wait := w.choose(w.ready); len(now) != 1 || wait {
		t.Fatalf("chose %v, wait %t", describe(now), wait)
	}
	w.commitAll()
	w.revoke(0)
	w.ready = nil
	w.assign(0)
	w.poll()
	w.one(t, "0/0", 1)
}

// Two of eight suspect records are delivered alone, and each delivery is committed before Receive returns it.
func TestSuspectsAreReceived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := startFake(t)
		cl := prepare(t, fake, "queue", 1, 8)
		adm := kadm.NewClient(cl)
		cfg := kafkaConfig(fake, "queue")
		cfg.MaxDeliveries, cfg.CommitEvery = 5, time.Hour
		var c coder
		committed(t, adm, cfg.Group, "queue", 0, c.encode(0, progress{open: true, delivered: []delivered{{3, 2, true}, {4, 2, true}, {5, 1, true}}}))
		e, _ := open(t, fake, cfg)
		times := map[int64]int{3: 2, 4: 2, 5: 1}
		for _, want := range []int{3, 1, 1, 3} {
			leases, err := engine.Receive(ctx, e, 10)
			must(t, err)
			if len(leases) != want {
				t.Fatalf("received %v, want %d", describe(leases), want)
			}
			now, err := adm.FetchOffsets(ctx, cfg.Group)
			must(t, err)
			at, _ := now.Lookup("queue", 0)
			got, err := c.decode(at.At, at.Metadata)
			must(t, err)
			counted := map[int64]int{}
			for _, d := range got.delivered {
				counted[d.offset] = d.times
			}
			for _, l := range leases {
				if times[l.At.Offset]++; counted[l.At.Offset] != times[l.At.Offset] || l.Attempt != times[l.At.Offset] {
					t.Errorf("%v is attempt %d, and %d are committed", l.At, l.Attempt, counted[l.At.Offset])
				}
			}
			if leases[0].At.Offset < 5 {
				soon, cancel := context.WithTimeout(ctx, time.Second)
				more, err := engine.Receive(soon, e, 10)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("beside %v, received %v, %v", describe(leases), describe(more), err)
				}
			}
			for _, l := range leases {
				must(t, e.Ack(ctx, l))
			}
		}
		must(t, cl.ProduceSync(ctx, &kgo.Record{Topic: "queue"}).FirstErr())
		if receiveAll(t, e, 1); e.careful.Load() {
			t.Error("the partition is still suspect")
		}
	})
}
