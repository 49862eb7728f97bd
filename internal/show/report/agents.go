package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

const (
	// A text lists all of up to mostAgents agents, or else only the worstAgents worst ones.
	mostAgents  = 12
	worstAgents = 5
)

func printAgents(p *layout.Page, r *result.Run) {
	if len(r.Agents) == 0 {
		return
	}
	p.Heading("Agents", " in the measured window")
	for _, fact := range agentFacts(r) {
		p.Labelled(fact[0], fact[1])
	}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: agentTable(r.Agents), Heads: 2})
	shown, rest := worstOf(r.Agents)
	p.Line()
	p.Columns(workTable(shown), 2)
	if rest != "" {
		p.Line("  ", rest)
	}
}

func markdownAgents(m *layout.Markdown, r *result.Run) {
	if len(r.Agents) == 0 {
		return
	}
	var items []string
	for _, fact := range agentFacts(r) {
		items = append(items, layout.Prose(fact[0]+": "+fact[1]))
	}
	m.List(items)
	shown, rest := worstOf(r.Agents)
	t := workTable(shown)
	for column, above := range t.Rows[0] { // Markdown has one row of heads
		t.Rows[1][column] = strings.TrimSpace(above + " " + strings.TrimSpace(t.Rows[1][column]))
	}
	t.Rows = t.Rows[1:]
	for _, row := range t.Rows[1:] {
		row[0] = layout.Prose(strings.TrimSpace(row[0]))
	}
	m.Table(t)
	if rest != "" {
		m.Paragraph(rest)
	}
}

func agentFacts(r *result.Run) (facts [][2]string) {
	var without, crossed string
	var missing []string
	var records int64
	for _, a := range r.Agents {
		if !a.HandedIn {
			missing = append(missing, a.String())
		}
		if a.Counts != nil {
			records += a.Counts.Crossed
			crossed = "crossed " + unit.Count(records)
		}
	}
	if len(missing) > 0 {
		without = "without " + layout.Enumerate(missing)
	}
	placement := ""
	if r.Run.Placement != "" {
		placement = "placement " + r.Run.Placement
	}
	all := int64(len(r.Agents))
	in := unit.Count(all-int64(len(missing))) + " of " + unit.Count(all)
	facts = append(facts, [2]string{"agents", layout.List(in, placement, crossed, without)})
	if spread := startSpread(r.Agents); spread != "" {
		facts = append(facts, [2]string{"start, spread", spread})
	}
	worst := slices.MaxFunc(r.Agents, func(a, b result.Agent) int { return cmp.Compare(pacerP99(a), pacerP99(b)) })
	if worst.PacerLatenessP99Ns != nil {
		facts = append(facts, [2]string{"worst pacer", "p99 " + unit.Nanos(pacerP99(worst)) + ", " + worst.String()})
	}
	return facts
}

// startSpread is how long after the first agent the last one began to send or fetch, with the clock
// errors of both; "" if fewer than two starts are known.
func startSpread(all []result.Agent) string {
	started := slices.DeleteFunc(slices.Clone(all), func(a result.Agent) bool { return a.StartedNs == nil })
	if len(started) < 2 {
		return ""
	}
	byStart := func(a, b result.Agent) int { return cmp.Compare(*a.StartedNs, *b.StartedNs) }
	first, last := slices.MinFunc(started, byStart), slices.MaxFunc(started, byStart)
	if first.ClockErrorNs == nil || last.ClockErrorNs == nil {
		return unit.Absent
	}
	return unit.NanosWithin(*last.StartedNs-*first.StartedNs, *first.ClockErrorNs+*last.ClockErrorNs)
}

// pacerP99 is -1 if the agent has none.
func pacerP99(a result.Agent) int64 {
	if a.PacerLatenessP99Ns == nil {
		return -1
	}
	return *a.PacerLatenessP99Ns
}

