package receive

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load/loadtest"
)

func TestPausedMemberStandsStill(t *testing.T) {
	const n = 300
	for _, byPartition := range []bool{false, true} {
		change := func(cfg *Config) { cfg.Plan, cfg.ByPartition = loadtest.FixedWork(10*time.Millisecond), byPartition }
		crowd(t, n, change, func(t *testing.T, g *Group, brokers *fakeGroup) {
			time.Sleep(1234 * time.Millisecond)
			how, err := g.Pause(1)
			if err != nil || !strings.Contains(how, "consumer 1") {
				t.Fatalf("paused by %q, %v", how, err)
			}
			if _, err := g.Pause(1); err == nil {
				t.Error("it was paused twice")
			}
			time.Sleep(20 * time.Millisecond)
			at, committed := positions(g), brokers.committedAt()
			time.Sleep(session + 10*time.Second)
			now, later := positions(g), brokers.committedAt()
			if now[1] != at[1] || now[3] != at[3] || later[1] != committed[1] || later[3] != committed[3] {
				t.Errorf("paused at %v, committed %v, it went on to %v, %v", at, committed, now, later)
			}
			if now[0] != n || now[2] != n {
				t.Errorf("the other member came to %v", now)
			}
			if err := g.Resume(1); err != nil {
				t.Error(err)
			}
			if err := g.Resume(1); err == nil {
				t.Error("it was resumed twice")
			}
			time.Sleep(20 * time.Second)
			want := tally{delivered: 4 * n, unique: 4 * n, responses: 4 * n, processed: 4 * n}
			if got := tallyOf(g); got != want {
				t.Errorf("%+v; want %+v", got, want)
			}
			if g.Counts().Rebalances != 0 {
				t.Errorf("there were %d rebalances", g.Counts().Rebalances)
			}
		})
	}
}

func TestPausedMemberEnds(t *testing.T) {
	for name, end := range map[string]func(*Group) error{
		"stop":  func(g *Group) error { g.Stop(context.Background()); return nil },
		"leave": func(g *Group) error { return g.Leave(1) },
		"kill":  func(g *Group) error { _, err := g.Kill(1); return err },
		"doom":  func(g *Group) error { _, err := g.Doom(1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for _, byPartition := range []bool{false, true} {
				change := func(cfg *Config) { cfg.Plan, cfg.ByPartition = loadtest.FixedWork(10*time.Millisecond), byPartition }
				crowd(t, 3000, change, func(t *testing.T, g *Group, _ *fakeGroup) {
					time.Sleep(1234 * time.Millisecond)
					doomed := g.members.Present()[1]
					if _, err := g.Pause(1); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
					at := positions(g)
					if err := end(g); err != nil {
						t.Error(err)
					}
					if _, err := g.Pause(1); err == nil {
						t.Error("a member that is gone was paused")
					}
					if now := positions(g); now[1] != at[1] || now[3] != at[3] {
						t.Errorf("what was paused at %v ended at %v", at, now)
					}
					if name == "doom" {
						doomed.client.Close()
					}
				})
			}
		})
	}
}

// A doomed member commits nothing more, although its connections last.
func TestDoomedMember(t *testing.T) {
	const n = 3000
	change := func(cfg *Config) { cfg.Plan = loadtest.FixedWork(10 * time.Millisecond) }
	crowd(t, n, change, func(t *testing.T, g *Group, brokers *fakeGroup) {
		time.Sleep(2345 * time.Millisecond)
		doomed := g.members.Present()[1]
		loss, err := g.Doom(1)
		if err != nil || !slices.Equal(loss.Partitions, []int32{1, 3}) || loss.Uncommitted < 32 || loss.Uncommitted > 80 {
			t.Fatalf("it lost %+v, %v", loss, err)
		}
		at, committed := positions(g), brokers.committedAt()
		doomed.commit(context.Background())
		time.Sleep(session * 2)
		now, later := positions(g), brokers.committedAt()
		if now[1] != at[1] || later[1] != committed[1] || later[3] != committed[3] {
			t.Errorf("doomed at %v, committed %v, it went on to %v, %v", at, committed, now, later)
		}
		if brokers.size() != 2 {
			t.Errorf("the group has %d members: it has left", brokers.size())
		}
		if _, err := g.Doom(1); err == nil {
			t.Error("it was doomed twice")
		}
		doomed.client.Close()
	})
}
