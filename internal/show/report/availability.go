package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printAvailability(p *layout.Page, r *result.Run) {
	a := r.Availability
	if a == nil {
		return
	}
	p.Heading("Availability", ", where brokers were broken")
	printRemarks(p, available(r))
	t := stretches(r)
	if len(t.Rows) == 1 {
		return
	}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: t, Heads: 1})
	t.Squeeze(p.Width - 2)
	p.Line()
	for _, line := range t.Text() {
		p.Line("  ", line)
	}
}

func markdownAvailability(m *layout.Markdown, r *result.Run) {
	a := r.Availability
	if a == nil {
		return
	}
	markdownRemarks(m, "Availability, where brokers were broken", available(r))
	if t := stretches(r); len(t.Rows) > 1 {
		m.Table(t)
	}
}

const gapsShown = 3

func available(r *result.Run) []remark {
	a := r.Availability
	all := []remark{{layout.Plain, "no ack for", longestGaps(a.AckGaps)}}
	if g := a.AckGapElsewhere; g != nil {
		all = append(all, remark{layout.Plain, "", "apart from the faults at most " + gapOf(*g)})
	}
	if text := undelivered(r); text != "" {
		all = append(all, remark{layout.Plain, "no delivery", "for " + text})
	}
	if a.UnderReplicatedS != nil {
		all = append(all, remark{layout.Plain, "replicas", replicasOf(r)})
	}
	style, lost := layout.Plain, records(float64(r.Delivery.Lost))+" lost"
	if r.Delivery.Lost > 0 {
		style, lost = layout.Yellow, records(float64(r.Delivery.Lost))+" LOST"
	}
	if !r.Delivery.Checked {
		lost = ""
	}
	duplicates := ""
	if r.Delivery.Checked {
		duplicates = unit.Things(r.Delivery.Duplicates, "duplicate")
	}
	all = append(all, remark{style, "records", layout.List(lost, duplicates,
		unit.Count(r.Load.Failed)+" failed", unit.Count(r.Load.Unknown)+" unknown")})
	if n := untimed(r); n > 0 {
		all = append(all, remark{layout.Yellow, "in no time",
			fmt.Sprintf("%s of %s records that were due have no %s: the times below are without them",
				unit.Count(n), unit.Count(r.Load.Scheduled), layout.Words(stretchMetric(a)))})
	}
	return all
}

// untimed is the number of scheduled records without a time in any of the three periods.
func untimed(r *result.Run) int64 {
	a, metric := r.Availability, stretchMetric(r.Availability)
	if r.Delivery.Copies > 1 { // each group has its own times
		return 0
	}
	missing := r.Load.Scheduled
	for _, s := range []*result.Stretch{a.Before, a.During, a.After} {
		if s != nil {
			missing -= s.Time[metric].Count
		}
	}
	return missing
}

// undelivered is "" without consumers.
func undelivered(r *result.Run) string {
	switch a := r.Availability; {
	case a.DeliveryGapMaxNs != nil:
		return longestGaps(a.DeliveryGaps)
	case r.Consumer.Members > 0:
		return "a time that is not known"
	}
	return ""
}

func longestGaps(all []result.AckGap) string {
	gaps := slices.Clone(all)
	if len(gaps) == 0 {
		return "no measurable time, while brokers were broken"
	}
	slices.SortStableFunc(gaps, func(a, b result.AckGap) int { return cmp.Compare(b.ToNs-b.FromNs, a.ToNs-a.FromNs) })
	var each []string
	for _, g := range gaps[:min(len(gaps), gapsShown)] {
		each = append(each, gapOf(g))
	}
	if more := len(gaps) - gapsShown; more > 0 {
		each = append(each, fmt.Sprintf("at most %s in %s more",
			unit.Nanos(gaps[gapsShown].ToNs-gaps[gapsShown].FromNs), unit.Things(int64(more), "partition")))
	}
	return layout.List(each...)
}

