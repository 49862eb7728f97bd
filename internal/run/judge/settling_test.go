package judge

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

type course func(at time.Duration) (perS float64, service time.Duration)

func looksOf(length time.Duration, c course) []Look {
	const lookEvery = 100 * time.Millisecond
	all := []Look{{}}
	delivered, serviceNs := 0.0, 0.0
	for at := lookEvery; at <= length; at += lookEvery {
		perS, service := c(at - lookEvery)
		delivered += perS * lookEvery.Seconds()
		serviceNs += perS * lookEvery.Seconds() * float64(service)
		all = append(all, Look{
			AtNs: int64(at), Delivered: int64(delivered), Timed: int64(delivered), ServiceNs: int64(serviceNs),
		})
	}
	return all
}

func TestSettlingTime(t *testing.T) {
	const target = 250 * time.Millisecond
	for _, c := range []struct {
		name   string
		length time.Duration
		target time.Duration
		course course
		want   float64 // seconds; -1: it does not settle
	}{
		{"at once", 10 * time.Second, target,
			func(time.Duration) (float64, time.Duration) { return 2400, target }, 0},
		{"a step after two seconds", 10 * time.Second, target, func(at time.Duration) (float64, time.Duration) {
			if at < 2*time.Second {
				return 600, target
			}
			return 2400, target
		}, 2},
		{"a time above the target for three seconds", 10 * time.Second, target, func(at time.Duration) (float64, time.Duration) {
			if at < 3*time.Second {
				return 600, time.Second
			}
			return 600, target
		}, 3},
		{"the same without a target", 10 * time.Second, 0, func(at time.Duration) (float64, time.Duration) {
			if at < 3*time.Second {
				return 600, time.Second
			}
			return 600, target
		}, 0},
		{"a relapse counts", 12 * time.Second, target, func(at time.Duration) (float64, time.Duration) {
			if at >= 5*time.Second && at < 6*time.Second {
				return 1200, target
			}
			return 2400, target
		}, 6},
		{"just within the bounds", 10 * time.Second, target, func(at time.Duration) (float64, time.Duration) {
			if at < 5*time.Second {
				return 2400 * 1.09, target * 119 / 100
			}
			return 2400, target
		}, 0},
		{"it swings to the end", 12 * time.Second, target, func(at time.Duration) (float64, time.Duration) {
			if at/(2*time.Second)%2 == 0 {
				return 0, target
			}
			return 2400, target
		}, -1},
		{"above the target to the end", 10 * time.Second, target,
			func(time.Duration) (float64, time.Duration) { return 2400, 2 * target }, -1},
		{"too short to tell", 1900 * time.Millisecond, target,
			func(time.Duration) (float64, time.Duration) { return 2400, target }, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes := []result.Change{{AtNs: 0}}
			settled(changes, looksOf(c.length, c.course), int64(c.length), c.target)
			got := -1.0
			if s := changes[0].SettlingS; s != nil {
				got = *s
			}
			if math.Abs(got-c.want) > 0.25 { // a tenth of a span may be off the level
				t.Errorf("settled after %v s, want %v", got, c.want)
			}
		})
	}
}

func TestEachChangeSettlesByItself(t *testing.T) {
	seen := looksOf(20*time.Second, func(at time.Duration) (float64, time.Duration) {
		switch {
		case at < 6*time.Second:
			return 600, 0
		case at < 10*time.Second:
			return 2400, 0
		case at < 11*time.Second:
			return 1200, 0
		default:
			return 600, 0
		}
	})
	changes := []result.Change{{AtNs: 5e9}, {AtNs: 10e9}, {AtNs: 21e9}}
	settled(changes, seen, 20e9, 0)
	for i, want := range []float64{1, 1} {
		if s := changes[i].SettlingS; s == nil || math.Abs(*s-want) > 0.2 {
			t.Errorf("change %d settled after %v, want %v s", i, s, want)
		}
	}
	if s := changes[2].SettlingS; s != nil {
		t.Errorf("a change after the window settled after %v s", *s)
	}
}
