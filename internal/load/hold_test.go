package load

import (
	"testing"
	"time"
)

// TestHeldMembersFetchNothing: held members have their partitions and poll, and
// once they are released they are handed everything.
func TestHeldMembersFetchNothing(t *testing.T) {
	for _, byPartition := range []bool{false, true} {
		hold := func(cfg *GroupConfig) {
			cfg.Hold, cfg.ByPartition, cfg.Plan = true, byPartition, fixedWork(time.Millisecond)
		}
		consume(t, 2*inboxHigh, hold, func(t *testing.T, g *Group, c *fakeConsumer, _ *Axis) {
			time.Sleep(2 * time.Second)
			if r := g.Received(); r.Delivered != 0 || c.pausedNow() != 4 || g.Counts().Rebalances != 0 {
				t.Errorf("%d delivered with %d partitions paused and %d rebalances; want 0, 4, 0", r.Delivered, c.pausedNow(), g.Counts().Rebalances)
			}
			g.Release()
			g.Release()
			time.Sleep(10 * time.Second)
			if r := g.Received(); r.Delivered != 8*inboxHigh || c.pausedNow() != 0 {
				t.Errorf("%d delivered after the release, with %d partitions paused; want %d, 0", r.Delivered, c.pausedNow(), 8*inboxHigh)
			}
		})
	}
}

// TestHoldOutlastsARebalance: a partition that comes while the group is held is
// held, and one that comes later is not.
func TestHoldOutlastsARebalance(t *testing.T) {
	consume(t, 10, func(cfg *GroupConfig) { cfg.Hold = true }, func(t *testing.T, g *Group, c *fakeConsumer, _ *Axis) {
		c.cfg.OnRevoked([]int32{0, 1}, false)
		c.Resume(0, 1) // as a driver does with what is revoked
		c.cfg.OnAssigned([]int32{0, 1})
		time.Sleep(time.Second)
		if r := g.Received(); r.Delivered != 0 || c.pausedNow() != 4 {
			t.Errorf("%d delivered, %d partitions paused; want 0, 4", r.Delivered, c.pausedNow())
		}
		c.cfg.OnRevoked([]int32{2}, false)
		c.Resume(2)
		g.Release()
		c.cfg.OnAssigned([]int32{2})
		time.Sleep(time.Second)
		if r := g.Received(); r.Delivered != 40 {
			t.Errorf("%d of 40 delivered after the release", r.Delivered)
		}
	})
}

// TestManualMembersShareThePartitions: without a group the members have each
// partition once, from where it starts, and commit nothing.
func TestManualMembersShareThePartitions(t *testing.T) {
	manual := func(cfg *GroupConfig) {
		cfg.Manual, cfg.Members, cfg.From, cfg.CommitEvery = true, 3, []int64{0, 10, 20, 99}, 0
		cfg.Sized = true
	}
	consume(t, 100, manual, func(t *testing.T, g *Group, _ *fakeConsumer, axis *Axis) {
		time.Sleep(1500 * time.Millisecond)
		if r := g.Received(); r.Delivered != 100+90+80+1 || r.Bytes != 100*r.Delivered {
			t.Errorf("%d delivered with %d bytes, want 271 of 100 bytes", r.Delivered, r.Bytes)
		}
		for i, m := range g.members {
			c := m.client.(*fakeConsumer)
			if want := []int{2, 1, 1}[i]; len(c.cfg.Partitions) != want || c.cfg.Group != "" || c.committed != nil {
				t.Errorf("member %d has the partitions %v of group %q and committed %v; want %d, none, nothing", i, c.cfg.Partitions, c.cfg.Group, c.committed, want)
			}
		}
		for p, at := range g.Reached() {
			if at.Position != 100 || at.At < 0 || at.At > axis.Now() {
				t.Errorf("partition %d: at %d since %v", p, at.Position, time.Duration(at.At))
			}
		}
		if g.Counts().Commits != 0 {
			t.Errorf("%d commits without a group", g.Counts().Commits)
		}
	})
}
