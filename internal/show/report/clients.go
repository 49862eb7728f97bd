package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// The text reports only the least and the most. The tables have a row for each client, member or
// partition.

const rowsShown = 100

// even is the smallest ratio of least to most that counts as an even division.
const even = 0.9

// unevenly is "" if the clients had about the same number of records.
func unevenly(shares []result.Share) string {
	if len(shares) < 2 {
		return ""
	}
	records := func(a, b result.Share) int { return cmp.Compare(a.Records, b.Records) }
	least, most := slices.MinFunc(shares, records), slices.MaxFunc(shares, records)
	if float64(least.Records) >= even*float64(most.Records) {
		return ""
	}
	return fmt.Sprintf("unevenly shared: number %d had %s, number %d %s", least.Number,
		unit.Things(least.Records, "record"), most.Number, unit.Count(most.Records))
}

func printGroupAtEnd(p *layout.Page, r *result.Run) {
	w := r.WindowEnd
	if w == nil {
		return
	}
	switch {
	case r.Run.Group == "" && len(r.Groups) == 0: // the tool assigned the partitions
	case w.Groups == nil:
		p.Labelled("members", "not known: the brokers did not report them at the window's end")
	default:
		for _, g := range w.Groups {
			text := membersAtEnd(g)
			if len(w.Groups) > 1 {
				text = g.Name + ": " + text
			}
			p.Labelled("members", text)
		}
	}
	if text, lacking := topicAtEnd(w.Partitions); lacking {
		p.Styled(layout.Yellow, "topic", text)
	} else if text != "" {
		p.Labelled("topic", text)
	}
}

func membersAtEnd(g result.GroupAtEnd) string {
	text := unit.Things(int64(len(g.Members)), "member") + " at the window's end (" + g.State + ")"
	if len(g.Members) == 0 {
		return text
	}
	untold := func(m result.Member) bool { return m.Partitions == nil }
	if slices.ContainsFunc(g.Members, untold) {
		return text + "; the brokers did not report which partitions each had"
	}
	least, most, lag, offsets := len(g.Members[0].Partitions), 0, int64(0), false
	var behind result.MemberPartition
	var who string
	for _, m := range g.Members {
		least, most = min(least, len(m.Partitions)), max(most, len(m.Partitions))
		for _, at := range m.Partitions {
			if at.Lag == nil {
				continue
			}
			offsets = true
			lag += *at.Lag
			if *at.Lag > 0 && (behind.Lag == nil || *at.Lag > *behind.Lag) {
				behind, who = at, m.ClientID
			}
		}
	}
	has := unit.Things(int64(most), "partition")
	if least != most {
		has = fmt.Sprintf("%d to %s", least, has)
	}
	text += ", of " + has + " each"
	switch {
	case !offsets:
		return text + ", offsets not known"
	case behind.Lag == nil:
		return text + ", no lag"
	}
	return text + fmt.Sprintf(", lag %s; furthest behind: partition %d, %s, of %s", unit.Count(lag), behind.Partition,
		unit.Count(*behind.Lag), who)
}

// topicAtEnd is "" for a topic on one broker if nothing is lacking. lacking reports whether a
// partition lacks its leader or a replica.
func topicAtEnd(partitions []result.TopicPartition) (text string, lacking bool) {
	leads, brokers := map[int32]int64{}, map[int32]bool{}
	var leaderless, under int64
	for _, p := range partitions {
		if p.Leader == nil {
			leaderless++
		} else {
			leads[*p.Leader]++
		}
		if len(p.InSync) < len(p.Replicas) {
			under++
		}
		for _, id := range p.Replicas {
			brokers[id] = true
		}
	}
	if len(brokers) < 2 && leaderless+under == 0 {
		return "", false
	}
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(brokers)) {
		parts = append(parts, fmt.Sprintf("broker %d leads %s", id, unit.Count(leads[id])))
	}
	text = "at the window's end " + strings.Join(parts, ", ") + " of " + unit.Things(int64(len(partitions)), "partition")
	if leaderless+under == 0 {
		return text + ", all in sync", false
	}
	return text + fmt.Sprintf("; %d without a leader, %d under-replicated", leaderless, under), true
}

