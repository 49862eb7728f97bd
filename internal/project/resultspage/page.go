package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

//go:embed page.md.tmpl
var pageTemplate string

const absent = "–"

func (s *shelf) page() ([]byte, error) {
	t, err := template.New("page").Option("missingkey=error").Funcs(template.FuncMap{
		"where": s.where, "methods": func() string { return methodsOf(s.all()) }, "verdicts": s.verdicts,
		"table": s.table,
		"ours":  s.ours, "reported": reported, "highest": s.highest, "lowest": s.lowest,
		"reportedOverCap": s.reportedOverCap, "idle": s.idle, "drain": s.drain,
		"recovery": s.recovery,
		"goals":    s.goalTable, "missingStudies": s.missingStudies,
		"neededBound": s.neededBound,
		"suite":       s.suite, "suiteGoals": s.suiteGoals, "suiteVerdicts": s.suiteVerdicts,
		"missingSuites": s.missingSuites, "accounted": s.accounted,
		"queueGoals": s.queueGoals, "queueVerdicts": s.queueVerdicts, "missingQueues": s.missingQueues,
		"decision": s.decision, "cycles": s.cycles, "codecs": s.codecs,
		"search":  s.searchSection,
		"picture": s.picture,
		"limits":  func() string { return s.limits },
	}).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, nil); err != nil {
		return nil, err
	}
	return wrapped(b.String()), nil
}

// pageWidth is in characters, as in the other pages.
const pageWidth = 124

