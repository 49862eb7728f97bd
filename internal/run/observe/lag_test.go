package observe

import (
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

func TestGateReadingIsOfTheFurthestBehind(t *testing.T) {
	groups := []probe.Lag{
		{Records: 30, Committed: []int64{90, 80}, Ends: []int64{100, 100}},
		{Records: 25, Committed: []int64{75, 100}, Ends: []int64{100, 100}},
	}
	r := GateReading("t", groups, []int64{95, 99})
	want := []lagcontrol.Partition{
		{Topic: "t", ID: 0, Committed: 75, End: 100, Delivered: 95},
		{Topic: "t", ID: 1, Committed: 80, End: 100, Delivered: 99},
	}
	if r.Lag != 45 || r.Committed != 155 || !slices.Equal(r.Partitions, want) {
		t.Errorf("read %+v", r)
	}
}

func TestLagLiesBetweenTwoPeaks(t *testing.T) {
	axis := load.NewAxis(nil)
	axis.Set(0, time.Hour)
	for _, others := range []bool{false, true} {
		l := NewLag(LagConfig{Axis: axis, Others: others})
		for i, lags := range [][]probe.Lag{
			{{Records: 90, Partitions: []int64{90}, AtLeast: 40}, {Records: 80, Partitions: []int64{80}, AtLeast: 70}},
			{{Records: 50, Partitions: []int64{50}, AtLeast: 50}, {Records: 50, Partitions: []int64{50}}},
		} {
			l.keep(lagReading{Lag: lags[0], groups: lags, asked: int64(i), known: true})
		}
		seen := l.Seen(0, false)
		if got := seen.Peak; got == nil || *got != 90 || l.takeFresh()[0].Records != 90 || seen.Window.Records != 90 {
			t.Errorf("others %v: the peak is %v", others, got)
		}
		least, window := seen.PeakAtLeast, seen.Window.AtLeast
		if (least != nil) != others || (window != nil) != others || others && (*least != 70 || *window != judge.LagPeak{Records: 70}) {
			t.Errorf("others %v: at the least it was %v, in the window %+v", others, least, window)
		}
	}
}

func TestLagBeforeTheClockBegins(t *testing.T) {
	axis := load.NewAxis(nil)
	l := NewLag(LagConfig{Axis: axis})
	one := []probe.Lag{{Records: 1, Partitions: []int64{1}}}
	l.keep(lagReading{Lag: one[0], groups: one, asked: axis.Now(), known: true})
	axis.Set(time.Hour, time.Hour)
	two := []probe.Lag{{Records: 2, Partitions: []int64{2}}}
	l.keep(lagReading{Lag: two[0], groups: two, asked: axis.Now(), known: true})
	if fresh := l.takeFresh(); len(fresh) != 1 || fresh[0].Records != 2 {
		t.Errorf("the series has %+v, want the one sample after the clock began", fresh)
	}
}
