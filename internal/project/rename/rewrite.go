package main

import (
	"cmp"
	"go/format"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Packages below the path move too.
type move struct{ from, to string }

// The longest match decides.
func renamed(path string, moves []move) string {
	longest := move{}
	for _, m := range moves {
		if (path == m.from || strings.HasPrefix(path, m.from+"/")) && len(m.from) > len(longest.from) {
			longest = m
		}
	}
	return longest.to + strings.TrimPrefix(path, longest.from)
}

// pathIn matches the module's path before one of its folders, but not at the end of a longer path.
func pathIn(module string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w./-])(` + regexp.QuoteMeta(module) + `/(?:backpressure|kmq|internal|cmd)\b[\w/-]*)`)
}

func text(src []byte, module string, moves []move) []byte {
	path := pathIn(module)
	return path.ReplaceAllFunc(src, func(found []byte) []byte {
		part := path.FindSubmatch(found)
		return append(slices.Clone(part[1]), renamed(string(part[2]), moves)...)
	})
}

type edit struct {
	from, to int
	by       string
}

// goFile does not change strings, because their meaning is not known.
func goFile(src []byte, module string, moves []move) ([]byte, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	var edits []edit
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if to := renamed(path, moves); to != path {
			edits = append(edits, edit{offset(spec.Path.Pos()), offset(spec.Path.End()), strconv.Quote(to)})
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if out := string(text([]byte(c.Text), module, moves)); out != c.Text {
				edits = append(edits, edit{offset(c.Pos()), offset(c.End()), out})
			}
		}
	}
	if len(edits) == 0 {
		return src, nil
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		src = slices.Concat(src[:e.from], []byte(e.by), src[e.to:])
	}
	return format.Source(src)
}
