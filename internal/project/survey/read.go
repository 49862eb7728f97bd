package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/project/prose"
)

// pkg covers all build tags.
type pkg struct {
	folder    string
	files     []item
	wide      int // lines wider than the bound
	functions []item
	// methods are the names of each type's methods. A method with several build tags counts once.
	methods  map[string]map[string]bool
	comments prose.Text

	command  bool
	exported map[string]bool // functions, types, constants, variables and methods of exported types
	aliases  map[string]bool // exported, of types of internal packages
}

// importable reports whether other modules can import the package.
func (k *pkg) importable() bool {
	return !k.command && !slices.Contains(strings.Split(k.folder, "/"), "internal")
}

func (k *pkg) lines() int {
	n := 0
	for _, f := range k.files {
		n += f.size
	}
	return n
}

// shipped reports whether users get the package in folder.
func shipped(folder string) bool {
	switch {
	case folder == "internal/project", strings.HasPrefix(folder, "internal/project/"):
		return false
	case folder == "kmq/internal/conformance", folder == "kmq/internal/crash", strings.HasPrefix(folder, "deploy/"):
		return false
	}
	return !strings.HasSuffix(folder, "test") || folder == "kmq/kmqtest" // which is for users
}

func read(root string) ([]*pkg, error) {
	all := make(map[string]*pkg)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name, folder := d.Name(), filepath.ToSlash(filepath.Dir(inside))
		switch {
		case d.IsDir() && inside != "." && (name == "testdata" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !shipped(folder):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if all[folder] == nil {
			all[folder] = &pkg{
				folder: folder, methods: make(map[string]map[string]bool), comments: prose.Count(""),
				exported: make(map[string]bool), aliases: make(map[string]bool),
			}
		}
		return all[folder].add(name, source)
	})
	if err != nil {
		return nil, err
	}
	var packages []*pkg
	for _, folder := range slices.Sorted(maps.Keys(all)) {
		packages = append(packages, all[folder])
	}
	return packages, nil
}

func (k *pkg) add(name string, source []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, k.folder+"/"+name, source, parser.ParseComments)
	if err != nil {
		return err
	}
	text := string(source)
	k.files = append(k.files, item{strings.Count(text, "\n"), name, k.folder})
	for line := range strings.Lines(text) {
		if columns(strings.TrimSuffix(line, "\n")) > wide {
			k.wide++
		}
	}
	for _, group := range file.Comments {
		k.comments.Add(prose.Count(group.Text()))
	}
	k.command = file.Name.Name == "main"
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			k.function(set, d)
			k.exportFunction(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				k.export(file, spec)
			}
		}
	}
	return nil
}

func (k *pkg) function(set *token.FileSet, f *ast.FuncDecl) {
	name := f.Name.Name
	if f.Recv != nil {
		receiver := typeName(f.Recv.List[0].Type)
		if k.methods[receiver] == nil {
			k.methods[receiver] = make(map[string]bool)
		}
		k.methods[receiver][name] = true
		name = receiver + "." + name
	}
	begin, end := set.Position(f.Pos()), set.Position(f.End())
	k.functions = append(k.functions, item{end.Line - begin.Line + 1, name, begin.Filename})
}

func (k *pkg) exportFunction(f *ast.FuncDecl) {
	name := f.Name.Name
	if f.Recv != nil {
		receiver := typeName(f.Recv.List[0].Type)
		if !ast.IsExported(receiver) {
			return
		}
		name = receiver + "." + name
	}
	if f.Name.IsExported() {
		k.exported[name] = true
	}
}

func (k *pkg) export(file *ast.File, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				k.exported[name.Name] = true
			}
		}
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		k.exported[spec.Name.Name] = true
		of, imported := spec.Type.(*ast.SelectorExpr)
		if spec.Assign.IsValid() && imported && importsInternal(file, typeName(of.X)) {
			k.aliases[spec.Name.Name] = true
		}
	}
}

// importsInternal reports whether a file knows a package below a folder "internal" by that name.
func importsInternal(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		path := strings.Trim(i.Path.Value, `"`)
		known := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			known = i.Name.Name
		}
		return known == name && slices.Contains(strings.Split(path, "/"), "internal")
	})
}

// typeName is without pointer and type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func columns(line string) int { return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") }
