package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const example = `// Package a is an example. Nobody tells.
package a

import (
	"x/internal/inner"
	"x/outer"
)

type t[K any] struct{}

func (x *t[K]) one() {}

func (t[K]) two() {
	_ = 1
}

// A comment of one word more than the bound: a b c d e f g h i j k l m n o p q r.
func three() {}

type (
	Exported struct{ Field int }
	Alias    = inner.Type
	Other    = outer.Type
)

func (*Exported) Method() {}

func (t[K]) NotOfAnExportedType() {}

const Constant, hidden = 1, 2

var wide = "LONG"
`

func TestSurveyOfAnExample(t *testing.T) {
	dir := t.TempDir()
	long := strings.ReplaceAll(example, "LONG", strings.Repeat("é", wide-12))
	for path, text := range map[string]string{
		"a/a.go":                       long,
		"a/a_linux.go":                 "//go:build linux\n\npackage a\n\nfunc (x *t[K]) one() {\n}\n",
		"a/a_test.go":                  "not even Go",
		"a/testdata/b.go":              "not even Go",
		"a/atest/help.go":              "not even Go",
		"internal/project/tool/x.go":   "not even Go",
		"kmq/internal/crash/doc.go":    "not even Go",
		".cache/c.go":                  "not even Go",
		"internal/big/big.go":          "package big\n" + strings.Repeat("\n", longFile),
		"internal/projection/small.go": "package projection\n",
	} {
		write(t, filepath.Join(dir, path), text)
	}
	var out strings.Builder
	if err := run(dir, &out); err != nil {
		t.Fatal(err)
	}
	want := `Largest packages

lines  files  >120 columns per 1,000  package
451    1      0.0                     internal/big
38     2      26.3                    a
1      1      0.0                     internal/projection

Types with the most methods

methods  type      package
3        t         a
1        Exported  a

Longest functions

lines  function               file
3      t.two                  a/a.go
2      t.one                  a/a_linux.go
1      t.one                  a/a.go
1      three                  a/a.go
1      Exported.Method        a/a.go
1      t.NotOfAnExportedType  a/a.go

Files of more than 450 lines

lines  file    package
451    big.go  internal/big

Comments

words  sentences  >25 words  tells  nobody  of which  anew  so many  alone  beside  Where  package
34     3          1          1      1       0         0     0        0      0       0      a
0      0          0          0      0       0         0     0        0      0       0      internal/big
0      0          0          0      0       0         0     0        0      0       0      internal/projection
34     3          1          1      1       0         0     0        0      0       0      all

Importable packages

exported names  aliases of internal types  package
5               1                          a
5               1                          all 1

Totals

490  shipped lines
3    packages
2.0  lines of more than 120 columns, per 1,000
0    types of more than 25 methods
0    types of more than 60
`
	if out.String() != want {
		t.Errorf("the survey is\n%s\nwant\n%s", out.String(), want)
	}
}

func TestTotalsCountTypes(t *testing.T) {
	dir := t.TempDir()
	source := "package a\n\ntype (\n\tsmall struct{}\n\tmany struct{}\n\tmost struct{}\n)\n"
	for name, n := range map[string]int{"small": manyMethods, "many": tooMany, "most": tooMany + 1} {
		for i := range n {
			source += "func (" + name + ") m" + strings.Repeat("i", i) + "() {}\n"
		}
	}
	write(t, filepath.Join(dir, "a/a.go"), source)
	var out strings.Builder
	if err := run(dir, &out); err != nil {
		t.Fatal(err)
	}
	if want := "2    types of more than 25 methods\n1    types of more than 60\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("the survey ends in\n%s\nwant\n%s", out.String()[len(out.String())-200:], want)
	}
}

func TestColumns(t *testing.T) {
	for line, want := range map[string]int{"": 0, "\tx": 5, "été": 3, "\t\t": 8} {
		if got := columns(line); got != want {
			t.Errorf("columns(%q) = %d, want %d", line, got, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
