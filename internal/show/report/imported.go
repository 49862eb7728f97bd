package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Standing returns a run's standing in a word or two: valid, invalid, imported, "interrupted,
// valid", "invalid, imported". Only "valid" means that all rules judged the whole planned run.
func Standing(r *result.Run) string {
	word := r.Verdict.Status
	if r.Run.Imported != nil && !r.Verdict.Usable() {
		word += ", imported"
	}
	switch {
	case !r.Finished():
		word += ", not finished"
	case r.Run.Interrupted:
		word = result.Interrupted + ", " + word
	}
	return word
}

func proven(r *result.Run) bool { return Standing(r) == result.Valid }

func heading(r *result.Run) string {
	first, rest, _ := strings.Cut(Standing(r), ",")
	if rest != "" {
		rest = "," + rest
	}
	return strings.ToUpper(first) + rest
}

// formatCaveats are the limits of all figures of a format; others are in a run's own warnings.
var formatCaveats = []struct{ format, text string }{
	{"ssp", "its times begin at the actual send: coordinated omission is not accounted for; what its pacer or its gate held back is counted nowhere"},
	{"producer-perf", "its times begin when send is called, in whole milliseconds: coordinated omission is not accounted for"},
	{"consumer-perf", "its rate is a closed loop's, and its records are counted and not checked"},
	{"share-consumer-perf", "its rate is a closed loop's, and its records are counted, with redeliveries, and not checked"},
	{"e2e-latency", "its times are of one record at a time, in whole milliseconds: coordinated omission is not accounted for"},
	{"omb", "its publish times begin at the actual send: coordinated omission is in a series of its own; its end-to-end times are whole milliseconds"},
	{"hlog", "it has times and nothing else; where they begin is as the tool that wrote them had it"},
	{"hgrm", "it has percentiles and nothing else; where its times begin is as the tool that wrote them had it"},
}

// Footnotes returns the caveats of the imported runs in a table, once for each
// format; none if no run was imported.
func Footnotes(runs []*result.Recorded) (notes []string) {
	for _, c := range formatCaveats {
		var names []string
		for _, r := range importedOf(runs) {
			if i := r.Run.Run.Imported; i.Format == c.format && !slices.Contains(names, r.Run.Run.Name) {
				names = append(names, r.Run.Run.Name)
			}
		}
		if len(names) > 0 {
			notes = append(notes, fmt.Sprintf("%s: imported (%s) and not judged by the rules of kafka-bench; %s.",
				layout.EnumerateSome(names), c.format, c.text))
		}
	}
	return append(notes, mixture(runs)...)
}

func importedOf(runs []*result.Recorded) []*result.Recorded {
	return slices.DeleteFunc(slices.Clone(runs),
		func(r *result.Recorded) bool { return r == nil || r.Run.Run.Imported == nil })
}

func markdownFootnotes(m *layout.Markdown, runs []*result.Recorded) {
	var items []string
	for _, note := range Footnotes(runs) {
		items = append(items, "⚠️ "+layout.Prose(note))
	}
	m.List(items)
}

func printFootnotes(p *layout.Page, runs []*result.Recorded) {
	for _, note := range Footnotes(runs) {
		p.Item(layout.Yellow, note)
	}
}

// Imported is a run that was made by an import.
type Imported struct {
	Dir string
	Run *result.Run
}

// Imports writes a line for each imported run, then for each format the common warnings of its
// runs, and what these runs cannot say.
func Imports(w io.Writer, all []Imported, o Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	for _, i := range all {
		p.Line(fmt.Sprintf("%s (%s) → %s, %s", i.Run.Run.Imported.File, i.Run.Run.Imported.Format, i.Dir,
			Standing(i.Run)))
		for _, reason := range i.Run.Verdict.Reasons {
			p.Styled(layout.Red, "because", reason)
		}
	}
	for _, c := range formatCaveats {
		of := slices.DeleteFunc(slices.Clone(all),
			func(i Imported) bool { return i.Run.Run.Imported.Format != c.format })
		if len(of) > 0 {
			printFormat(p, c.format, of)
		}
	}
	return p.Print(w)
}

func printFormat(p *layout.Page, name string, all []Imported) {
	warnings, unsaid := all[0].Run.Verdict.Warnings, all[0].Run.Run.Imported.CannotSay
	more := 0
	for _, i := range all[1:] {
		warnings = common(warnings, i.Run.Verdict.Warnings)
		unsaid = common(unsaid, i.Run.Run.Imported.CannotSay)
	}
	for _, i := range all {
		more += len(i.Run.Verdict.Warnings) - len(warnings)
	}
	title := ""
	if len(all) > 1 {
		title = ", " + unit.Things(int64(len(all)), "run")
	}
	p.Heading(name, title)
	for _, warning := range warnings {
		p.Styled(layout.Yellow, "warning", warning)
	}
	if more > 0 {
		p.Styled(layout.Yellow, "",
			unit.Count(int64(more))+" more of single runs; \"kafka-bench report RUN\" shows them")
	}
	p.Labelled("cannot say", layout.List(unsaidWords(unsaid)...))
	p.Labelled("", "(run.imported.cannot_say in "+result.SummaryFile+" names the fields)")
}

func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(text string) bool { return !slices.Contains(b, text) })
}

var blockWords = strings.NewReplacer("run.host", "the machine", "run.cluster", "the cluster", "run.", "when it ",
	"warmup", "warm-up")

// unsaidWords turns paths in run.json into words: a part for each block, with its figures in
// brackets unless all are missing. It omits the time series.
func unsaidWords(paths []string) (parts []string) {
	var blocks []string
	fields := map[string][]string{}
	for _, path := range paths {
		if strings.HasPrefix(path, "intervals.") {
			continue
		}
		block, field := path, ""
		if strings.Contains(path, ".") && path != "run.host" && path != "run.cluster" {
			cut := strings.LastIndexByte(path, '.')
			block, field = path[:cut], path[cut+1:]
		}
		block = strings.TrimPrefix(block, "time.")
		if _, known := fields[block]; !known {
			blocks = append(blocks, block)
		}
		if field == "" {
			fields[block] = nil
		} else if word := unitless(field); !slices.Contains(fields[block], word) {
			fields[block] = append(fields[block], word)
		}
	}
	for _, block := range blocks {
		switch names := fields[block]; {
		case block == "run":
			parts = append(parts, "when it was made")
		case len(names) == 0:
			parts = append(parts, layout.Words(strings.ReplaceAll(blockWords.Replace(block), ".", " ")))
		default:
			block = layout.Words(strings.ReplaceAll(blockWords.Replace(block), ".", " "))
			parts = append(parts, block+" ("+strings.Join(names, ", ")+")")
		}
	}
	return parts
}

func unitless(field string) string {
	if rate, is := strings.CutSuffix(field, "_per_s"); is {
		return layout.Words(rate) + " per second"
	}
	for _, suffix := range []string{"_ns", "_bytes", "_records", "_s"} {
		field = strings.TrimSuffix(field, suffix)
	}
	if percentile, is := strings.CutPrefix(field, "p"); is && strings.Trim(percentile, "0123456789_") == "" {
		return "p" + strings.ReplaceAll(percentile, "_", ".")
	}
	return layout.Words(field)
}
