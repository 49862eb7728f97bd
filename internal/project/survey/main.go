// Command survey prints the sizes of shipped packages, types, functions and lines, counts discouraged phrases in
// their comments, and counts what other modules can import.
//
//	go run ./internal/project/survey
//
// It fails only if it cannot read the code. It leaves out tests, test helpers and the project's
// own tools.
//
// Files to know: read.go (what is measured), main.go (how it is printed).
package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"kafkabench.example/kafka-bench/internal/project/prose"
)

func main() {
	if err := run(".", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// Bounds of what is printed, and of what is counted in the totals.
const (
	rows        = 15  // in a table of the largest
	longFile    = 450 // lines
	wide        = 120 // columns of a line, with tabs of 4
	manyMethods = 25
	tooMany     = 60
)

func run(root string, stdout io.Writer) error {
	packages, err := read(root)
	if err != nil {
		return err
	}
	p := &printer{tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)}
	p.packages(packages)
	p.types(packages)
	p.functions(packages)
	p.files(packages)
	p.comments(packages)
	p.surface(packages)
	p.totals(packages)
	return p.Flush()
}

type printer struct{ *tabwriter.Writer }

func (p *printer) table(title, head string, lines []string) {
	fmt.Fprintf(p, "%s\n\n%s\n%s\n\n", title, head, strings.Join(lines, "\n"))
	p.Flush()
}

func (p *printer) packages(all []*pkg) {
	largest := slices.SortedFunc(slices.Values(all), func(a, b *pkg) int { return cmp.Compare(b.lines(), a.lines()) })
	var lines []string
	for _, k := range largest[:min(rows, len(largest))] {
		share := perThousand(k.wide, k.lines())
		lines = append(lines, fmt.Sprintf("%d\t%d\t%.1f\t%s", k.lines(), len(k.files), share, k.folder))
	}
	p.table("Largest packages", fmt.Sprintf("lines\tfiles\t>%d columns per 1,000\tpackage", wide), lines)
}

type item struct {
	size        int
	name, place string
}

func (p *printer) largest(title, head string, limit int, items []item) {
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(b.size, a.size) })
	var lines []string
	for _, i := range items[:min(limit, len(items))] {
		lines = append(lines, fmt.Sprintf("%d\t%s\t%s", i.size, i.name, i.place))
	}
	p.table(title, head, lines)
}

func typeItems(all []*pkg) []item {
	var items []item
	for _, k := range all {
		for _, name := range slices.Sorted(maps.Keys(k.methods)) {
			items = append(items, item{len(k.methods[name]), name, k.folder})
		}
	}
	return items
}

func (p *printer) types(all []*pkg) {
	p.largest("Types with the most methods", "methods\ttype\tpackage", rows, typeItems(all))
}

func (p *printer) functions(all []*pkg) {
	var items []item
	for _, k := range all {
		items = append(items, k.functions...)
	}
	p.largest("Longest functions", "lines\tfunction\tfile", rows, items)
}

func (p *printer) files(all []*pkg) {
	var items []item
	for _, k := range all {
		for _, f := range k.files {
			if f.size > longFile {
				items = append(items, f)
			}
		}
	}
	p.largest(fmt.Sprintf("Files of more than %d lines", longFile), "lines\tfile\tpackage", len(items), items)
}

func (p *printer) comments(all []*pkg) {
	head := fmt.Sprintf("words\tsentences\t>%d words", prose.MaxWords)
	for _, phrase := range prose.Phrases {
		head += "\t" + phrase.Name
	}
	sum := prose.Count("")
	var lines []string
	for _, k := range all {
		sum.Add(k.comments)
		lines = append(lines, cells(k.comments)+"\t"+k.folder)
	}
	p.table("Comments", head+"\tpackage", append(lines, cells(sum)+"\tall"))
}

func cells(t prose.Text) string {
	text := fmt.Sprintf("%d\t%d\t%d", t.Words, t.Sentences, t.Long)
	for _, n := range t.Phrases {
		text += fmt.Sprintf("\t%d", n)
	}
	return text
}

func (p *printer) surface(all []*pkg) {
	var lines []string
	names, aliases := 0, 0
	for _, k := range all {
		if k.importable() {
			lines = append(lines, fmt.Sprintf("%d\t%d\t%s", len(k.exported), len(k.aliases), k.folder))
			names, aliases = names+len(k.exported), aliases+len(k.aliases)
		}
	}
	lines = append(lines, fmt.Sprintf("%d\t%d\tall %d", names, aliases, len(lines)))
	p.table("Importable packages", "exported names\taliases of internal types\tpackage", lines)
}

func (p *printer) totals(all []*pkg) {
	lines, wideLines, many, most := 0, 0, 0, 0
	for _, k := range all {
		lines += k.lines()
		wideLines += k.wide
	}
	for _, i := range typeItems(all) {
		if i.size > manyMethods {
			many++
		}
		if i.size > tooMany {
			most++
		}
	}
	fmt.Fprintf(p, "Totals\n\n%d\tshipped lines\n%d\tpackages\n", lines, len(all))
	fmt.Fprintf(p, "%.1f\tlines of more than %d columns, per 1,000\n", perThousand(wideLines, lines), wide)
	fmt.Fprintf(p, "%d\ttypes of more than %d methods\n%d\ttypes of more than %d\n", many, manyMethods, most, tooMany)
}

func perThousand(part, whole int) float64 { return 1000 * float64(part) / float64(max(whole, 1)) }