func wrapped(page string) []byte {
	var b bytes.Buffer
	for i, block := range strings.Split(strings.TrimSpace(page), "\n\n") {
		block = strings.Trim(block, "\n")
		if block == "" {
			continue // a section without runs leaves no gap
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		if strings.ContainsAny(block[:1], "|#<-!") {
			b.WriteString(block)
			continue
		}
		column := 0
		for _, word := range strings.Fields(block) {
			switch width := utf8.RuneCountInString(word); {
			case column == 0:
				column = width
			case column+1+width > pageWidth:
				b.WriteByte('\n')
				column = width
			default:
				b.WriteByte(' ')
				column += 1 + width
			}
			b.WriteString(word)
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// ours is the median of the scenario's runs, or for a sweep the lowest and the highest of its
// configurations.
func (s *shelf) ours(scenario, name string) (string, error) {
	f, err := figure.Named(name)
	if err != nil {
		return "", err
	}
	f = f.Among(summaries(s.all()))
	var medians figure.Repeats
	for _, c := range s.of(scenario).cells {
		if values := c.values(f); len(values.Ranked) > 0 {
			medians.Ranked = append(medians.Ranked, medianOf(values.Ranked))
			medians.AtLeast = append(medians.AtLeast, medianOf(values.AtLeast))
		}
	}
	return between(f, medians), nil
}

func reported(scenario, name string) (string, error) {
	f, err := figure.Named(name)
	if err != nil {
		return "", err
	}
	p := priorOf(scenario)
	if v, known := p.reported(name); known {
		return f.Format(v), nil
	}
	var values []float64
	for _, c := range p.Configurations {
		if v, known := c.figure(name); known {
			values = append(values, v)
		}
	}
	return between(f, plain(values)), nil
}

func between(f figure.Figure, values figure.Repeats) string {
	if len(values.Ranked) == 0 {
		return absent
	}
	low, high := values.Format(f, slices.Min[[]float64]), values.Format(f, slices.Max[[]float64])
	if low == high {
		return low
	}
	return low + " to " + high
}

func plain(values []float64) figure.Repeats {
	return figure.Repeats{Ranked: values, AtLeast: values}
}

func medianOf(values []float64) float64 { return stats.Summarise(values, 0).Median }

// values are those of the valid runs that have the figure.
func (c cell) values(f figure.Figure) figure.Repeats { return f.Over(summaries(valid(c.runs))) }

func valid(runs []*result.Recorded) []*result.Recorded {
	return slices.DeleteFunc(slices.Clone(runs), func(r *result.Recorded) bool {
		return r.Run.Verdict.Status != result.Valid
	})
}

func (s *shelf) highest(name string) (string, error) { return s.extreme(name, slices.Max[[]float64]) }

func (s *shelf) lowest(name string) (string, error) { return s.extreme(name, slices.Min[[]float64]) }

func (s *shelf) extreme(name string, choose func([]float64) float64) (string, error) {
	f, err := figure.Named(name)
	if err != nil {
		return "", err
	}
	values := cell{runs: s.all()}.values(f.Among(summaries(s.all())))
	if len(values.Ranked) == 0 {
		return absent, nil
	}
	return values.Format(f, choose), nil
}

func (s *shelf) table() (string, error) {
	columns := []string{
		"lag_peak", "backlog_peak", "e2e_response_time_p50", "e2e_response_time_p99", "delivered_to_acked_ratio",
		"delivery_ratio", "acked_per_s",
	}
	var b strings.Builder
	for _, e := range s.entries {
		row := []string{"`" + e.scenario + "`"}
		for _, name := range columns {
			before, err := reported(e.scenario, name)
			if err != nil {
				return "", err
			}
			now, err := s.now(e, name)
			if err != nil {
				return "", err
			}
			if before != absent {
				now += "<br>*before: " + before + "*"
			}
			row = append(row, now)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(row, " | "), e.verdict())
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// now is a figure with the range of its runs; for a sweep, the lowest and the highest median of its
// configurations.
func (s *shelf) now(e entry, name string) (string, error) {
	if len(e.cells) != 1 {
		return s.ours(e.scenario, name)
	}
	f, err := figure.Named(name)
	if err != nil {
		return "", err
	}
	values := e.cells[0].values(f.Among(summaries(s.all())))
	if len(values.Ranked) == 0 {
		return absent, nil
	}
	return withRange(f, values), nil
}

func (e *entry) verdict() string {
	runs := e.runs()
	valid := 0
	for _, r := range runs {
		if r.Run.Verdict.Status == result.Valid {
			valid++
		}
	}
	switch {
	case len(runs) == 0:
		return absent
	case len(runs) == 1 && valid == 1:
		return "valid"
	case len(runs) == 1:
		return "**invalid**"
	case valid == len(runs):
		return fmt.Sprintf("%d valid", valid)
	}
	return fmt.Sprintf("**%d of %d valid**", valid, len(runs))
}

func (s *shelf) verdicts() string {
	var made []*result.Recorded
	for i := range s.entries {
		made = append(made, s.entries[i].made()...)
	}
	return leftOut(made)
}

// where names each machine, with its scenarios if there are several.
func (s *shelf) where() (string, error) {
	var machines [][]entry
	for _, e := range s.entries {
		runs := e.runs()
		if len(runs) == 0 {
			continue
		}
		at := slices.IndexFunc(machines, func(m []entry) bool { return alike(m[0].runs()[0], runs[0]) })
		if at < 0 {
			at, machines = len(machines), append(machines, nil)
		}
		machines[at] = append(machines[at], e)
	}
	if len(machines) < 2 {
		return whereOf(s.all())
	}
	text := "several machines, and each scenario on one.\n"
	for _, m := range machines {
		where, err := whereOf(runsOf(m))
		if err != nil {
			return "", err
		}
		var names []string
		for _, e := range m {
			names = append(names, "`"+e.scenario+"`")
		}
		text += "\n- " + strings.Join(names, ", ") + ": " + where
	}
	return text + "\n", nil
}

// whereOf is an error if the runs are from several machines.
func whereOf(all []*result.Recorded) (string, error) {
	if len(all) == 0 {
		return "There are no runs yet.", nil
	}
	first, last := all[0].Run.Run.StartedAt, all[0].Run.Run.StartedAt
	r := all[0].Run.Run
	var clients, kernels []string
	for _, other := range all {
		o := other.Run.Run
		if !alike(other, all[0]) {
			return "", errors.New("the runs are of different machines or Kafkas: make all of them anew")
		}
		if client := o.Driver.Name + " " + o.Driver.Version + ", " + o.Tool.GoVersion; !slices.Contains(clients, client) {
			clients = append(clients, client)
		}
		if !slices.Contains(kernels, o.Host.Kernel) {
			kernels = append(kernels, o.Host.Kernel)
		}
		if o.StartedAt.Before(first) {
			first = o.StartedAt
		}
		if o.StartedAt.After(last) {
			last = o.StartedAt
		}
	}
	days := first.Format("2006-01-02")
	if end := last.Format("2006-01-02"); end != days {
		days += " to " + end
	}
	kafka := fmt.Sprintf("Apache Kafka %s, %s", r.Cluster.Version, brokersOf(all))
	switch {
	case r.Cluster.Note != "":
		kafka = fmt.Sprintf("the %s broker (%s), whose figures describe the harness and not Kafka", r.Cluster.Kind,
			r.Cluster.Version)
	case r.Cluster.Kind == "kafka":
		kafka += " on the same machine"
	}
	slices.Sort(clients)
	slices.Sort(kernels)
	system := r.Host.OS
	if len(kernels) > 1 {
		system += fmt.Sprintf(" %s (each scenario on one)", strings.Join(kernels, " and "))
	}
	return fmt.Sprintf("%s, %d CPUs, %s of memory, %s; %s; %s; %s.", r.Host.CPUModel, r.Host.CPUs,
		unit.Bytes(r.Host.MemoryBytes), system, kafka, strings.Join(clients, "; "), days), nil
}

// alike reports whether both runs are of the same machine and Kafka. The kernel may differ, because
// scenarios are recorded days apart; the runs of one scenario have one kernel.
func brokersOf(all []*result.Recorded) string {
	least, most := all[0].Run.Run.Cluster.Brokers, 0
	for _, r := range all {
		least, most = min(least, r.Run.Run.Cluster.Brokers), max(most, r.Run.Run.Cluster.Brokers)
	}
	switch {
	case least != most:
		return fmt.Sprintf("%d to %d brokers", least, most)
	case most != 1:
		return fmt.Sprintf("%d brokers", most)
	}
	return "one broker"
}

func alike(a, b *result.Recorded) bool {
	h, o := a.Run.Run.Host, b.Run.Run.Host
	c, d := a.Run.Run.Cluster, b.Run.Run.Cluster
	return h.OS == o.OS && h.Arch == o.Arch && h.CPUModel == o.CPUModel && h.CPUs == o.CPUs && c.Kind == d.Kind && c.Version == d.Version
}

func (s *shelf) reportedOverCap(scenario string) string {
	r, p := s.one(scenario), priorOf(scenario)
	if r == nil || r.Run.Backpressure == nil || p.PeakLag == nil {
		return absent
	}
	return times(*p.PeakLag / float64(r.Run.Backpressure.MaxLag))
}

func times(ratio float64) string { return fmt.Sprintf("%.2f ×", ratio) }

// idle is the unused part of the consumers' capacity, as the median of the runs.
func (s *shelf) idle(scenario string) string {
	var idle []float64
	for _, r := range valid(s.of(scenario).runs()) {
		if u := r.Run.Consumer.Utilisation; u != nil {
			idle = append(idle, max(0, 1-*u))
		}
	}
	if len(idle) == 0 {
		return absent
	}
	return unit.Percent(medianOf(idle))
}

func (s *shelf) drain(scenario string) string {
	runs := valid(s.of(scenario).runs())
	var took, left []float64
	for _, r := range runs {
		if l := r.Run.Lag; l.Drained {
			took = append(took, l.DrainTimeS*1e9)
		} else {
			left = append(left, float64(r.Run.Delivery.Pending))
		}
	}
	var parts []string
	if len(took) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d runs drained, after %s", len(took), len(runs),
			unit.Nanos(int64(medianOf(took)))))
	}
	if len(left) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d runs did not drain in their time, with %s records left", len(left),
			len(runs), unit.Count(int64(medianOf(left)))))
	}
	if len(parts) == 0 {
		return absent
	}
	return strings.Join(parts, ", ")
}
