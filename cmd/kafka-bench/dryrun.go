package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// If the cluster cannot be used, printPlan returns the error that a run would return.
func printPlan(w io.Writer, p campaign.Plan, turns []campaign.PlannedRun, r rig, at place) error {
	flags := r.flags
	p, changes, err := bounded(p, at)
	if err != nil {
		return err
	}
	needs := p.Needs(turns, flags.keepTopics)
	where, err := at.text(flags, needs.Clusters)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s", p.Name, count(len(turns), "run"))
	if len(turns) < len(p.Runs) {
		fmt.Fprintf(w, " of %d are still to be made", len(p.Runs))
	}
	fmt.Fprintln(w)
	if p.Question != "" {
		printWrapped(w, "%s", p.Question)
	}
	fmt.Fprintln(w)
	if err := printCells(w, p, turns); err != nil {
		return err
	}
	fmt.Fprintln(w)
	printWarnings(w, p, changes, at.asked)
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true}, Rows: [][]string{
		{"order", order(p, turns)},
		{"duration", duration(p, turns, needs)},
		{"window", windows(p)},
		{"records", offered(needs, unit.Count(needs.Records))},
		{"bytes", offered(needs, unit.Bytes(needs.Bytes)+" uncompressed")},
		{"peak", peak(p.Scenarios())},
		{"topics", topicsOf(needs, flags.keepTopics)},
		{"existing", existing(p.Scenarios())},
		{"disk", disk(needs, flags)},
	}}
	table.Rows = append(table.Rows, []string{"expected", strings.Join(p.Expected, ", ")})
	table.Rows = append(table.Rows, r.rows(where, at.asked)...)
	table.Rows = append(table.Rows, givenToBrokers(p.Scenarios())...)
	table.Rows = slices.DeleteFunc(table.Rows, func(row []string) bool { return row[1] == "" })
	return printTable(w, &table)
}

// peak is the highest rate of what the scenarios send; "" if they only read.
func peak(scenarios []scenario.Scenario) string {
	var highest unit.Rate
	for _, s := range scenarios {
		rates := []unit.Rate{s.Peak()}
		if s.Unpaced() {
			if s.Load.MaxRate.Records == 0 {
				return "as fast as it goes"
			}
			rates = append(rates, s.Load.MaxRate)
		}
		for _, rate := range rates {
			if rate.PerSecond() > highest.PerSecond() {
				highest = rate
			}
		}
	}
	if highest.Records == 0 {
		return ""
	}
	return highest.String()
}

// givenToBrokers has a row for the JVM options of local brokers, and one for their properties.
func givenToBrokers(scenarios []scenario.Scenario) [][]string {
	return [][]string{
		{"jvm", together(scenarios, func(c scenario.Cluster) string { return strings.Join(c.JVM, " ") })},
		{"broker settings", together(scenarios, func(c scenario.Cluster) string {
			var all []string
			for _, name := range slices.Sorted(maps.Keys(c.Config)) {
				all = append(all, name+"="+c.Config[name])
			}
			return strings.Join(all, " ")
		})},
	}
}

// together joins the texts of the scenarios' clusters. A text that only some have is followed by their names.
func together(scenarios []scenario.Scenario, text func(scenario.Cluster) string) string {
	var all []string
	of := map[string][]string{}
	for _, s := range scenarios {
		t := text(s.Cluster)
		if t != "" && len(of[t]) == 0 {
			all = append(all, t)
		}
		of[t] = append(of[t], s.Name)
	}
	for i, t := range all {
		if len(of[t]) < len(scenarios) {
			all[i] += " (" + strings.Join(of[t], ", ") + ")"
		}
	}
	return strings.Join(all, "; ")
}

func (r rig) rows(where string, a asked) [][]string {
	rows := append([][]string{{"cluster", where}}, a.rows()...)
	if r.fleet.of() > 0 {
		rows = append(rows, []string{"agents", r.fleet.text()})
	}
	if caps := r.flags.caps().String(); caps != "" {
		rows = append(rows, []string{"at most", caps})
	}
	return append(rows, []string{"results", "in " + r.flags.out})
}