// worstPartitions leaves out the warm-up; "" without a lag by partition.
func worstPartitions(intervals []result.Interval) string {
	var peaks []int64
	for _, i := range intervals {
		if i.Phase == "warm-up" {
			continue
		}
		all := i.LagSamples
		if len(all) == 0 {
			all = []result.LagSample{{Partitions: i.LagPartitions}}
		}
		for _, s := range all {
			for p, lag := range s.Partitions {
				if p == len(peaks) {
					peaks = append(peaks, 0)
				}
				peaks[p] = max(peaks[p], lag)
			}
		}
	}
	order := make([]int, len(peaks))
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(peaks[b], peaks[a]) })
	const shown = 3
	var parts []string
	for _, p := range order[:min(shown, len(order))] {
		if peaks[p] > 0 {
			parts = append(parts, fmt.Sprintf("%d (%s)", p, unit.Count(peaks[p])))
		}
	}
	if len(peaks) < 2 || len(parts) == 0 {
		return ""
	}
	return "highest in the partitions " + strings.Join(parts, ", ") + " of " + unit.Count(int64(len(peaks)))
}

func markdownClients(m *layout.Markdown, r *result.Recorded) {
	runs := []*result.Recorded{r}
	for _, t := range []struct {
		title string
		table layout.Table
	}{
		{"Each producer and consumer", clientSheet(runs)},
		{"Members at the window's end", memberSheet(runs)},
		{"Partitions at the window's end", partitionSheet(runs)},
	} {
		rows := t.table.Rows
		if len(rows) < 2 {
			continue
		}
		m.Line()
		m.Line("<details><summary>", t.title, "</summary>")
		shown := layout.Table{}
		for i, row := range rows[:min(len(rows), rowsShown+1)] {
			row = row[len(ofRun):] // without the columns that name the run
			for c := range row {
				if i > 0 {
					row[c] = layout.Prose(row[c])
				}
			}
			shown.Add(row...)
		}
		m.Table(shown)
		if left := len(rows) - 1 - rowsShown; left > 0 {
			m.Paragraph(unit.Count(int64(left)), " more are in ", result.SummaryFile, ".")
		}
		m.Line()
		m.Line("</details>")
	}
}

func sheetOf(columns ...string) layout.Table {
	return layout.Table{Rows: [][]string{append(slices.Clone(ofRun), columns...)}}
}

func clientSheet(runs []*result.Recorded) layout.Table {
	s := sheetOf("client", "group", "number", "records", "bytes", "first_ns", "last_ns")
	for _, r := range runs {
		add := func(kind string, all []result.Share) {
			for _, c := range all {
				s.Add(append(ofRunCells(r), kind, c.Group, integer(int64(c.Number)), integer(c.Records), integer(c.Bytes),
					layout.Optional(c.FirstNs), layout.Optional(c.LastNs))...)
			}
		}
		add("producer", r.Run.Producers)
		add("consumer", r.Run.Consumers)
	}
	return s
}

// A member without a partition also has a row.
func memberSheet(runs []*result.Recorded) layout.Table {
	s := sheetOf("group", "state", "member", "client_id", "host", "partition", "committed_offset", "end_offset",
		"lag_records")
	for _, r := range runs {
		if r.Run.WindowEnd == nil {
			continue
		}
		for _, g := range r.Run.WindowEnd.Groups {
			for _, m := range g.Members {
				of := append(ofRunCells(r), g.Name, g.State, m.ID, m.ClientID, m.Host)
				for _, p := range m.Partitions {
					s.Add(append(slices.Clone(of), integer(int64(p.Partition)), layout.Optional(p.Committed),
						layout.Optional(p.End), layout.Optional(p.Lag))...)
				}
				if len(m.Partitions) == 0 {
					s.Add(append(of, "", "", "", "")...)
				}
			}
		}
	}
	return s
}

func partitionSheet(runs []*result.Recorded) layout.Table {
	s := sheetOf("topic", "partition", "leader", "replicas", "in_sync")
	for _, r := range runs {
		if r.Run.WindowEnd == nil {
			continue
		}
		for _, p := range r.Run.WindowEnd.Partitions {
			leader := ""
			if p.Leader != nil {
				leader = integer(int64(*p.Leader))
			}
			s.Add(append(ofRunCells(r), r.Run.Run.Topic, integer(int64(p.Partition)), leader, brokers(p.Replicas),
				brokers(p.InSync))...)
		}
	}
	return s
}

func brokers(ids []int32) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = integer(int64(id))
	}
	return strings.Join(all, " ")
}