func gapOf(g result.AckGap) string {
	if g.Open {
		return fmt.Sprintf("at least %s in partition %d (from %s on, to the end)", unit.Nanos(g.ToNs-g.FromNs),
			g.Partition, seconds(g.FromNs))
	}
	return fmt.Sprintf("%s in partition %d (from %s to %s)", unit.Nanos(g.ToNs-g.FromNs), g.Partition,
		seconds(g.FromNs), seconds(g.ToNs))
}

func replicasOf(r *result.Run) string {
	a, changes := r.Availability, ""
	if a.LeaderChanges != nil {
		changes = unit.Things(*a.LeaderChanges, "change") + " of leaders"
	}
	open := a.BrokenToEnd
	late := "as the controller saw it, looked at every " + unit.Nanos(a.LookedEveryNs) +
		": of a killed broker it learns when its session expires"
	return layout.List("in the measured window "+forSoLong("under-replicated", a.UnderReplicatedS, open),
		forSoLong("below min.insync.replicas", a.UnderMinISRS, open),
		forSoLong("without a leader", a.LeaderlessS, open), changes, late, brokersGone(r))
}

// brokersGone uses the run's own faults: a broker is gone for longer than the controller reports.
func brokersGone(r *result.Run) string {
	var each []string
	for _, f := range r.Faults {
		who := cmp.Or(f.Hit, f.Target)
		how, missing := map[string]string{"kill": "gone", "stop": "gone", "restart": "gone", "pause": "paused"}[f.Name]
		switch {
		case !missing || !strings.HasPrefix(who, "broker"): // a fault that hits every broker in turn
		case f.EndNs == nil:
			each = append(each, fmt.Sprintf("%s was %s from %s to the end", who, how, seconds(f.StartNs)))
		default:
			each = append(each, fmt.Sprintf("%s was %s for %s", who, how, unit.Nanos(*f.EndNs-f.StartNs)))
		}
	}
	return layout.List(each...)
}

// forSoLong is "" if the duration is unknown. If the window ended while a broker was down, it never
// prints "never".
func forSoLong(what string, s *float64, open bool) string {
	switch {
	case s == nil:
		return ""
	case *s == 0 && open:
		return "not seen " + what + " before the window ended"
	case *s == 0:
		return "never " + what
	}
	return what + " for " + unit.Seconds(*s)
}

func stretches(r *result.Run) layout.Table {
	a := r.Availability
	metric := stretchMetric(a)
	t := layout.Table{Gap: 3,
		Rows: [][]string{{"", "from", "to", "due", "acked", "delivered", layout.Words(metric) + " p50", "p99", "max"}}}
	for _, part := range []struct {
		name string
		of   *result.Stretch
	}{{"before", a.Before}, {"during", a.During}, {"after", a.After}} {
		if part.of == nil {
			continue
		}
		s := part.of
		row := []string{part.name, seconds(s.StartNs), seconds(s.EndNs), unit.Count(s.Scheduled),
			unit.PerSecond(s.AckedPerS), unit.PerSecond(s.DeliveredPerS)}
		var times result.IntervalTime
		if r.Says("time." + metric) {
			times = s.Time[metric]
		}
		t.Add(append(row, timesOfStretch(times)...)...)
	}
	return t
}

func timesOfStretch(t result.IntervalTime) []string {
	cell := func(known bool, ns int64) string {
		if !known {
			return unit.Absent
		}
		return unit.Nanos(ns)
	}
	return []string{
		cell(figure.Supported(50, t.Count), t.P50Ns), cell(figure.Supported(99, t.Count), t.P99Ns),
		cell(t.Count > 0, t.MaxNs),
	}
}

// stretchMetric is the metric nearest to a user's experience that has values.
func stretchMetric(a *result.Availability) string {
	for _, metric := range []string{"e2e_response_time", "e2e_service_time", "send_response_time"} {
		for _, s := range []*result.Stretch{a.Before, a.During, a.After} {
			if s != nil && s.Time[metric].Count > 0 {
				return metric
			}
		}
	}
	return "send_service_time"
}
