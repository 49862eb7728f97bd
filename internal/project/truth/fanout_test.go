package truth

import (
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

type oneGroup struct {
	*tapped
	suffix string
}

func (d oneGroup) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	if strings.HasSuffix(cfg.Group, d.suffix) {
		return d.tapped.NewConsumer(cfg)
	}
	return d.Driver.NewConsumer(cfg)
}

// A record that one group does not get is lost only there.
func TestFanOut(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		v := newVandal()
		tap := &tapped{Driver: franz.New(), poll: v.each(drop)}
		s := smallScenario(t, "fan", "consume.groups=3", "consume.consumers=2")
		r := run(t, withDriver(config(t, c, s), oneGroup{tap, "-2"}))
		wantValid(t, r)
		wantBalance(t, r)
		wantSeries(t, r)
		wantNoTopics(t, c)
		dropped := int64(len(v.touched))
		wantCount(t, "dropped", dropped, touchable)
		d := r.Run.Delivery
		wantCount(t, "copies", int64(d.Copies), 3)
		wantCount(t, "unique", d.Unique, 3000-dropped)
		wantCount(t, "lost", d.Lost, dropped)
		wantCount(t, "e2e response times", r.Run.Time["e2e_response_time"].Count, 3000-dropped)
		wantCount(t, "members", int64(r.Run.Consumer.Members), 6)
		if want := float64(3000-dropped) / 3000; d.Ratio != want {
			t.Errorf("the ratio is %v, want %v", d.Ratio, want)
		}
		wantGroups(t, r, []int64{0, dropped, 0})
	})
}

func wantGroups(t *testing.T, r *result.Recorded, lost []int64) {
	t.Helper()
	if len(r.Run.Groups) != len(lost) {
		t.Fatalf("there are %d groups, want %d", len(r.Run.Groups), len(lost))
	}
	commits := int64(0)
	for i, g := range r.Run.Groups {
		suffix := "-" + string(rune('1'+i))
		if !strings.HasSuffix(g.Name, suffix) || !strings.HasPrefix(g.Name, r.Run.Run.Topic) {
			t.Errorf("group %d is called %s", i, g.Name)
		}
		wantCount(t, g.Name+": unique", g.Delivery.Unique, 1000-lost[i])
		wantCount(t, g.Name+": lost", g.Delivery.Lost, lost[i])
		wantCount(t, g.Name+": duplicates", g.Delivery.Duplicates, 0)
		wantCount(t, g.Name+": members", int64(g.Consumer.Members), 2)
		if g.Lag.PeakRecords == nil || g.Lag.FinalRecords == nil || !g.Lag.Drained {
			t.Errorf("%s: its lag is %+v", g.Name, g.Lag)
		} else {
			wantCount(t, g.Name+": lag in the end", *g.Lag.FinalRecords, 0)
		}
		commits += g.Consumer.Commits
	}
	wantCount(t, "commits of all groups", r.Run.Consumer.Commits, commits)
}

// The run's figures are the sum over the groups, or those of the slowest, second group.
func wantGroupsOf(t *testing.T, iv result.Interval, groups []result.Group) {
	t.Helper()
	var delivered int64
	for i, g := range iv.Groups {
		delivered += g.Delivered
		if g.Name != groups[i].Name || g.BacklogRecords == nil || *g.BacklogRecords > iv.BacklogRecords {
			t.Errorf("until %d: group %d is %+v, of a backlog of %d", iv.EndNs, i, g, iv.BacklogRecords)
		}
		if g.LagRecords == nil != (iv.LagRecords == nil) || g.LagRecords != nil && *g.LagRecords > *iv.LagRecords {
			t.Errorf("until %d: group %d has another lag than the run", iv.EndNs, i)
		}
	}
	if len(iv.Groups) != len(groups) || *iv.Groups[1].BacklogRecords != iv.BacklogRecords {
		t.Errorf("until %d: there are %d groups; a backlog of %d leads", iv.EndNs, len(iv.Groups), iv.BacklogRecords)
	}
	wantCount(t, "delivered to all groups", delivered, iv.Delivered)
}

func TestSlowestGroupLeads(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		slow := &stalled{group: "-2"}
		r := run(t, withDriver(config(t, c, smallScenario(t, "slowest", "consume.groups=3", "phases.measure=2s")), slow))
		wantValid(t, r)
		wantBalance(t, r)
		wantCount(t, "unique", r.Run.Delivery.Unique, 6000)
		peak := r.Run.Lag.BacklogPeakRecords
		wantCount(t, "the slowest group's peak", r.Run.Groups[1].Lag.BacklogPeakRecords, peak)
		const stood, rate = 2 * time.Second, 1000
		if want := int64(stood.Seconds() * rate); peak < want-2 || peak > want+2 {
			t.Errorf("the backlog had its peak at %d; a group stood still for %v of %d/s", peak, stood, rate)
		}
		for _, i := range []int{0, 2} {
			if other := r.Run.Groups[i].Lag.BacklogPeakRecords; other > 2 {
				t.Errorf("the backlog of group %d had its peak at %d", i+1, other)
			}
		}
		wantBetween(t, "the time lag's peak", r.Run.Lag.TimeLagPeakNs, stood, stood+2*time.Second/rate)
		for _, iv := range r.Intervals {
			wantGroupsOf(t, iv, r.Run.Groups)
		}
		all, slowest := r.Run.Lag.PeakRecords, r.Run.Groups[1].Lag.PeakRecords
		if all == nil || slowest == nil || *all != *slowest {
			t.Errorf("the lag had its peak at %v, that of the slowest group at %v", all, slowest)
		}
	})
}
