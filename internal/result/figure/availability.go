package figure

import (
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

func availability() []Figure {
	figures := []Figure{
		{
			Name: "ack_gap_max", Title: "longest time without an ack", Kind: Nanoseconds, Better: Lower,
			value: broke(func(a *result.Availability) *float64 { return pointTo(float64(a.AckGapMaxNs)) }),
		},
		{
			Name: "delivery_gap_max", Title: "longest time without a delivery", Kind: Nanoseconds, Better: Lower,
			value: broke(func(a *result.Availability) *float64 {
				if a.DeliveryGapMaxNs == nil {
					return nil
				}
				return pointTo(float64(*a.DeliveryGapMaxNs))
			}),
		},
		ofReplicas("under_replicated_time", "under-replicated",
			func(a *result.Availability) *float64 { return a.UnderReplicatedS }),
		ofReplicas("under_min_isr_time", "below min.insync.replicas",
			func(a *result.Availability) *float64 { return a.UnderMinISRS }),
		ofReplicas("leaderless_time", "without a leader",
			func(a *result.Availability) *float64 { return a.LeaderlessS }),
		{
			Name: "leader_changes", Title: "changes of leaders", Kind: Count,
			value: broke(func(a *result.Availability) *float64 {
				if a.LeaderChanges == nil {
					return nil
				}
				return pointTo(float64(*a.LeaderChanges))
			}),
		},
	}
	for _, s := range []struct {
		name string
		of   func(*result.Availability) *result.Stretch
	}{
		{"before", func(a *result.Availability) *result.Stretch { return a.Before }},
		{"during", func(a *result.Availability) *result.Stretch { return a.During }},
		{"after", func(a *result.Availability) *result.Stretch { return a.After }},
	} {
		for _, metric := range []string{"e2e_response_time", "send_response_time"} {
			figures = append(figures, ofStretch(metric, s.name, s.of))
		}
	}
	return figures
}

func broke(v func(*result.Availability) *float64) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		if r.Availability == nil {
			return 0, "no fault had a broker as its target"
		}
		if p := v(r.Availability); p != nil {
			return *p, ""
		}
		return 0, notMeasured
	}
}

// The figure's error is the interval between two readings.
func ofReplicas(name, title string, seconds func(*result.Availability) *float64) Figure {
	return Figure{
		Name: name, Title: title, Kind: Nanoseconds, Better: Lower,
		value: broke(func(a *result.Availability) *float64 {
			// 0 counts as unknown if a broker was missing at the end: the controller may not have
			// noticed yet that the broker is gone.
			if s := seconds(a); s != nil && (*s > 0 || !a.BrokenToEnd) {
				return pointTo(*s * 1e9)
			}
			return nil
		}),
		margin: func(r *result.Run, _ int) float64 {
			if r.Availability == nil {
				return 0
			}
			return float64(r.Availability.LookedEveryNs)
		},
	}
}

func ofStretch(metric, name string, of func(*result.Availability) *result.Stretch) Figure {
	return Figure{
		Name:  name + "_fault_" + metric + "_p99",
		Title: strings.ReplaceAll(metric, "_", " ") + " p99, " + name + " the faults", Kind: Nanoseconds, Better: Lower,
		fields: []string{"time." + metric},
		value: broke(func(a *result.Availability) *float64 {
			s := of(a)
			if s == nil || !Supported(99, s.Time[metric].Count) {
				return nil
			}
			return pointTo(float64(s.Time[metric].P99Ns))
		}),
	}
}

func pointTo(v float64) *float64 { return &v }
