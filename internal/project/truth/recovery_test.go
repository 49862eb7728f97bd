package truth

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// One group's consumers take nothing for two seconds.
type stalled struct {
	group string // the end of its name
}

func (d *stalled) Name() string                        { return "stalled" }
func (d *stalled) Version() string                     { return franz.New().Version() }
func (d *stalled) Lacks() map[driver.Capability]string { return nil }

func (d *stalled) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	return franz.New().NewProducer(cfg)
}

func (d *stalled) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	inner, err := franz.New().NewConsumer(cfg)
	if err != nil || !strings.HasSuffix(cfg.Group, d.group) {
		return inner, err
	}
	return &stalledConsumer{Consumer: inner}, nil
}

type stalledConsumer struct {
	driver.Consumer
	polled int
}

func (c *stalledConsumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	chunks, err := c.Consumer.Poll(ctx)
	if len(chunks) > 0 {
		if c.polled++; c.polled == 1 {
			time.Sleep(2 * time.Second)
		}
	}
	return chunks, err
}

func agree(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b) }

func event(r *result.Recorded, kind, what string) *result.Event {
	for i, e := range r.Events {
		if e.Kind == kind && strings.HasPrefix(e.What, what) {
			return &r.Events[i]
		}
	}
	return nil
}

// Consumers that fall behind by 750/s become eight times as fast, and the backlog follows
// arithmetic from load and capacity.
func TestRecovery(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		const offered, capacity = 1000, 2000.0
		s := smallScenario(t, "recovery", "load.rate=1k/s", "consume.work=4ms", "consume.changes=[{at: 3s, work: 500us}]", "phases.measure=7s")
		r := run(t, config(t, c, s))
		wantValid(t, r)
		wantBalance(t, r)
		if len(r.Run.Lag.Changes) != 1 {
			t.Fatalf("run.json has %d changes, want 1", len(r.Run.Lag.Changes))
		}
		change := r.Run.Lag.Changes[0]
		if change.DrainTimeS == nil || change.DrainedAtNs == nil {
			t.Fatalf("the backlog was not drained: %+v", change)
		}
		if change.What != "work 500µs" || change.AtNs != 3e9 {
			t.Errorf("at %d ns: %s; want the change of work at 3 s", change.AtNs, change.What)
		}
		if took := float64(*change.DrainedAtNs-change.AtNs) / 1e9; !agree(took, *change.DrainTimeS, 1e-9) {
			t.Errorf("drained after %v s, and from %d to %d", *change.DrainTimeS, change.AtNs, *change.DrainedAtNs)
		}
		// The warm-up of half a second has the same rate. Records of the last millisecond linger
		// and have not arrived.
		if behind := int64(3500 - 3500/4); change.BacklogRecords < behind-3 || change.BacklogRecords > behind {
			t.Errorf("the backlog at the change is %d, want %d", change.BacklogRecords, behind)
		}
		wantCount(t, "the normal backlog, what 50 ms bring", change.NormalRecords, offered/20)
		wantRecovery(t, r, change, offered, capacity)
		if event(r, "consumer", "work 500µs") == nil || event(r, "consumer", "the backlog is back to normal") == nil {
			t.Error("an event is missing: the change, or the end of the backlog")
		}
	})
}

func wantRecovery(t *testing.T, r *result.Recorded, c result.Change, offered, capacity float64) {
	t.Helper()
	want := float64(c.BacklogRecords-c.NormalRecords) / (capacity - offered)
	const look = 0.01 // seconds between two readings of the backlog
	if *c.DrainTimeS < want || *c.DrainTimeS > want+look {
		t.Errorf("drained in %.3f s; (%d − %d) ÷ (%.0f/s − %.0f/s) is %.3f s", *c.DrainTimeS, c.BacklogRecords, c.NormalRecords, capacity, offered, want)
	}
	if !agree(c.OfferedPerS, offered, 0.002) || !agree(c.DeliveredPerS, capacity, 0.002) {
		t.Errorf("it says that %.0f/s were offered and %.0f/s delivered, want %.0f/s and %.0f/s", c.OfferedPerS, c.DeliveredPerS, offered, capacity)
	}
	// The intervals between the change and the end of the drain must show the same rate of
	// deliveries.
	var delivered, length float64
	for _, iv := range r.Intervals {
		if iv.StartNs > c.AtNs && iv.EndNs < *c.DrainedAtNs {
			delivered, length = delivered+float64(iv.Delivered), length+float64(iv.EndNs-iv.StartNs)/1e9
		}
	}
	if length < want-0.2 || !agree(delivered/length, capacity, 0.002) {
		t.Errorf("the intervals of the drain, %.3f s, delivered %.0f/s, want %.0f/s", length, delivered/length, capacity)
	}
}

// The slope of the backlog is offered load − capacity under an overload, and zero if the consumers
// keep up.
func TestBacklogGrowth(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		over := smallScenario(t, "overload", "consume.work=4ms", "phases.measure=3s")
		under := smallScenario(t, "underload", "phases.measure=3s")
		runs := []*result.Recorded{run(t, config(t, c, over)), run(t, config(t, c, under))}
		for i, want := range []float64{750, 0} {
			lag := runs[i].Run.Lag
			if lag.BacklogGrowthPerS == nil || lag.BacklogGrowthErrorPerS == nil || lag.BacklogReadings < 3 {
				t.Fatalf("%s: no growth was found", runs[i].Run.Run.Name)
			}
			got := *lag.BacklogGrowthPerS
			if slope := slopeOf(runs[i]); math.Abs(got-slope) > 1e-6*(1+math.Abs(slope)) {
				t.Errorf("%s: the backlog grows by %v/s, and the intervals say %v/s", runs[i].Run.Run.Name, got, slope)
			}
			if math.Abs(got-want) > 0.5 || *lag.BacklogGrowthErrorPerS > 0.5 {
				t.Errorf("%s: the backlog grows by %.1f/s ± %.1f/s, want %.0f/s", runs[i].Run.Run.Name, got, *lag.BacklogGrowthErrorPerS, want)
			}
		}
	})
}

