package guard_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/guard"
)

var three = []int32{1, 2, 3}

// Each case is looked at every second. It ends at its own second, and not before.
func TestReasonsToEnd(t *testing.T) {
	healthy := func(o guard.Observation) guard.Observation {
		o.Brokers, o.Answered = three, three
		return o
	}
	all := guard.Limits{
		Floors: map[int32]int64{1: 100}, Brokers: true, Health: true, Lag: map[string]int64{"billing": 1000},
	}
	tests := map[string]struct {
		limits guard.Limits
		seen   func(second int, o guard.Observation) guard.Observation
		endsAt int // 0: never
		reason string
	}{
		"healthy": {all, func(_ int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Unhealthy, o.Lag = []string{"old-0"}, map[string]int64{"billing": 1000, "other": 1e9}
			o.Disks = []guard.Disk{{Name: "the disk of broker 1", Brokers: three[:1], UsableBytes: 100}, {Brokers: three[1:2]}}
			o.Throttled = &guard.Throttled{Produce: guard.Held{Connections: 2}}
			return o
		}, 0, ""},
		"a disk fills": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Disks = []guard.Disk{{Name: "the disk of broker 1", Brokers: three[:1], UsableBytes: int64(110 - second)}}
			return o
		}, 11, "the disk of broker 1 has 99 B free, and 100 B must stay free (--min-free)"},
		"a disk fills while its other broker is silent": {
			guard.Limits{Floors: map[int32]int64{1: 100, 2: 100}}, func(second int, o guard.Observation) guard.Observation {
				disk := guard.Disk{Name: "the disk of brokers 1, 2", Brokers: three[:2], UsableBytes: int64(110 - second)}
				if second >= 5 {
					disk.Name, disk.Brokers = "the disk of broker 1", three[:1]
				}
				o.Disks = []guard.Disk{disk}
				return o
			}, 11, "the disk of broker 1 has 99 B free, and 100 B must stay free (--min-free)"},
		"disks seem to be one": {
			guard.Limits{Floors: map[int32]int64{1: 50, 2: 100}}, func(second int, o guard.Observation) guard.Observation {
				disk := guard.Disk{Name: "the disk of brokers 1, 2", Brokers: three[:2], UsableBytes: int64(110 - second)}
				o.Disks = []guard.Disk{disk}
				return o
			}, 11, "the disk of brokers 1, 2 has 99 B free, and 100 B must stay free (--min-free)"},
		"a broker leaves": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			if second >= 7 {
				o.Brokers = three[:2]
			}
			return o
		}, 7, "broker 3 has left the cluster"},
		"a broker refuses": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			if second == 3 || second >= 7 {
				o.Answered, o.Refused = three[1:], three[:1]
			}
			return o
		}, 8, "broker 1 accepts no connections"},
		"a broker is silent": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			if second > 5 {
				o.Answered = three[1:]
			}
			return o
		}, 15, "broker 1 has not answered for 10s"},
		"replicas lag": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			if second != 6 && second >= 3 {
				o.Unhealthy = []string{"orders-1"}
			}
			if second%2 == 0 {
				o.Brokers = nil // no metadata at this look
			}
			if second == 6 {
				o.Brokers = three
			}
			return o
		}, 13, "1 partition without all replicas for 5s: orders-1"},
		"a group lags": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Lag = map[string]int64{"billing": int64(second * 100)}
			return o
		}, 11, "group billing has a lag of 1,100 records, above its limit of 1,000 (--watch-group)"},
		"quotas throttle": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Throttled = &guard.Throttled{Produce: guard.Held{Connections: 2, Sum: time.Duration(max(0, second-9)) * 400 * time.Millisecond}}
			return o
		}, 12, "quotas of the cluster throttled the run for 12.00 % of the last 5s"},
		"quotas throttle few of many connections": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Throttled = &guard.Throttled{
				Produce: guard.Held{Connections: 2, Sum: time.Duration(max(0, second-9)) * 400 * time.Millisecond},
				Fetch:   guard.Held{Connections: 100},
			}
			return o
		}, 12, "quotas of the cluster throttled the run for 12.00 % of the last 5s"},
		"quotas throttle fetches": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Throttled = &guard.Throttled{
				Produce: guard.Held{Connections: 100},
				Fetch:   guard.Held{Connections: 2, Sum: time.Duration(max(0, second-9)) * 400 * time.Millisecond},
			}
			return o
		}, 12, "quotas of the cluster throttled the run for 12.00 % of the last 5s"},
		"quotas throttle little, seen every 10 s": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			if second%10 == 0 {
				o.Throttled = &guard.Throttled{Produce: guard.Held{Connections: 1, Sum: time.Duration(second) * 80 * time.Millisecond}}
			}
			return o
		}, 0, ""},
		"quotas throttle, seen every 10 s": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			if second%10 == 0 {
				o.Throttled = &guard.Throttled{Produce: guard.Held{Connections: 1, Sum: time.Duration(second) * 120 * time.Millisecond}}
			}
			return o
		}, 20, "quotas of the cluster throttled the run for 12.00 % of the last 10s"},
		"quotas throttle little": {all, func(second int, o guard.Observation) guard.Observation {
			o = healthy(o)
			o.Throttled = &guard.Throttled{Produce: guard.Held{Connections: 2, Sum: time.Duration(second) * 200 * time.Millisecond}}
			return o
		}, 0, ""},
		"nothing is limited": {guard.Limits{}, func(second int, o guard.Observation) guard.Observation {
			o.Brokers, o.Unhealthy, o.Refused = three[1:], []string{"orders-1"}, three[:1]
			o.Lag = map[string]int64{"billing": 1e9}
			o.Throttled = &guard.Throttled{Produce: guard.Held{Sum: time.Duration(second) * time.Second}}
			o.Disks = []guard.Disk{{Name: "the disk of broker 1", Brokers: three[:1]}}
			return o
		}, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := guard.New(guard.Observation{Brokers: three, Answered: three, Unhealthy: []string{"old-0"}}, test.limits)
			for second := 1; second <= 30; second++ {
				reason := w.Look(test.seen(second, guard.Observation{At: time.Duration(second) * time.Second}))
				if reason == "" && second != test.endsAt {
					continue
				}
				if second != test.endsAt || reason != test.reason {
					t.Fatalf("second %d: %q, want %q in second %d", second, reason, test.reason, test.endsAt)
				}
				return
			}
		})
	}
}

