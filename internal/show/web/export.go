package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Export writes the pages of the library as files to the folder out, and returns their number. Each
// file is complete, so a browser shows it without a server. A run that cannot be read gets a page
// that says so. No page has a path of this machine. The folder must be empty or missing.
func (l *Library) Export(ctx context.Context, out string) (n int, err error) {
	if there, err := os.ReadDir(out); err == nil && len(there) > 0 {
		return 0, fmt.Errorf("%s is not empty; name a folder that is, or one that does not exist", out)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("the folder of the pages: %w", err)
	}
	l = newLibrary(".", cmp.Or(l.title, ExportTitle), l.root) // its paths begin in the folder
	c, err := l.catalog()
	if err != nil {
		return 0, err
	}
	e := exporter{site: &site{lib: l}, catalog: c, out: out}
	err = e.all(ctx)
	return e.written, err
}

type exporter struct {
	site    *site
	catalog *catalog
	out     string
	written int
}

// All pages are from one catalog, so that each link has its file.
func (e *exporter) all(ctx context.Context) error {
	top, below := links{static: true}, links{base: "../", static: true}
	if err := e.list("index", filter{Page: 1}, top); err != nil {
		return err
	}
	categories := slices.Compact(slices.Sorted(maps.Values(e.catalog.category)))
	for _, name := range categories {
		if err := e.list("categories/"+name, filter{Page: 1, Category: name}, below); err != nil {
			return err
		}
	}
	for _, kind := range []struct {
		folder string
		names  []string
		make   func(string, *catalog, links) ([]byte, error)
	}{
		{"campaigns", folders(e.catalog.campaigns), e.site.campaign},
		{"history", e.catalog.repeated(), e.site.history},
		{"runs", folders(e.catalog.runs), e.site.run},
	} {
		for _, name := range kind.names {
			if err := ctx.Err(); err != nil {
				return err
			}
			page, err := kind.make(name, e.catalog, below)
			if err != nil {
				page, err = e.site.failure(name, err, below)
			}
			if err := errors.Join(err, e.file(path.Join(kind.folder, name), page)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *exporter) list(name string, f filter, l links) error {
	listing := e.site.list(e.catalog, l, f, 0)
	if f.Category != "" {
		listing.Title += ": " + f.Category
	}
	p, err := listing.page()
	if err != nil {
		return err
	}
	page, err := e.site.html(p, e.catalog, l)
	return errors.Join(err, e.file(name, page))
}

func (e *exporter) file(name string, page []byte) error {
	file := filepath.Join(e.out, filepath.FromSlash(name)+".html")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("the folder of the pages: %w", err)
	}
	if err := os.WriteFile(file, page, 0o644); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	e.written++
	return nil
}

func folders(all []entry) (names []string) {
	for _, e := range all {
		names = append(names, e.folder)
	}
	return names
}

func (c *catalog) repeated() (names []string) {
	for name, n := range c.named {
		if n > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