// bounded returns the plan as its runs store it, and what the disk changes of each cell; "" if
// nothing.
func bounded(p campaign.Plan, at place) (campaign.Plan, []string, error) {
	p.Cells = slices.Clone(p.Cells)
	changes := make([]string, len(p.Cells))
	for i, cell := range p.Cells {
		s, change, err := at.bound(cell.Scenario)
		if err != nil {
			return p, nil, campaign.Failure(cell.Scenario, err)
		}
		p.Cells[i].Scenario, changes[i] = s, change
	}
	return p, changes, nil
}

func duration(p campaign.Plan, turns []campaign.PlannedRun, n campaign.Needs) string {
	beyond := ", and what it takes to start"
	for _, turn := range turns {
		if p.Cells[turn.Cell].Scenario.Filled() {
			beyond = ", and what it takes to start and to fill the topics"
			break
		}
	}
	return fmt.Sprintf("about %s: %s%s", roughly(p.Takes(turns)), between(n.Least, n.Most), beyond)
}

// windows says what ends the measured window if it is an amount; "" if none of the scenarios has one.
func windows(p campaign.Plan) string {
	texts := make(map[string]bool)
	for _, cell := range p.Cells {
		s, text := cell.Scenario, ""
		if key := s.Load.AmountKey(); key != "" {
			text = fmt.Sprintf("ends after %s (%s), or after %v (phases.measure), if that comes first",
				count(int(s.Bound()), "record"), key, s.Phases.Measure)
		}
		texts[text] = true
	}
	if len(texts) > 1 {
		return "ends after the amount of each scenario, or after its phases.measure, if that comes first"
	}
	for text := range texts {
		return text
	}
	return ""
}

func printCells(w io.Writer, p campaign.Plan, turns []campaign.PlannedRun) error {
	// The first column is empty, so that the numbers are right-aligned.
	table := layout.Table{Gap: 2, Left: map[int]bool{5: true, 6: true},
		Rows: [][]string{{"", "runs", "each takes", "records", "bytes", "scenario"}}}
	for i, cell := range p.Cells {
		runs := campaign.Rounds(turns, i)
		least, most := cell.Scenario.Duration()
		records, bytes := unknown, unknown
		if e := cell.Scenario.Expected(); !e.Unbounded || e.Records > 0 {
			more := ""
			switch {
			case e.Unbounded:
				more = " + rate max"
			case !e.Known:
				more = " + warm-up"
			}
			records, bytes = unit.Count(e.Records)+more, unit.Bytes(e.Bytes)+more
		}
		table.Add("", strconv.Itoa(runs), between(least, most), records, bytes, cell.Name, settingsOf(p.Axes, cell))
	}
	return printTable(w, &table)
}

// printWarnings prints each warning once. A warning that concerns only some scenarios names them.
func printWarnings(w io.Writer, p campaign.Plan, changes []string, a asked) {
	var all []string
	of := map[string][]string{}
	for i, cell := range p.Cells {
		texts := append(judge.Warnings(cell.Scenario), a.warnings[cell.Scenario.Name]...)
		if changes[i] != "" {
			texts = append([]string{changes[i]}, texts...)
		}
		for _, text := range texts {
			if len(of[text]) == 0 {
				all = append(all, text)
			}
			of[text] = append(of[text], cell.Name)
		}
	}
	for _, text := range all {
		who := ""
		if len(of[text]) < len(p.Cells) {
			who = strings.Join(of[text], ", ") + ": "
		}
		printWrapped(w, "warning: %s%s", who, text)
	}
	if len(all) > 0 {
		fmt.Fprintln(w)
	}
}

func settingsOf(axes []scenario.Axis, cell scenario.Cell) string {
	var all []string
	for i, axis := range axes {
		if i < len(cell.Values) {
			all = append(all, axis.Path+"="+cell.Values[i])
		}
	}
	return strings.Join(all, " ")
}

const maxOrder = 12