func slopeOf(r *result.Recorded) float64 {
	var n, x, y, xx, xy float64
	for _, iv := range r.Intervals {
		if iv.EndNs < 0 || iv.EndNs > r.Run.Run.Phases[1].EndNs {
			continue
		}
		at, backlog := float64(iv.EndNs)/1e9, float64(iv.BacklogRecords)
		n, x, y, xx, xy = n+1, x+at, y+backlog, xx+at*at, xy+at*backlog
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// The window delivers nothing, and the drain's rate is the consumers'.
func TestHeldUntilTheDrain(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "backlog", "load.volume=150kB", "consume.hold=drain", "consume.work=1ms", "phases.measure=20s")
		r := run(t, config(t, c, s))
		wantValid(t, r)
		wantBalance(t, r)
		wantSeries(t, r)
		wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, 1500e6)
		wantCount(t, "scheduled", r.Run.Load.Scheduled, 1500)
		wantCount(t, "bytes", r.Run.Load.Bytes, 150_000)
		wantCount(t, "unique", r.Run.Delivery.Unique, 1500)
		wantCount(t, "rebalances", r.Run.Consumer.Rebalances, 0)
		lag := r.Run.Lag
		if r.Run.Load.OfferedPerS != 1000 || r.Run.Delivery.DeliveredPerS != 0 {
			t.Errorf("%v/s were offered and %v/s delivered in the window, want 1000/s and none", r.Run.Load.OfferedPerS, r.Run.Delivery.DeliveredPerS)
		}
		if !lag.Drained || !agree(lag.DrainPerS*lag.DrainTimeS, 2000, 1e-9) || !agree(lag.DrainPerS, 1000, 0.002) {
			t.Errorf("drained: %v, at %.0f/s in %.3f s; want 2000 records at 1000/s", lag.Drained, lag.DrainPerS, lag.DrainTimeS)
		}
		if drain := r.Run.Run.Phases[2]; lag.DrainTimeS >= float64(drain.EndNs-drain.StartNs)/1e9 {
			t.Errorf("the last record was delivered after %v s, and the drain was from %d to %d", lag.DrainTimeS, drain.StartNs, drain.EndNs)
		}
		wantCount(t, "changes", int64(len(lag.Changes)), 1)
		if c := lag.Changes[0]; c.What != "fetching" || c.BacklogRecords < 1998 || c.BacklogRecords > 2000 || !agree(c.DeliveredPerS, 1000, 0.002) {
			t.Errorf("the release is %+v; want one at a backlog of 2000 but for what lingers, and 1000/s from then on", c)
		}
		if peak := lag.BacklogPeakRecords; peak < lag.Changes[0].BacklogRecords || peak > 2000 {
			t.Errorf("the backlog had its peak at %d, and there were %d at the release, of 2000", peak, lag.Changes[0].BacklogRecords)
		}
		if early, fetching := event(r, "phase", "ended early"), event(r, "consumer", "fetching"); early == nil || early.AtNs != 1500e6 || fetching == nil || fetching.AtNs != 1500e6 {
			t.Errorf("the events of the end and of the release are %+v and %+v", early, fetching)
		}
	})
}

// The release of held consumers is a change like others.
func TestHeldForAWhile(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, smallScenario(t, "held", "consume.hold=1s", "phases.measure=2s", "consume.groups=2")))
		wantValid(t, r)
		wantBalance(t, r)
		wantCount(t, "rebalances", r.Run.Consumer.Rebalances, 0)
		wantCount(t, "unique", r.Run.Delivery.Unique, 4000)
		if len(r.Run.Lag.Changes) != 1 {
			t.Fatalf("run.json has %d changes, want 1", len(r.Run.Lag.Changes))
		}
		change := r.Run.Lag.Changes[0]
		if change.What != "fetching" || change.AtNs != 1e9 || change.BacklogRecords < 1498 || change.BacklogRecords > 1500 ||
			change.DrainTimeS == nil || *change.DrainTimeS > 0.01 {
			t.Errorf("the release is %+v; want a backlog of 1500 that is drained at once", change)
		}
		for _, iv := range r.Intervals {
			if iv.EndNs <= 1e9 && iv.Delivered > 0 {
				t.Errorf("%d records were delivered until %d ns, while the consumers were held", iv.Delivered, iv.EndNs)
			}
		}
	})
}

// Held consumers of an interrupted run are released, and acked records are delivered.
func TestInterruptWhileHeld(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{"drain", "50s"} {
		t.Run(hold, func(t *testing.T) {
			virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
				cfg := config(t, c, smallScenario(t, "held", "consume.hold="+hold, "phases.measure=1m"))
				r := run(t, interruptIn(cfg, "measure", 300500*time.Microsecond))
				wantInterrupted(t, r)
				wantWhole(t, r)
				wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, 300_500_000)
				wantCount(t, "unique", r.Run.Delivery.Unique, 301)
			})
		})
	}
}
