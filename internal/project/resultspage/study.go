package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// studies are the presets of the section on backpressure. Their runs are recorded only if -only
// names them, because they take hours.
var studies = []string{
	"backpressure-study", "backpressure-recovery", "backpressure-bursty",
	"backpressure-faults", "backpressure-processes", "backpressure-baseline",
}

func (s *shelf) missingStudies() string { return s.missingOf(studies) }

// missingOf names the presets of a list that are not in results/.
func (s *shelf) missingOf(names []string) string {
	var missing []string
	for _, name := range names {
		if len(s.of(name).runs()) == 0 {
			missing = append(missing, "`"+name+"`")
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "Not made for this page, and left out: " + strings.Join(missing, ", ") + "."
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// shortened says how a study was made shorter than its preset; "" if it was not.
func (e *entry) shortened() (string, error) {
	preset, err := scenario.ReadSuite(presetNamed(e.scenario), scenario.Options{})
	if err != nil {
		return "", err
	}
	most := 0
	for _, c := range e.cells {
		most = max(most, len(c.runs))
	}
	var changes []string
	if e.campaign != nil && strings.HasSuffix(e.campaign.Campaign.Campaign.Name, quickForm) {
		changes = append(changes, "made in its quick form")
	}
	if most < repeat {
		changes = append(changes, fmt.Sprintf("%s of each instead of %d", runsText(most), repeat))
	}
	planned := preset.Cells[0].Scenario.Phases.Measure.String()
	if measured := e.runs()[0].Run.Scenario.Get("phases.measure"); measured != planned {
		changes = append(changes, fmt.Sprintf("%s measured instead of %s", measured, planned))
	}
	if len(e.cells) != len(preset.Cells) {
		changes = append(changes, fmt.Sprintf("%d variants of %d", len(e.cells), len(preset.Cells)))
	}
	if len(changes) == 0 {
		return "", nil
	}
	return fmt.Sprintf(" `%s` was shortened: %s.", e.scenario, strings.Join(changes, ", ")), nil
}

// Invalid runs are in no figure. Runs of a configuration beyond the fixed number replace invalid
// ones.
func leftOut(runs []*result.Recorded) string {
	made, bad, why := map[string]int{}, map[string]int{}, map[string]string{}
	for _, r := range runs {
		name := r.Run.Run.Name
		made[name]++
		if r.Run.Verdict.Status != result.Valid {
			bad[name]++
			why[name] = cmp.Or(why[name], strings.Join(r.Run.Verdict.Reasons, "; "))
		}
	}
	if len(bad) == 0 {
		return fmt.Sprintf("All %d runs are valid.", len(runs))
	}
	invalid, replaced := 0, 0
	var each []string
	for name, n := range bad {
		invalid += n
		replaced += min(n, max(0, made[name]-repeat))
		part := fmt.Sprintf("%d of `%s`", n, name)
		if n == made[name] {
			part += fmt.Sprintf(" (none is valid; the first: %s)", why[name])
		}
		each = append(each, part)
	}
	slices.Sort(each)
	are := "are"
	if invalid == 1 {
		are = "is"
	}
	text := fmt.Sprintf("%d of the %d runs %s invalid and in no figure: %s.", invalid, len(runs), are, strings.Join(each, ", "))
	switch {
	case replaced == 1 && invalid == 1:
		text += " A further run replaces it."
	case replaced > 0:
		text += fmt.Sprintf(" Further runs replace %d of them.", replaced)
	}
	return text
}

func (e *entry) valid(variant string) (runs []*result.Run) {
	for _, c := range e.cells {
		if c.value != variant {
			continue
		}
		for _, r := range c.runs {
			if r.Run.Verdict.Status == result.Valid {
				runs = append(runs, &r.Run)
			}
		}
	}
	return runs
}

// pausing is the client that stops fetching for a second once it holds enough.
const pausing = "librdkafka"

// notRead marks a variant whose runs ended before all was read. Its figures are withdrawn if method
// 1 measured the client that pauses, because that method's driver made the pauses longer.
func (e *entry) notRead(variant string) (mark string, withdrawn bool) {
	for _, r := range e.valid(variant) {
		switch {
		case !r.PartlyRead():
		case r.Run.Driver.Name != pausing || r.Scenario.Get("consume.client.fetch.queue.backoff.ms") != "":
			mark = " (not read out)"
		case r.Method() < 2:
			return " (withdrawn: not read out)", true
		default:
			mark = " (client default: `fetch.queue.backoff.ms`)"
		}
	}
	return mark, false
}

// figure also knows the ratio of a variant's deliveries to those of the same consumers without
// backpressure.
func (e *entry) figure(name string) (figure.Figure, error) {
	var sets [][]*result.Run
	for _, c := range e.cells {
		sets = append(sets, e.valid(c.value))
	}
	f := figure.DeliveredOfOff(figure.References(sets))
	if f.Name != name {
		var err error
		if f, err = figure.Named(name); err != nil {
			return f, err
		}
	}
	return f.Among(slices.Concat(sets...)), nil
}

// study is "" if it was not made.
func (s *shelf) study(prior map[string]string, name string, figures ...string) (string, error) {
	e := s.of(name)
	if len(e.runs()) == 0 {
		return "", nil
	}
	question, err := questionOf(name)
	if err != nil {
		return "", err
	}
	table, err := e.table(prior, figures...)
	return fmt.Sprintf("### `%s`\n\n%s\n\n%s", name, question, table), err
}

// table has a row for each variant, and a column for each figure that some variant has and for
// prior, the texts of variants' earlier reports.
func (e *entry) table(prior map[string]string, figures ...string) (string, error) {
	head, rule := []string{methodsOf(e.runs())}, []string{"---"}
	rows, withdrawn := make([][]string, len(e.cells)), make([]bool, len(e.cells))
	for i, c := range e.cells {
		mark, w := e.notRead(c.value)
		rows[i], withdrawn[i] = []string{"`" + c.value + "`" + mark}, w
	}
	for _, name := range figures {
		f, err := e.figure(name)
		if err != nil {
			return "", err
		}
		column, any := make([]string, len(e.cells)), false
		for i, c := range e.cells {
			column[i] = absent
			if values := f.Over(e.valid(c.value)); len(values.Ranked) > 0 && !withdrawn[i] {
				column[i], any = withRange(f, values), true
			}
		}
		if !any {
			continue
		}
		head, rule = append(head, f.Title), append(rule, "--:")
		for i := range rows {
			rows[i] = append(rows[i], column[i])
		}
	}
	if len(prior) > 0 {
		head, rule = append(head, "reported, on another machine"), append(rule, "--:")
		for i, c := range e.cells {
			rows[i] = append(rows[i], cmp.Or(prior[c.value], absent))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s|", strings.Join(head, " | "), strings.Join(rule, "|"))
	for _, row := range rows {
		fmt.Fprintf(&b, "\n| %s |", strings.Join(row, " | "))
	}
	return b.String(), nil
}

func questionOf(name string) (string, error) {
	preset, err := scenario.ReadSuite(presetNamed(name), scenario.Options{})
	return preset.Question, err
}

// neededBound prints in how many runs of a healthy pipeline a warning gave the bound that its
// commits need.
func (s *shelf) neededBound() (string, error) {
	const study, variant = "backpressure-baseline", "credit-1s"
	runs := s.of(study).valid(variant)
	if len(runs) == 0 {
		return "", nil
	}
	told, bound := 0, ""
	for _, r := range runs {
		for _, w := range r.Verdict.Warnings {
			if rest, found := strings.CutPrefix(w, scenario.SmallBound); found {
				told++
				bound, _, _ = strings.Cut(rest, " ")
			}
		}
	}
	shed, err := figure.Named("shed_ratio")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("With a commit each second a bound of %s is too little for a healthy pipeline: `%s` shed %s. A warning said so in %d of %d runs",
		unit.Count(runs[0].Backpressure.MaxLag), variant, withRange(shed, shed.Over(runs)), told, len(runs))
	if bound != "" {
		text += ", with the bound that it needs: at least " + bound + " records"
	}
	return text + ".", nil
}
