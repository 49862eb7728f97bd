package main

import (
	"go/ast"
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

// Each invariant has a sentence and tests that exist, and each break has a place. Each item of
// DESIGN's list is an invariant.
func TestInvariants(t *testing.T) {
	all, err := readBreaks(root)
	if err != nil {
		t.Fatal(err)
	}
	there, last := allTests(t), ""
	for _, b := range all {
		if first := b.Invariant != last; first != (b.Holds != "") || !first && len(b.Also) > 0 {
			t.Errorf("%s: rows of an invariant stand together, and the first alone has holds and also", b.Invariant)
		}
		last = b.Invariant
		for _, test := range b.tests() {
			if !there[test] {
				t.Errorf("%s: there is no test %s", b.Invariant, test)
			}
		}
		if _, err := b.change(root); err != nil {
			t.Errorf("%s: %v", b.Invariant, err)
		}
	}
	items, err := readItems(root)
	if err != nil || len(items) < 60 {
		t.Errorf("DESIGN's list has %d items, error %v", len(items), err)
	}
	known := names(all)
	for _, item := range items {
		if !slices.Contains(known, item) {
			t.Errorf("%s of docs/DESIGN.md has no row in %s", item, breaksFile)
		}
	}
}

func TestList(t *testing.T) {
	var printed strings.Builder
	if err := run(root, []string{"-list", "-only", "open-until-answered"}, &printed); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nopen-until-answered: A record is undelivered until it arrives, or ", "internal/load/queued/book.go:",
		"    ledger.TestOpenOfForgotten, ledger.TestOpen, ", "    truth.TestTimeLagOfAnOutage\n",
	} {
		if strings.Count(printed.String(), want) != 1 {
			t.Errorf("want %q once in\n%s", want, printed.String())
		}
	}
}

func allTests(t *testing.T) map[string]bool {
	all, folders := make(map[string]bool), make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", ".git", "results", "deploy"}, d.Name()): // deploy has other modules
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := filepath.Base(folder)
		if folder == "." {
			name = "kafkabench"
		}
		if other := folders[name]; other != "" && other != folder {
			t.Errorf("%s and %s have one name in breaks.yaml", folder, other)
		}
		folders[name] = folder
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil {
				all[name+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var itemPattern = regexp.MustCompile("(?m)^- \\*\\*`([a-z0-9-]+)`\\*\\* ")

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
