package web

import (
	"context"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

var href = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

func TestExportHasNoDeadLink(t *testing.T) {
	s := newShelf(t)
	a, b := s.record("sweep-a-b", 1), s.record("sweep-a-b", 2)
	s.record("sweep-other", 3)
	s.campaign("20261121T190000Z-sweep-k3x7qa", "sweep", a, b)
	s.write("20261121T190100Z-broken-aaaaaa/run.json", `{"schema_version":1,`)
	s.write("20261121T190200Z-broken-aaaaaa/campaign.json", `{"schema_version":1,`)
	s.write("50% #1?/run.json", `{"schema_version":1,"run":{"name":"odd"}}`)
	if _, err := result.Create(s.dir, "killed", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "site")
	n, err := s.open().Export(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		pages[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for path, text := range pages {
		if strings.Contains(text, s.dir) {
			t.Errorf("%s names the folder of this machine, %s", path, s.dir)
		}
		if !strings.Contains(text, "Content-Security-Policy") {
			t.Errorf("%s has no policy", path)
		}
		for _, found := range href.FindAllStringSubmatch(text, -1) {
			links++
			to, err := url.Parse(html.UnescapeString(found[1]))
			if err != nil || to.IsAbs() || strings.HasPrefix(to.Path, "/") || to.RawQuery != "" {
				t.Errorf("%s links to %s", path, found[1])
				continue
			}
			target := path
			if to.Path != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(to.Path))
			}
			if other, there := pages[target]; !there || to.Fragment != "" && !strings.Contains(other, `id="`+to.Fragment+`"`) {
				t.Errorf("%s: the link %s is dead", path, found[1])
			}
		}
	}
	if n != len(pages) || n != 1+4+2+1+6 || links < 40 {
		t.Errorf("%d pages were written and %d are there, with %d links", n, len(pages), links)
	}
	for name, want := range map[string]string{
		"index.html":                                    "last line at ",
		"categories/sweep.html":                         "3 runs",
		"runs/" + a + ".html":                           "Its campaign",
		"history/sweep-a-b.html":                        "– History –",
		"runs/20261121T190100Z-broken-aaaaaa.html":      "unexpected end of JSON input",
		"campaigns/20261121T190200Z-broken-aaaaaa.html": "unexpected end of JSON input",
	} {
		if !strings.Contains(pages[filepath.Join(out, filepath.FromSlash(name))], want) {
			t.Errorf("%s does not have %q", name, want)
		}
	}
	if !strings.Contains(pages[filepath.Join(out, "index.html")], ".categories {") {
		t.Error("a list lacks the style of its categories and runs")
	}
	if strings.Contains(pages[filepath.Join(out, "index.html")], "<form") {
		t.Error("a file has a form, and nobody answers it")
	}
}

func TestExportIntoAFullFolder(t *testing.T) {
	s := newShelf(t)
	if _, err := s.open().Export(context.Background(), filepath.Dir(s.dir)); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("error %v", err)
	}
}
