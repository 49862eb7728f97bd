package receive

import (
	"context"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
)

func TestHeldMembersFetchNothing(t *testing.T) {
	for _, byPartition := range []bool{false, true} {
		hold := func(cfg *Config) {
			cfg.Hold, cfg.ByPartition, cfg.Plan = true, byPartition, loadtest.FixedWork(time.Millisecond)
		}
		consume(t, 2*inboxHigh, hold, func(t *testing.T, g *Group, c *fakeConsumer, _ *load.Axis) {
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

// A partition assigned during the hold is held; a later one is not.
func TestHoldOutlastsARebalance(t *testing.T) {
	consume(t, 10, func(cfg *Config) { cfg.Hold = true }, func(t *testing.T, g *Group, c *fakeConsumer, _ *load.Axis) {
		c.cfg.OnRevoked([]int32{0, 1}, false)
		c.Resume(0, 1)
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

func TestManualMembersShareThePartitions(t *testing.T) {
	manual := func(cfg *Config) {
		cfg.Manual, cfg.Members, cfg.From, cfg.CommitEvery = true, 3, []int64{0, 10, 20, 99}, 0
	}
	consume(t, 100, manual, func(t *testing.T, g *Group, _ *fakeConsumer, axis *load.Axis) {
		time.Sleep(1500 * time.Millisecond)
		if r := g.Received(); r.Delivered != 100+90+80+1 || r.Bytes != 100*r.Delivered {
			t.Errorf("%d delivered with %d bytes, want 271 of 100 bytes", r.Delivered, r.Bytes)
		}
		shares := g.Standing(false).Shares
		for i, m := range g.members.Ever() {
			c := m.client.(*fakeConsumer)
			records := []int64{101, 90, 80}[i]
			if s := shares[i]; s.Number != i || s.Records != records || s.Bytes != 100*records || s.FirstNs > s.LastNs {
				t.Errorf("the share of member %d is %+v, want %d records", i, s, records)
			}
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

// selfish is a Kafka whose clients hold their own lock during callbacks and calls, and call back
// before NewConsumer returns them.
type selfish struct{ *fakeKafka }

func (k selfish) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	c := &selfishConsumer{cfg: cfg, asked: make(chan struct{}, 1)}
	c.callBack(func() { cfg.OnAssigned([]int32{0, 1}) })
	return c, nil
}

type selfishConsumer struct {
	fakeConsumer
	cfg   driver.ConsumerConfig
	own   sync.Mutex
	held  sync.Map
	asked chan struct{}
}

func (c *selfishConsumer) callBack(do func()) {
	c.own.Lock()
	defer c.own.Unlock()
	do()
}

func (c *selfishConsumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (c *selfishConsumer) Pause(partitions ...int32) {
	for _, p := range partitions {
		c.held.Store(p, true)
	}
}

func (c *selfishConsumer) Resume(partitions ...int32) {
	select {
	case c.asked <- struct{}{}:
	default:
	}
	c.callBack(func() {
		for _, p := range partitions {
			c.held.Delete(p)
		}
	})
}

func (c *selfishConsumer) pausedNow() (n int) {
	c.held.Range(func(any, any) bool { n++; return true })
	return n
}

func TestNoLockOfAMemberIsHeldWhileItsClientIsAsked(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		axis := load.NewAxis(nil)
		g, err := Start(Config{
			Driver: selfish{&fakeKafka{log: loadtest.Log(4, 0)}}, Members: 1, Producers: 1, Partitions: 4, Axis: axis, Hold: true,
			OnEvent: func(Event) {},
		})
		if err != nil {
			t.Error(err)
			return
		}
		c := g.members.Ever()[0].client.(*selfishConsumer)
		if n := c.pausedNow(); n != 2 {
			t.Errorf("%d partitions are held that came before the client, want 2", n)
		}
		var rebalance sync.WaitGroup
		began := make(chan struct{})
		rebalance.Go(func() {
			c.callBack(func() {
				close(began)
				<-c.asked // to resume, which waits for this callback
				c.cfg.OnRevoked([]int32{0}, true)
				c.cfg.OnAssigned([]int32{0})
			})
		})
		<-began
		g.Release()
		rebalance.Wait()
		if n := c.pausedNow(); n != 0 {
			t.Errorf("%d partitions are held after the release", n)
		}
		g.Stop(context.Background())
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the member and its client wait for each other")
	}
}