func TestDisks(t *testing.T) {
	const total = 1_000_000_000_000
	dir := func(broker int32, host string, usable int64) guard.Dir {
		return guard.Dir{Broker: broker, Host: host, TotalBytes: total, UsableBytes: usable}
	}
	tests := map[string]struct {
		dirs    []guard.Dir
		brokers int
		want    string
	}{
		"each its own":       {[]guard.Dir{dir(1, "a", 500), dir(2, "b", 500)}, 2, "the disk of broker 1 500; the disk of broker 2 500"},
		"one for two":        {[]guard.Dir{dir(2, "a", 500), dir(1, "a", 600), dir(3, "b", 1)}, 3, "the disk of brokers 1, 2 500; the disk of broker 3 1"},
		"two on a host":      {[]guard.Dir{dir(1, "a", total/2), dir(2, "a", total/4)}, 2, "the disk of broker 1 500000000000; the disk of broker 2 250000000000"},
		"the fullest counts": {[]guard.Dir{dir(1, "a", 700), dir(1, "a", 300)}, 1, "the disk of broker 1 300"},
		"one does not say":   {[]guard.Dir{dir(1, "a", 700)}, 2, "unknown"},
		"before Kafka 3.3":   {[]guard.Dir{{Broker: 1, TotalBytes: -1, UsableBytes: -1}}, 1, "unknown"},
		"nobody says":        {nil, 0, "unknown"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			disks, known := guard.Disks(test.dirs, test.brokers)
			var texts []string
			for _, d := range disks {
				texts = append(texts, d.Name+" "+strconv.FormatInt(d.UsableBytes, 10))
			}
			got := strings.Join(texts, "; ")
			if !known {
				got = "unknown"
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestFloors(t *testing.T) {
	for total, want := range map[int64]int64{150_000_000: 5_000_000_000, 100_000_000_000: 5_000_000_000, 1_000_000_000_000: 50_000_000_000} {
		if got := guard.Floor(guard.Disk{TotalBytes: total}); got != want {
			t.Errorf("a disk of %d: %d, want %d", total, got, want)
		}
	}
	for usable, want := range map[int64]int64{150_000_000: 75_000_000, 1_000_000_000_000: 5_000_000_000} {
		if got := guard.FloorHere(usable); got != want {
			t.Errorf("%d free here: %d, want %d", usable, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		onDisk, brokers, partitions, replication int
		want                                     float64
	}{
		{1, 1, 8, 1, 1},
		{1, 3, 1, 1, 1},         // its only partition may be on that broker
		{1, 3, 6, 1, 1. / 3},    //
		{1, 3, 4, 1, 1. / 2},    // two of four partitions
		{1, 3, 1, 3, 1. / 3},    // a replica on each
		{3, 3, 6, 3, 1},         // all brokers on one disk
		{2, 3, 6, 3, 2. / 3},    //
		{1, 100, 6, 3, 1. / 18}, //
	} {
		if got := guard.Share(test.onDisk, test.brokers, test.partitions, test.replication); got != test.want {
			t.Errorf("%+v: %g", test, got)
		}
	}
}

func TestShareOf(t *testing.T) {
	onOne, uneven := map[int32]int{2: 6}, map[int32]int{1: 4, 2: 1, 3: 1}
	for _, test := range []struct {
		onDisk   []int32
		replicas map[int32]int
		want     float64
	}{
		{three[1:2], onOne, 1}, {three[:1], onOne, 0}, {three[:1], uneven, 4. / 6}, {three[1:], uneven, 2. / 6}, {three, nil, 1},
	} {
		if got := guard.ShareOf(test.onDisk, test.replicas); got != test.want {
			t.Errorf("%+v: %g", test, got)
		}
	}
}