func worstOf(all []result.Agent) (shown []result.Agent, rest string) {
	if len(all) <= mostAgents {
		return all, ""
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b result.Agent) int {
		return cmp.Or(cmp.Compare(badness(b), badness(a)), cmp.Compare(pacerP99(b), pacerP99(a)))
	})
	return sorted[:worstAgents], fmt.Sprintf("the worst %d of %d agents; %d more are in %s", worstAgents, len(all),
		len(all)-worstAgents, result.SummaryFile)
}

var standings = []string{"valid", "warning", "invalid", "missing"}

func badness(a result.Agent) int {
	switch {
	case !a.HandedIn:
		return 3
	case len(a.Reasons) > 0:
		return 2
	case len(a.Warnings) > 0:
		return 1
	}
	return 0
}

// workTable fits a terminal: it lacks the last three columns of agentTable.
func workTable(all []result.Agent) layout.Table {
	t := agentTable(all)
	for i, row := range t.Rows {
		t.Rows[i] = row[:len(row)-3]
	}
	return t
}

func agentTable(all []result.Agent) layout.Table {
	t := layout.Table{Gap: 2, Left: map[int]bool{1: true}, Rows: [][]string{
		{"", "", "clock", "pacer", "", "", "", "", "CPU", "host", "", "", ""},
		{"  agent", "standing", "error", "p99", "scheduled", "acked", "delivered", "crossed", "cores", "busy",
			"producers", "consumers", "partitions"},
	}}
	for _, a := range all {
		row := []string{"  " + a.String(), standings[badness(a)], nanosOr(a.ClockErrorNs), nanosOr(a.PacerLatenessP99Ns)}
		if c := a.Counts; c != nil {
			row = append(row, unit.Count(c.Scheduled), unit.Count(c.Acked), unit.Count(c.Delivered), unit.Count(c.Crossed))
		} else {
			row = append(row, unit.Absent, unit.Absent, unit.Absent, unit.Absent)
		}
		cores, busy := unit.Absent, unit.Absent
		if p := a.Process; p != nil && p.CPUCores != nil {
			cores = unit.Decimals(*p.CPUCores, 2)
		}
		if p := a.Process; p != nil && p.HostCPUBusy != nil {
			busy = unit.WholePercent(*p.HostCPUBusy)
		}
		t.Add(append(row, cores, busy, unit.Count(int64(a.Producers)), unit.Count(int64(a.Consumers)),
			unit.Count(int64(a.Partitions)))...)
	}
	return t
}

func nanosOr(ns *int64) string {
	if ns == nil {
		return unit.Absent
	}
	return unit.Nanos(*ns)
}

func agentSheet(runs []*result.Recorded) layout.Table {
	s := layout.Table{Rows: [][]string{append(slices.Clone(ofRun),
		"agent", "host_name", "handed_in", "producers", "consumers", "partitions", "started_ns", "clock_error_ns",
		"scheduled_records", "admitted_records", "acked_records", "delivered_records", "unique_records", "crossed_records",
		"pacer_lateness_p99_ns", "process_cpu_cores", "host_cpu_busy_ratio", "process_rss_peak_bytes")}}
	for _, r := range runs {
		for _, a := range r.Run.Agents {
			row := append(ofRunCells(r), strconv.Itoa(a.Index), a.HostName, strconv.FormatBool(a.HandedIn),
				strconv.Itoa(a.Producers), strconv.Itoa(a.Consumers), strconv.Itoa(a.Partitions),
				layout.Optional(a.StartedNs), layout.Optional(a.ClockErrorNs))
			if c := a.Counts; c != nil {
				row = append(row, integer(c.Scheduled), integer(c.Admitted), integer(c.Acked), integer(c.Delivered),
					integer(c.Unique), integer(c.Crossed))
			} else {
				row = append(row, "", "", "", "", "", "")
			}
			row = append(row, layout.Optional(a.PacerLatenessP99Ns))
			if p := a.Process; p != nil {
				row = append(row, layout.Optional(p.CPUCores), layout.Optional(p.HostCPUBusy), layout.Optional(p.RSSPeakBytes))
			} else {
				row = append(row, "", "", "")
			}
			s.Add(row...)
		}
	}
	return s
}
