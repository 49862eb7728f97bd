package remote

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

type scripted struct {
	ctx  context.Context
	seq  atomic.Uint64
	hold chan chan struct{}
}

func (s *scripted) Open(Opening, *Opened) error { return nil }
func (s *scripted) Events(None, *Told) error    { <-s.ctx.Done(); return s.ctx.Err() }
func (s *scripted) Snapshot(w Want, reply *snapshot.Snapshot) error {
	n := int64(s.seq.Add(1))
	reply.Version, reply.Seq = Version, uint64(n)
	reply.Behind.AckedIn = []int64{100 * n}
	if w.Awaited != nil {
		reply.Behind.OpenRecords, reply.Behind.OldestDueNs = []int64{n}, []int64{1000 * n}
	}
	if w.Usage {
		reply.Usage = &snapshot.Usage{Known: true, User: time.Duration(n) * time.Second}
	}
	if w.Pauses {
		reply.Pauses = &snapshot.Pauses{GC: snapshot.Quantiles{Count: n, Max: time.Second}}
	}
	if w.Books {
		reply.Groups = []snapshot.Group{{Arrived: true, Reached: []snapshot.Reached{{Position: 10 * n, Arrived: 10 * n}}}}
	} else {
		reply.Groups = []snapshot.Group{{Reached: []snapshot.Reached{{Position: 10 * n}}}}
	}
	if w.Usage || w.Awaited != nil || w.Books {
		if s.hold != nil {
			goOn := make(chan struct{})
			s.hold <- goOn
			<-goOn
		}
	}
	return nil
}

func scriptedChild(t *testing.T) (*Child, *scripted) {
	t.Helper()
	s := &scripted{}
	c, err := Start{Here: func(ctx context.Context, _ string, in io.Reader, out io.WriteCloser) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		s.ctx = ctx
		return Serve(in, out, map[string]any{PartName: s})
	}}.Child()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	if _, err := c.Open(t.Context(), Assignment{Version: Version, Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestOvertakenAnswerIsStillTheAnswer(t *testing.T) {
	c, s := scriptedChild(t)
	all := Want{Awaited: [][]ledger.Awaited{{}}, Usage: true, Pauses: true, Books: true, Fresh: true}
	if _, err := c.Snapshot(all); err != nil { // answer 1
		t.Fatal(err)
	}
	s.hold = make(chan chan struct{})
	answered := make(chan snapshot.Snapshot)
	go func() {
		got, _ := c.Snapshot(all) // answer 2
		answered <- got
	}()
	goOn := <-s.hold
	if got, _ := c.Snapshot(Want{}); got.Seq != 3 {
		t.Fatal(got.Seq)
	}
	close(goOn)
	got := <-answered
	if got.Usage.User != 2*time.Second {
		t.Errorf("usage is of %v, want that of 2s", got.Usage.User)
	}
	if got.Pauses == nil {
		t.Errorf("the pauses are lost")
	}
	if got.Behind.OldestDueNs[0] != 2000 {
		t.Errorf("oldest due is %d beside acked %v, want 2000", got.Behind.OldestDueNs[0], got.Behind.AckedIn)
	}
	if got.Groups[0].Reached[0].Arrived != 20 {
		t.Errorf("arrived %d at position %d, want 20", got.Groups[0].Reached[0].Arrived, got.Groups[0].Reached[0].Position)
	}
	later := c.told()
	if later.Seq != 3 || later.Usage.User != 2*time.Second || later.Behind.OldestDueNs[0] != 2000 || later.Groups[0].Reached[0].Arrived != 20 {
		t.Errorf("told %+v", later)
	}
}

func TestFirstBooksLate(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		cs := join(t, inside, axis, 1, func(c *receive.Config) { c.Hold = false })
		child := cs.Children()[0]
		if err := child.stand(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = child.goOn() }()
		g := cs.Standing(Want{Times: true, Books: true})
		for p, r := range g.Reached {
			if len(r.Awaited) != cs.cfg.Group.Producers {
				t.Fatalf("of partition %d it awaits %v of %d producers", p, r.Awaited, cs.cfg.Group.Producers)
			}
		}
	})
}

func TestAskedWhileAProcessIsOpened(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		cs := join(t, inside, axis, 2, nil)
		readToEnd(t, cs)
		newcomer, err := inside(7)
		if err != nil {
			t.Fatal(err)
		}
		cs.add(newcomer, Assignment{Partitions: partitions, Group: &GroupAssignment{}})
		if err := cs.Err(); err != nil {
			t.Errorf("Err: %v", err)
		}
		if at := cs.Standing(Want{}).Reached[0].Position; at != tapeRecords {
			t.Errorf("position %d of %d", at, tapeRecords)
		}
		newcomer.End()
		cs.mu.Lock()
		cs.all = slices.Delete(cs.all, len(cs.all)-1, len(cs.all))
		cs.mu.Unlock()
	})
}

func TestWaitingOfTheDead(t *testing.T) {
	c, _ := scriptedChild(t)
	c.keep(snapshot.Snapshot{Seq: 1, Behind: snapshot.Behind{AckedIn: []int64{5}, WaitingRecords: 9, WaitingDueNs: 77}})
	c.worker.kill()
	<-c.gone
	if b := c.told().Behind; b.WaitingRecords != 0 {
		t.Errorf("%d records wait since %d", b.WaitingRecords, b.WaitingDueNs)
	}
}

func TestNeverAnswered(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		children := insiders(t, 2)
		ps := open(t, children, axis, Version, "")
		for _, c := range children {
			_ = c.stand()
		}
		next := slices.Repeat([][]ledger.Awaited{make([]ledger.Awaited, workers)}, partitions)
		if b := ps.Snapshot(Want{Awaited: next}).Behind; len(b.AckedIn) != partitions {
			t.Errorf("acked in %v of %d partitions", b.AckedIn, partitions)
		}
		for _, c := range children {
			_ = c.goOn()
		}
	})
}
