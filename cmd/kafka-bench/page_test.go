package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pageTitle(page string) string {
	_, rest, _ := strings.Cut(page, "<title>")
	title, _, _ := strings.Cut(rest, "</title>")
	return title
}

func TestPages(t *testing.T) {
	recorded(t)
	for args, want := range map[string]string{
		"report runs/base-1":                    "base – Run – Kafka Bench",
		"report runs/base-1 runs/slow-1":        "2 runs – Runs side by side – Kafka Bench",
		"report runs/sweep-acks":                "sweep-acks – Study – Kafka Bench",
		"report runs/sweep-acks --by lag_peak":  "sweep-acks – Study – Kafka Bench",
		"compare runs/base-* runs/slow-*":       "runs/slow-* against runs/base-* – Comparison – Kafka Bench",
		"history base --figure acked_per_s":     "base – History – Kafka Bench",
		"compare runs/sweep-acks --figures all": "sweep-acks-all against sweep-acks-1 – Comparison – Kafka Bench",
	} {
		got := invoke(t, append(strings.Fields(args), "--format", "html")...)
		if title := pageTitle(got.stdout); title != want || got.code != exitValid || got.stderr != "" {
			t.Errorf("%s: exit code %d, %q, title %q, want %q", args, got.code, got.stderr, title, want)
		}
	}
	wantBad(t, invoke(t, "report", "runs/base-1", "--format", "html", "--hlog-summary"),
		"--hlog-summary and --hlog-merge have no page; leave --format html out")
	wantBad(t, invoke(t, "report", "runs/base-1", "--format", "htm"),
		`--format: there is no format "htm"; choose one of text, markdown, csv, json, html`)
}

func TestRunWritesItsPage(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := t.TempDir()
		elsewhere := filepath.Join(t.TempDir(), "a page.html")
		for _, c := range []struct {
			args        []string
			file, title string
		}{
			{[]string{"--page"}, "page.html", "s – Run – Kafka Bench"},
			{[]string{"--page=" + elsewhere}, elsewhere, "s – Run – Kafka Bench"},
			{[]string{"--page", "--repeat", "2"}, "page.html", "s – Study – Kafka Bench"},
		} {
			got := l.invoke(t, append([]string{"run", write(t, tiny), "--cluster", "embedded", "--out", out}, c.args...)...)
			lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
			path, said := strings.CutPrefix(lines[len(lines)-1], "Page: ")
			page, err := os.ReadFile(path)
			if !said || !strings.HasSuffix(path, c.file) || err != nil || pageTitle(string(page)) != c.title || got.code != exitValid {
				t.Errorf("%v: exit code %d, %v, %q, the page is %q", c.args, got.code, err, lines[len(lines)-1], pageTitle(string(page)))
			}
		}
	})
}

func TestPageIsRefused(t *testing.T) {
	dir := t.TempDir()
	for file, want := range map[string]string{
		dir:                "--page " + dir + " is a folder; name a file, as in " + filepath.Join(dir, "page.html"),
		"/dev/null/p.html": "--page: open /dev/null/p.html: not a directory",
	} {
		wantBad(t, invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", dir, "--page="+file), want)
	}
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	if err := os.WriteFile(there, []byte("a page"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checkPage(there), checkPage(missing)); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(there)
	if _, left := os.Stat(missing); string(text) != "a page" || err != nil || left == nil {
		t.Errorf("after the check there is %q (%v), and for what was missing %v", text, err, left)
	}
}

func TestPageThatFails(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		invalid := "--set load.rate=1/h --set load.arrival=poisson" // no record is due
		for _, more := range []string{"", invalid, invalid + " --repeat 2"} {
			args := []string{"run", write(t, tiny), "--cluster", "embedded", "--out", t.TempDir(), "--page=/dev/full"}
			got := l.invoke(t, append(args, strings.Fields(more)...)...)
			said := strings.Contains(got.stderr, "the page could not be written") &&
				strings.Contains(got.stderr, "a run is invalid") == (more != "")
			if got.code != exitBadInput || !said {
				t.Errorf("%s: exit code %d, %q", more, got.code, got.stderr)
			}
		}
	})
}

func TestFinishedCampaignGetsItsPage(t *testing.T) {
	recorded(t)
	got := invoke(t, "run", "--resume", "runs/sweep-acks", "--page")
	page, err := os.ReadFile("runs/sweep-acks/page.html")
	if title := pageTitle(string(page)); err != nil || title != "sweep-acks – Study – Kafka Bench" ||
		!strings.HasSuffix(got.stderr, "Page: runs/sweep-acks/page.html\n") {
		t.Errorf("title %q, %v, exit code %d\n%s%s", title, err, got.code, got.stdout, got.stderr)
	}
}