func order(p campaign.Plan, turns []campaign.PlannedRun) string {
	if len(p.Runs) < 2 {
		return "one run"
	}
	text := p.Order
	if p.Seed != 0 {
		text += fmt.Sprintf(", shuffled by the seed %d", p.Seed)
	}
	if len(p.Cells) < 2 {
		return text
	}
	var places []string
	for _, turn := range turns[:min(len(turns), maxOrder)] {
		places = append(places, fmt.Sprint(turn.Cell+1))
	}
	if len(turns) > maxOrder {
		places = append(places, "…")
	}
	return text + ": scenario " + strings.Join(places, " ")
}

// existing says what is done with topics that are not the runs' own.
func existing(scenarios []scenario.Scenario) string {
	var all []string
	for _, s := range scenarios {
		if s.Topic.Existing == "" {
			continue
		}
		if text := usedTopic(s); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

const unknown = "not known"

func offered(n campaign.Needs, amount string) string {
	if n.Unknown == n.Runs && n.Records == 0 {
		return unknown + " (rate max)"
	}
	return amount + beyond(n)
}

func beyond(n campaign.Needs) (text string) {
	switch {
	case n.Warmups == n.Runs && n.Runs == 1:
		text = " and the warm-up"
	case n.Warmups > 0:
		text = " and the warm-up of " + count(n.Warmups, "run")
	}
	switch {
	case n.Unknown == n.Runs:
		text += ", and what is sent at rate max"
	case n.Unknown > 0:
		text += fmt.Sprintf("; of %s %s (rate max)", count(n.Unknown, "run"), unknown)
	}
	return text
}

func topicsOf(n campaign.Needs, keep bool) string {
	after := "deleted after it"
	if keep {
		after = "kept"
	}
	created := fmt.Sprintf("%s new, one for each run, %s", unit.Count(int64(n.Topics)), after)
	existing := fmt.Sprintf("an existing one is used by %s", count(n.Runs-n.Topics, "run"))
	switch n.Topics {
	case n.Runs:
		return created
	case 0:
		return existing
	default:
		return created + "; " + existing
	}
}

func disk(n campaign.Needs, flags engineFlags) string {
	if flags.cluster == cluster.KindEmbedded && len(flags.brokers) == 0 {
		return "only the results: the embedded broker keeps its records in memory"
	}
	if n.Unknown == n.Runs && n.Records == 0 {
		return unknown + ": at rate max only load.volume or load.records bounds Kafka's logs"
	}
	text := "about " + offered(n, unit.Bytes(n.DiskBytes)) + " at a time for Kafka's logs, if nothing is compressed"
	if n.OneReplica && n.DiskBytes > 0 {
		text += "; and the replicas of existing topics"
	}
	return text
}

const statusTimeout = 10 * time.Second

// text describes the cluster, which is started so many times unless it is up. An error is why runs
// cannot use it.
func (p place) text(flags engineFlags, starts int) (string, error) {
	times := ""
	if starts > 1 {
		times = fmt.Sprintf(", %d times, because the scenarios ask for different ones", starts)
	}
	switch {
	case p.err != nil:
		return "", p.err
	case len(flags.brokers) > 0:
		return "the existing one at " + strings.Join(flags.brokers, ",") + "; none is started", nil
	case p.local != nil:
		return fmt.Sprintf("%q, which is up; none is started", cmp.Or(flags.cluster, cluster.DefaultName)), nil
	case p.Kind == cluster.KindEmbedded:
		return "the embedded broker is started and stopped" + times, nil
	case p.Kind == cluster.KindKafka:
		return "an Apache Kafka is started and stopped" + times, nil
	}
	return "an Apache Kafka is started and stopped" + times +
		"; the embedded broker where Java or Maven is missing", nil
}

func find(ctx context.Context, name string) (*cluster.Named, error) {
	home, err := cluster.UserHome()
	if err != nil {
		return nil, err
	}
	return home.Find(ctx, name)
}

func count(n int, singular string) string {
	if n == 1 {
		return "1 " + singular
	}
	return unit.Count(int64(n)) + " " + singular + "s"
}
