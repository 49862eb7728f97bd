package main

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// Each test that docs/INVARIANTS.md names exists in the tier of its column. Each item of DESIGN's
// list has a row, and each row has a break for one of its tests.
func TestInvariants(t *testing.T) {
	rows, err := readTable(root)
	if err != nil {
		t.Fatal(err)
	}
	there := allTests(t)
	named := make(map[string]row)
	for _, r := range rows {
		if _, twice := named[r.name]; twice {
			t.Errorf("%s has two rows", r.name)
		}
		named[r.name] = r
		if len(slices.Concat(r.tests...)) == 0 {
			t.Errorf("%s names no test", r.name)
		}
		for tier, tests := range r.tests {
			for _, test := range tests {
				switch is, known := there[test]; {
				case !known:
					t.Errorf("%s: there is no test %s", r.name, test)
				case is != tiers[tier]:
					t.Errorf("%s: %s is in tier %s, not %s", r.name, test, is, tiers[tier])
				}
			}
		}
	}
	items, err := readItems(root)
	if err != nil || len(items) < 60 {
		t.Errorf("DESIGN's list has %d items, error %v", len(items), err)
	}
	for _, item := range items {
		if _, has := named[item]; !has {
			t.Errorf("%s of docs/DESIGN.md has no row", item)
		}
	}
	checkBreaks(t, rows, named)
}

func checkBreaks(t *testing.T, rows []row, named map[string]row) {
	all, err := readBreaks(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		r, known := named[b.Invariant]
		if !known {
			t.Errorf("the break of %s has no row", b.Invariant)
			continue
		}
		function, _, _ := strings.Cut(b.Test.Run, "/")
		test := short(b.Test.Package) + "." + function
		if !slices.ContainsFunc(r.tests, func(tests []string) bool { return slices.Contains(tests, test) }) {
			t.Errorf("%s: the test of its break, %s, is not in its row", b.Invariant, test)
		}
		if _, err := b.change(root); err != nil {
			t.Errorf("%s: %v", b.Invariant, err)
		}
	}
	broken := names(all)
	for _, r := range rows {
		if !slices.Contains(broken, r.name) {
			t.Errorf("%s has no break", r.name)
		}
	}
}

func short(folder string) string {
	if folder == "." {
		return "kafkabench"
	}
	return filepath.Base(folder)
}

func allTests(t *testing.T) map[string]string {
	all, folders := make(map[string]string), make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", ".git", "results", "deploy"}, d.Name()): // deploy has other modules
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := short(folder)
		if other := folders[name]; other != "" && other != folder {
			t.Errorf("%s and %s have one name in the table", folder, other)
		}
		folders[name] = folder
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil {
				all[name+"."+f.Name.Name] = tierOf(file)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func tierOf(file *ast.File) string {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() > file.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			expression, err := constraint.Parse(c.Text)
			if err != nil {
				continue
			}
			for i, tier := range tiers {
				if expression.Eval(func(tag string) bool { return !slices.Contains(tiers[i+1:], tag) }) {
					return tier
				}
			}
		}
	}
	return tiers[0]
}

var tiers = []string{"quick", "full", "proof"}

type row struct {
	name  string
	tests [][]string // by tier: package.TestName
}

var (
	rowPattern  = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|([^|]*)\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|$")
	testPattern = regexp.MustCompile("`([a-z0-9-]+\\.(?:Test|Fuzz)[A-Za-z0-9_]*)`")
	itemPattern = regexp.MustCompile("(?m)^- \\*\\*`([a-z0-9-]+)`\\*\\* ")
)

func readTable(dir string) ([]row, error) {
	text, err := os.ReadFile(filepath.Join(dir, "docs/INVARIANTS.md"))
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, found := range rowPattern.FindAllStringSubmatch(string(text), -1) {
		r := row{name: found[1]}
		for _, cell := range found[3:] {
			var tests []string
			for _, test := range testPattern.FindAllStringSubmatch(cell, -1) {
				tests = append(tests, test[1])
			}
			r.tests = append(r.tests, tests)
		}
		rows = append(rows, r)
	}
	if lines := strings.Count(string(text), "\n| `"); lines != len(rows) {
		return nil, fmt.Errorf("docs/INVARIANTS.md has %d rows, and %d of them can be read", lines, len(rows))
	}
	return rows, nil
}

func readItems(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "docs/DESIGN.md"))
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(string(text), "\n## Non-obvious\n")
	var items []string
	for _, found := range itemPattern.FindAllStringSubmatch(list, -1) {
		items = append(items, found[1])
	}
	return items, nil
}
