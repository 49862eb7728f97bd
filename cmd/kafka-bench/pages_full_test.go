//go:build full

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

type shownState struct {
	EndNs *int64 `json:"end_ns"`
	Ended bool   `json:"ended"`
	Page  string `json:"page"`
}

// At the end the page equals the report's, and no process is left.
func TestRunShowsItself(t *testing.T) {
	t.Chdir(t.TempDir())
	said, stderr, ended := newLines(), &bytes.Buffer{}, make(chan int, 1)
	args := []string{"run", "quick", "--cluster", "embedded", "--web", "--metrics", "127.0.0.1:0"}
	go func() { ended <- exitCode(stderr, surroundings{}.run(t.Context(), args, io.Discard, said)) }()
	url, metrics := said.after(t, "page: "), said.after(t, "metrics: ")
	events, leave := openTab(t, url)
	var last shownState
	shown, inTime := 0, 0
	for !last.Ended {
		before := last
		last = nextState(t, events)
		if last.EndNs != nil && (before.EndNs == nil || *before.EndNs != *last.EndNs) {
			shown++
			if newer := writtenAfter(t, *last.EndNs); newer < 2 {
				inTime++
			}
		}
	}
	// The page has a low priority, so a busy machine may show some intervals late.
	if shown < 5 || 2*inTime <= shown {
		t.Errorf("%d intervals were shown, %d of them before the second after them was written", shown, inTime)
	}
	page := download(t, strings.TrimSuffix(url, "/")+last.Page)
	leave()
	var scraped string
	for { // until the process has ended
		answer, err := http.Get(metrics)
		if err != nil {
			break
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		scraped = string(text)
	}
	if code := <-ended; code > exitInvalid || stderr.Len() > 0 { // a busy machine makes a run invalid
		t.Errorf("exit code %d: %s", code, stderr)
	}
	dir := onlyRun(t, "runs").Dir
	report := invoke(t, "report", dir, "--format", "html")
	if got, want := mainPart(page), mainPart(report.stdout); got != want || want == "" {
		t.Errorf("the page of the run has %d bytes, that of its report %d", len(got), len(want))
	}
	if !strings.Contains(scraped, `phase="ended"`) {
		t.Errorf("the last scrape is not of the end:\n%.300s", scraped)
	}
	if c, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(url, "http:"), "/")); err == nil {
		c.Close()
		t.Error("the page is still served")
	}
}

func openTab(t *testing.T, url string) (events *bufio.Reader, leave func()) {
	t.Helper()
	answer, err := http.Get(url + "events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return bufio.NewReader(answer.Body), func() { answer.Body.Close() }
}

func nextState(t *testing.T, events *bufio.Reader) (s shownState) {
	t.Helper()
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if text, some := strings.CutPrefix(line, "data: "); some {
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
}

func writtenAfter(t *testing.T, endNs int64) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("runs", "*", result.IntervalsFile))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var i result.Interval
		if json.Unmarshal(line, &i) == nil && i.EndNs > endNs {
			n++
		}
	}
	return n
}

func download(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, answer.Status, err)
	}
	return string(text)
}

func mainPart(page string) string {
	_, rest, _ := strings.Cut(page, "<main")
	main, _, _ := strings.Cut(rest, "</main>")
	return main
}

func TestCampaignAndSearchShowThemselves(t *testing.T) {
	t.Chdir(t.TempDir())
	file := write(t, tiny)
	for kind, args := range map[string][]string{
		"Study":  {"run", file, "--repeat", "2"},
		"Search": {"search", file, "--max-probes", "4", "--probe", "300ms", "--confirm", "300ms"},
	} {
		said, stderr, ended := newLines(), &bytes.Buffer{}, make(chan int, 1)
		go func() {
			err := surroundings{}.run(t.Context(), append(args, "--cluster", "embedded", "--web"), io.Discard, io.MultiWriter(said, stderr))
			ended <- exitCode(stderr, err)
		}()
		url := said.after(t, "page: ")
		events, leave := openTab(t, url)
		var last shownState
		for !last.Ended {
			last = nextState(t, events)
		}
		title := pageTitle(download(t, strings.TrimSuffix(url, "/")+last.Page))
		leave()
		if code := <-ended; !strings.Contains(title, "– "+kind+" –") || code > exitInvalid || strings.Contains(stderr.String(), "lost") {
			t.Errorf("%v: exit code %d, title %q\n%s", args, code, title, stderr)
		}
	}
}
