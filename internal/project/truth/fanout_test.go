package truth

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
)

// oneGroup is a driver that is tapped for the consumers of one group, and plain
// for the others'.
type oneGroup struct {
	*tapped
	suffix string // of the group's name
}

func (d oneGroup) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	if strings.HasSuffix(cfg.Group, d.suffix) {
		return d.tapped.NewConsumer(cfg)
	}
	return d.Driver.NewConsumer(cfg)
}

// TestFanOut: each of three groups reads everything, the books balance for each
// and for all, and what one of them does not get is lost there and nowhere else.
func TestFanOut(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	v := newVandal()
	tap := &tapped{Driver: franz.New(), poll: v.each(drop)}
	r := run(t, withDriver(config(t, c, smallScenario(t, "fan", "consume.groups=3", "consume.consumers=2")), oneGroup{tap, "-2"}))
	wantValid(t, r)
	wantBalance(t, r)
	wantSeries(t, r)
	wantNoTopics(t, c)
	dropped := int64(len(v.touched))
	if dropped < 20 {
		t.Fatalf("%d records were dropped: the test proves nothing", dropped)
	}
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
}

// wantGroups fails the test unless there are these groups, each with so many of the
// thousand records lost, and the rest delivered once.
func wantGroups(t *testing.T, r *result.Recorded, lost []int64) {
	t.Helper()
	if len(r.Run.Groups) != len(lost) {
		t.Fatalf("there are %d groups, want %d", len(r.Run.Groups), len(lost))
	}
	commits := int64(0)
	for i, g := range r.Run.Groups {
		if want := "-" + string(rune('1'+i)); !strings.HasSuffix(g.Name, want) || !strings.HasPrefix(g.Name, r.Run.Run.Topic) {
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

// TestSlowestGroupLeads: where one group has work to do for which the others have
// too many consumers, the run is as far behind as that group, and drains with it.
func TestSlowestGroupLeads(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	slow := &stalled{group: "-2"}
	r := run(t, withDriver(config(t, c, smallScenario(t, "slowest", "consume.groups=3", "phases.measure=2s")), slow))
	wantValid(t, r)
	wantBalance(t, r)
	wantCount(t, "unique", r.Run.Delivery.Unique, 6000)
	peak := r.Run.Lag.BacklogPeakRecords
	wantCount(t, "the slowest group's peak", r.Run.Groups[1].Lag.BacklogPeakRecords, peak)
	if peak < 1000 {
		t.Errorf("the backlog had its peak at %d; a group stood still for two seconds of 1000/s", peak)
	}
	for _, i := range []int{0, 2} {
		if other := r.Run.Groups[i].Lag.BacklogPeakRecords; other > peak/2 {
			t.Errorf("the backlog of group %d had its peak at %d, that of the slowest at %d", i+1, other, peak)
		}
	}
	if lag := r.Run.Lag.TimeLagPeakNs; lag < 1e9 {
		t.Errorf("the time lag had its peak at %d ns; a group stood still for two seconds", lag)
	}
	if r.Run.Lag.PeakRecords == nil || *r.Run.Lag.PeakRecords != *r.Run.Groups[1].Lag.PeakRecords {
		t.Errorf("the lag had its peak at %v, that of the slowest group at %v", r.Run.Lag.PeakRecords, r.Run.Groups[1].Lag.PeakRecords)
	}
}
