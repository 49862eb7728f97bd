package kafkabench_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tracked calls f with each file that ends with suffix, outside of test data and of what is built.
func tracked(t *testing.T, suffix string, f func(path, text string)) {
	t.Helper()
	skipped := []string{"testdata", "results", "build", "bin", "node_modules"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (slices.Contains(skipped, name) || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, suffix):
			return nil
		}
		text, err := os.ReadFile(path)
		f(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	opening  = regexp.MustCompile(`^(Package|Command) \S+ `)
	fileName = regexp.MustCompile(`[\w*]+\.go\b|\w+/`)
)

// A package comment says what the package is for, and names only files that exist.
func TestPackageComments(t *testing.T) {
	comments := make(map[string]string)
	tracked(t, ".go", func(path, text string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") {
			comments[filepath.Dir(path)] += file.Doc.Text()
		}
	})
	for folder, comment := range comments {
		if !opening.MatchString(comment) {
			t.Errorf("%s: no package comment; begin one with \"Package %s\"", folder, filepath.Base(folder))
		}
		_, files, _ := strings.Cut(comment, "\nFiles to know: ")
		files, _, _ = strings.Cut(files, "\n\n")
		for _, name := range fileName.FindAllString(files, -1) {
			if found, err := filepath.Glob(filepath.Join(folder, name)); err != nil || len(found) == 0 {
				t.Errorf("%s: the package comment names %s, which does not exist", folder, name)
			}
		}
	}
}

// Pages name only files that exist, and link only to files and headings that exist.
func TestPages(t *testing.T) {
	pages := make(map[string]string)
	tracked(t, ".md", func(path, text string) { pages[path] = fence.ReplaceAllString(text, "\n") })
	if len(pages) < 10 {
		t.Fatalf("%d pages were read", len(pages))
	}
	for page, text := range pages {
		if page != "CHANGELOG.md" {
			for _, name := range missing(text, filepath.Dir(page), ".") {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(found[1])
			if err != nil || target.Scheme != "" {
				continue
			}
			file := page
			if target.Path != "" {
				file = filepath.Join(filepath.Dir(page), target.Path)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, found[1])
			} else if target.Fragment != "" && !slices.Contains(anchors(pages[file]), target.Fragment) {
				t.Errorf("%s links to %s, but %s has no such heading", page, found[1], file)
			}
		}
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(text string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		name := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(found[1])), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

var (
	code = regexp.MustCompile("`([^`\\s]+)`")
	// block matches the start of a new subject in Markdown. A bare file name is looked up in the
	// folders that its block has named before.
	block  = regexp.MustCompile(`\n(?:\s*\n|\s*(?:[-*|#]|\d+\.))`)
	top    = regexp.MustCompile(`^(backpressure|cmd|docs|internal|kmq|results|schema)(/[\w./*-]*)?$`)
	goFile = regexp.MustCompile(`^[a-zA-Z*][\w./*-]*\.go$`)
)

// missing returns the paths in backticks in text that do not exist. A path begins at one of the
// roots, or below internal/ or a group of folders there. A bare file name must be in a root, or in
// a folder that its block named before. If the block named none, it may be in any folder.
func missing(text string, roots ...string) []string {
	var gone []string
	for _, b := range block.Split(text, -1) {
		places := []string{""}
		for _, match := range code.FindAllStringSubmatch(b, -1) {
			path := strings.TrimPrefix(match[1], "./")
			if !top.MatchString(path) && !goFile.MatchString(path) {
				continue
			}
			if folder, known := find(path, places, roots); known {
				places = append(places, folder)
			} else {
				gone = append(gone, path)
			}
		}
	}
	return gone
}

// find returns the folder of a path, and whether the path exists. places are the folders for a bare
// file name.
func find(path string, places, roots []string) (folder string, known bool) {
	if strings.Contains(path, "/") {
		places = []string{"", "internal", "internal/*"}
	} else if len(places) == 1 {
		places = []string{"", "*", "*/*", "*/*/*", "*/*/*/*"}
	}
	for _, root := range roots {
		for _, place := range places {
			found, err := filepath.Glob(filepath.Join(root, place, path))
			if err != nil || len(found) == 0 {
				continue
			}
			if strings.HasSuffix(path, ".go") {
				path = filepath.Dir(path)
			}
			return filepath.Join(place, path), true
		}
	}
	return "", false
}
