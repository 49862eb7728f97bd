package main

import (
	"errors"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A package belongs to the group with the longest folder that contains it.
var groups = []struct{ folder, content string }{
	{"cmd", "flags in, text and an exit code out"},
	{"backpressure", "the gate for other people's producers (public)"},
	{"kmq", "the queue (public)"},
	{"internal/lagcontrol", "the gate's core, which `backpressure` wraps (pure but for its clock)"},
	{"internal/plan", "what a run should do (pure)"},
	{"internal/measure", "how values are counted (pure)"},
	{"internal/result", "what a run leaves, and its meaning (pure)"},
	{"internal/kafka", "clusters, clients, the machine"},
	{"internal/load", "the hot path"},
	{"internal/run", "one run, many runs, many machines"},
	{"internal/show", "what people see"},
	{"internal/project", "tools and proofs of the project itself"},
	{"deploy", "what checks the files for Kubernetes, in modules of their own"},
}

const maxWords = 25

type row struct{ folder, summary, files string }

func read(root string) ([]row, error) {
	comments := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		comments[filepath.ToSlash(folder)] += file.Doc.Text()
		return nil
	})
	if err != nil {
		return nil, err
	}
	var rows []row
	var faults []error
	for _, folder := range slices.Sorted(maps.Keys(comments)) {
		r, err := describe(root, folder, comments[folder])
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", folder, err))
		}
		rows = append(rows, r)
	}
	return rows, errors.Join(faults...)
}

var (
	opening = regexp.MustCompile(`^(Package|Command) \S+ (is )?`)
	link    = regexp.MustCompile(`\[([\w.*]+)\]`)
	// fileName matches a file of the package, a pattern of files, or a folder.
	fileName = regexp.MustCompile(`[\w*]+\.go\b|\w+/`)
)

func describe(root, folder, comment string) (row, error) {
	sentence := new(doc.Package).Synopsis(comment)
	if !opening.MatchString(sentence) {
		return row{}, fmt.Errorf("no package comment; begin one with \"Package %s\"", filepath.Base(folder))
	}
	if n := len(strings.Fields(sentence)); n > maxWords {
		return row{}, fmt.Errorf("the first sentence of the package comment has %d words, at most %d", n, maxWords)
	}
	summary := strings.TrimSuffix(opening.ReplaceAllString(sentence, ""), ".")
	summary = link.ReplaceAllString(summary, "`$1`")
	_, files, _ := strings.Cut(comment, "\nFiles to know: ")
	files, _, _ = strings.Cut(files, "\n\n")
	files = strings.TrimSuffix(strings.Join(strings.Fields(files), " "), ".")
	for _, name := range fileName.FindAllString(files, -1) {
		if found, err := filepath.Glob(filepath.Join(root, folder, name)); err != nil || len(found) == 0 {
			return row{}, fmt.Errorf("the package comment names %s, which does not exist", name)
		}
	}
	return row{folder, summary, fileName.ReplaceAllString(files, "`$0`")}, nil
}

func fileMap(rows []row) (string, error) {
	byGroup := make(map[string][]row)
	for _, r := range rows {
		group := ""
		for _, g := range groups {
			if within(r.folder, g.folder) && len(g.folder) > len(group) {
				group = g.folder
			}
		}
		if group == "" {
			return "", fmt.Errorf("%s is in no group of folders; add one to groups", r.folder)
		}
		byGroup[group] = append(byGroup[group], r)
	}
	var b strings.Builder
	for _, g := range groups {
		if len(byGroup[g.folder]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "### `%s`: %s\n\n| package | in one line | files to know |\n|---|---|---|\n", g.folder, g.content)
		for _, r := range byGroup[g.folder] {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.folder, r.summary, r.files)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

func within(folder, group string) bool {
	return folder == group || strings.HasPrefix(folder, group+"/")
}

const (
	begin = "<!-- `make design` writes from here, from the package comments -->\n"
	end   = "<!-- to here -->\n"
)

func replace(text, tables string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the marks %q and %q are missing", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + tables + end + after, nil
}
