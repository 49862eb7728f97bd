package main

import (
	"context"
	"html"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type lines struct {
	text chan string
	part string
}

func newLines() *lines { return &lines{text: make(chan string, 10_000)} }

func (l *lines) Write(p []byte) (int, error) {
	l.part += string(p)
	for {
		line, rest, whole := strings.Cut(l.part, "\n")
		if !whole {
			return len(p), nil
		}
		l.text <- line
		l.part = rest
	}
}

func (l *lines) after(t *testing.T, begin string) string {
	t.Helper()
	for deadline := time.After(invokeTimeout); ; {
		select {
		case line := <-l.text:
			if rest, found := strings.CutPrefix(line, begin); found {
				return rest
			}
		case <-deadline:
			t.Fatalf("no line begins with %q", begin)
		}
	}
}

func TestServe(t *testing.T) {
	recorded(t)
	ctx, stop := context.WithCancel(t.Context())
	said, stderr := newLines(), newLines()
	in, ended := surroundings{signals: func(c chan<- os.Signal) { go func() { <-ctx.Done(); c <- os.Interrupt }() }}, make(chan int, 1)
	go func() {
		ended <- exitCode(stderr, in.run(t.Context(), []string{"serve", "runs", "--listen", "127.0.0.1:0"}, said, stderr))
	}()
	url := said.after(t, "page: ")
	for _, page := range []string{"", "runs/base-1", "campaigns/sweep-acks", "compare?a=base-1&b=slow-1"} {
		answer, err := http.Get(url + page)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %s", page, answer.Status)
		}
	}
	stop()
	if code := <-ended; code != exitValid || len(stderr.text) > 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestExport(t *testing.T) {
	recorded(t)
	got := invoke(t, "serve", "runs", "--export", "site")
	if _, err := os.Stat(filepath.Join("site", "runs", "base-1.html")); err != nil || got.code != exitValid ||
		!strings.HasSuffix(got.stdout, " pages in site; begin with index.html\n") {
		t.Errorf("exit code %d, %v: %q %q", got.code, err, got.stdout, got.stderr)
	}
	for title, args := range map[string][]string{
		"Kafka Bench runs": {"--export", "default"}, "A & B": {"--title", "A & B", "--export", "titled"},
	} {
		invoke(t, append([]string{"serve", "runs"}, args...)...)
		index, err := os.ReadFile(filepath.Join(args[len(args)-1], "index.html"))
		if err != nil || !strings.Contains(string(index), "<h1>"+html.EscapeString(title)+"</h1>") {
			t.Errorf("%v: no title %s, %v", args, title, err)
		}
	}
	wantBad(t, invoke(t, "serve", "runs", "--export", "site"),
		"--export: site is not empty; name a folder that is, or one that does not exist")
}

func TestPagesAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().String()
	for file, text := range map[string]string{"s.yaml": tiny, "short": "secret\n", "long": "0123456789abcdef\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const form = "write it as 127.0.0.1:8780, or 127.0.0.1:0 for a port that is free"
	occupied := taken + ": another program listens there; choose another port, or 0 for any that is free"
	for args, want := range map[string]string{
		"run s.yaml --cluster embedded --web=" + taken:    "--web: " + occupied,
		"search s.yaml --cluster embedded --web=" + taken: "--web: " + occupied,
		"run s.yaml --web=8780":                           `--web: "8780" is no address; ` + form,
		"search s.yaml --web=8780":                        `--web: "8780" is no address; ` + form,
		"run --resume runs/none --web=8780":               `--web: "8780" is no address; ` + form,
		"run s.yaml --metrics 127.0.0.1:http":             `--metrics: "127.0.0.1:http" has no port from 0 to 65535; write it as 127.0.0.1:8780`,
		"run s.yaml --metrics 0.0.0.0:9464": "--metrics 0.0.0.0:9464: choose a loopback address, as 127.0.0.1:9464, " +
			"or name a token with --metrics-token-file: other machines reach this one",
		"run s.yaml --metrics 0.0.0.0:9464 --metrics-token-file short": "--metrics-token-file short: a token is one word of " +
			"16 characters or more, as from: openssl rand -hex 16",
		"run s.yaml --metrics-token-file long":       "--metrics-token-file is for --metrics; add that, or leave it out",
		"serve none":                                 "there is no folder none; name the one that the runs are in",
		"serve . --listen " + taken:                  "--listen: " + occupied,
		"serve . --export site --listen 127.0.0.1:0": "--export serves nothing; leave --listen out",
	} {
		wantBad(t, invoke(t, strings.Fields(args)...), want)
	}
	got := invoke(t, "run", "s.yaml", "--web", "127.0.0.1:8780")
	if !strings.Contains(got.stderr, "--web has its address behind an equals sign: write --web=127.0.0.1:8780") || got.code != exitBadInput {
		t.Errorf("exit code %d, %q", got.code, got.stderr)
	}
	wantNothing(t, "runs")
}
