package observe

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// At each reading, one more record is acknowledged and delivered.
type readings struct {
	takes time.Duration
	of    []string
}

type offering struct {
	remote.Part
	readings *readings
	acked    int64
}

func (r *readings) next(of string) int64 {
	time.Sleep(r.takes)
	r.of = append(r.of, of)
	return int64(len(r.of))
}

type receiving struct {
	remote.Part
	readings *readings
}

func (r receiving) Snapshot(remote.Want) (snapshot.Snapshot, error) {
	return snapshot.Snapshot{Groups: []snapshot.Group{{
		Reached: []snapshot.Reached{
			{Position: 1, Arrived: r.readings.next("arrived"), Awaited: []ledger.Awaited{{Next: 1}}},
		},
		Received: snapshot.Received{Unique: r.readings.next("received")},
	}}}, nil
}

func (s offering) Snapshot(remote.Want) (snapshot.Snapshot, error) {
	return snapshot.Snapshot{
		Sent:   [2]snapshot.Sent{{}, {Acked: s.acked}},
		Behind: snapshot.Behind{AckedIn: []int64{s.readings.next("sent")}, OldestDueNs: []int64{0}, OpenRecords: []int64{1}},
	}, nil
}

func (r *readings) intervals(axis *load.Axis) *Intervals {
	group := remote.ConsumersOf(receiving{readings: r}, receive.Config{}, remote.Opened{})
	return &Intervals{
		Axis: axis, Groups: remote.Groups{group}, Due: true, Producers: remote.ProducersOf(nil, offering{readings: r}),
		Lag: NewLag(LagConfig{}), Collector: &latency.Collector{}, Machine: &Machine{}, Backlogs: snapshot.Backlogs,
	}
}

// Deliveries are read before acks, and nothing slow is read between them.
func TestBacklogIsNeverUnderstated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		through := &readings{takes: 250 * time.Millisecond}
		axis := load.NewAxis(nil)
		axis.Set(0, time.Minute)
		r := through.intervals(axis)
		time.Sleep(time.Second)
		c := r.count(int64(time.Second))
		if got, want := strings.Join(through.of, " "), "arrived received sent"; got != want {
			t.Errorf("it reads %s, want %s", got, want)
		}
		if c.began != 1e9 || c.span != 0.75e9 || c.usedAt != 1.75e9 {
			t.Errorf("a reading from %d takes %d, and then what is used at %d; want 1e9, 0.75e9, 1.75e9", c.began, c.span, c.usedAt)
		}
		var iv result.Interval
		if r.addBehind(&iv, c); iv.BacklogRecords != 2 || iv.TimeLagNs != 1.75e9 {
			t.Errorf("the backlog is %d, the time lag %d; want 2 that went through while it was read, and 1.75e9", iv.BacklogRecords, iv.TimeLagNs)
		}
	})
}

func TestRatesAreOverTheTimeBetweenReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		axis := load.NewAxis(nil)
		axis.Set(0, time.Minute)
		r := new(readings).intervals(axis)
		time.Sleep(time.Second)
		before := r.count(int64(time.Second))
		time.Sleep(1250 * time.Millisecond)
		r.Producers = remote.ProducersOf(nil, offering{readings: new(readings), acked: 1250})
		iv := differences(before, r.count(int64(2*time.Second)))
		if iv.StartNs != 1e9 || iv.EndNs != 2e9 || iv.ReadFromNs != 1e9 || iv.ReadToNs != 2.25e9 || iv.ReadSpanNs != 0 {
			t.Errorf("from %d to %d, read from %d to %d in %d", iv.StartNs, iv.EndNs, iv.ReadFromNs, iv.ReadToNs, iv.ReadSpanNs)
		}
		if rate := float64(iv.Acked) / iv.Seconds(); rate != 1000 {
			t.Errorf("%v/s were acknowledged, want 1000/s", rate)
		}
	})
}

func TestIntervalsEndAtMultiplesOfThePeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, 5_000_000_000).Draw(t, "period")
		at := rapid.Int64Range(-100_000_000_000, 100_000_000_000).Draw(t, "at")
		next := multipleAfter(at, period)
		if next <= at || next > at+period || next%period != 0 {
			t.Fatalf("after %d comes %d with period %d", at, next, period)
		}
	})
}
