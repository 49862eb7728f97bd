package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/childenv"
	"kafkabench.example/kafka-bench/internal/show/web"
)

const pagesName = "pages"

// pagesCommand serves pages for a run, on at most one core and at a low priority. The run sends the
// content over standard input.
func pagesCommand() *cobra.Command {
	return &cobra.Command{
		Use: pagesName, Hidden: true, Args: cobra.NoArgs,
		Short: "Serve the page of a run; only a run calls this",
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(ends...) // the run decides when this process ends
			giveWay()
			return web.Serve(c.Context(), os.Stdin, os.Stdout)
		},
	}
}

type pagesFlags struct {
	web       string // address of the page; "" is none
	metrics   string // address of the metrics; "" is none
	tokenFile string // file with the bearer token of a scrape
}

// anyFree is the address of the page for --web without a value.
const anyFree = "127.0.0.1:0"

func addPages(c *cobra.Command, flags *pagesFlags) {
	f := c.Flags()
	f.StringVar(&flags.web, "web", "", "show what goes on in a browser: on a free port of this machine, or at `ADDRESS`")
	f.Lookup("web").NoOptDefVal = anyFree
	addMetrics(c, flags)
}

func addMetrics(c *cobra.Command, flags *pagesFlags) {
	f := c.Flags()
	f.StringVar(&flags.metrics, "metrics", "",
		"a loopback address for Prometheus, as 127.0.0.1:9464 (port 0: any that is free)")
	f.StringVar(&flags.tokenFile, "metrics-token-file", "",
		"a file with the bearer token that a scrape must have; then the address of --metrics may be any")
}

func (f pagesFlags) words() (words []string) {
	switch f.web {
	case "":
	case anyFree:
		words = append(words, "--web")
	default:
		words = append(words, "--web="+f.web)
	}
	if f.metrics != "" {
		words = append(words, "--metrics", f.metrics)
	}
	if f.tokenFile != "" {
		words = append(words, "--metrics-token-file", f.tokenFile)
	}
	return words
}

const shortestToken = 16 // bytes

func (f pagesFlags) options(args ...string) (o web.Options, err error) {
	var faults []error
	for _, arg := range args {
		if _, err := web.ParseAddress(arg); err == nil && f.web == anyFree {
			faults = append(faults, fmt.Errorf("--web has its address behind an equals sign: write --web=%s", arg))
		}
	}
	parse := func(flag, text string) *web.Address {
		if text == "" {
			return nil
		}
		a, err := web.ParseAddress(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", flag, err))
			return nil
		}
		return &a
	}
	o.Page, o.Metrics = parse("--web", f.web), parse("--metrics", f.metrics)
	if f.tokenFile != "" {
		text, err := os.ReadFile(f.tokenFile)
		o.Token = strings.TrimSpace(string(text))
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("--metrics-token-file: %w", err))
		case len(o.Token) < shortestToken || strings.ContainsAny(o.Token, " \t\r\n"):
			faults = append(faults, fmt.Errorf("--metrics-token-file %s: a token is one word of %d characters or more, "+
				"as from: openssl rand -hex 16", f.tokenFile, shortestToken))
		case f.metrics == "":
			faults = append(faults, errors.New("--metrics-token-file is for --metrics; add that, or leave it out"))
		}
	} else if o.Metrics != nil && !o.Metrics.Loopback() {
		faults = append(faults, fmt.Errorf("--metrics %s: %w", f.metrics, web.ErrReached))
	}
	return o, errors.Join(faults...)
}

const startTimeout = 10 * time.Second

type watched struct {
	pages *web.Pages // nil: none requested
	cmd   *exec.Cmd
	warn  func(string)
}

// openPages starts the process that serves the pages, and prints the addresses. After an error no
// process runs.
func (r *rig) openPages(stderr io.Writer) (*watched, error) {
	if r.served.Page == nil && r.served.Metrics == nil {
		return &watched{}, nil
	}
	w := &watched{warn: r.progress}
	if err := w.start(r.served); err != nil {
		return nil, err
	}
	if w.pages.URL != "" {
		tellPage(w.pages.URL, w.pages.Warning, stderr, stderr)
	}
	if w.pages.Metrics != "" {
		fmt.Fprintf(stderr, "metrics: %s\n", w.pages.Metrics)
	}
	say := r.progress
	r.progress = func(text string) {
		say(text)
		w.pages.Status(text)
	}
	r.pages = w.pages
	return w, nil
}

func (w *watched) start(o web.Options) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the program's own file: %w", err)
	}
	w.cmd = exec.Command(program, pagesName)
	w.cmd.Stderr = os.Stderr
	w.cmd.Env = append(childenv.Program(), "GOMAXPROCS=1")
	apart(w.cmd)
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := w.cmd.Start(); err != nil {
		return fmt.Errorf("starting the process of the page: %w", err)
	}
	hangs := time.AfterFunc(startTimeout, func() { _ = w.cmd.Process.Kill() })
	defer hangs.Stop()
	o.Warn = func(text string) { w.warn("warning: " + text) }
	if w.pages, err = web.Connect(in, out, o); err != nil {
		_ = in.Close()
		_ = w.cmd.Wait()
		return err
	}
	return nil
}

// close waits until open pages are complete.
func (w *watched) close() {
	if w.pages == nil {
		return
	}
	w.pages.Finish()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	if n := w.pages.Dropped(); n > 0 {
		w.warn(fmt.Sprintf("the page missed %d updates: its process was too slow", n))
	}
}
