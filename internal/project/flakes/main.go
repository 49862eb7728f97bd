// Command flakes runs the quick tests and all tests again and again while every processor is busy,
// and reports what fails. It finds tests that depend on the machine's speed.
//
//	make flakes             20 times make quick, 5 times make test
//	make flakes QUICK=3 TEST=0
//	make flakes BUSY=4      four busy loops for each processor; 1 without BUSY
//
// The output of each failed call is in bin/flakes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, ".", os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errInput):
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// Wrong arguments: nothing ran.
var errInput = errors.New("flakes")

func run(ctx context.Context, dir string, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("flakes", flag.ContinueOnError)
	quick := flags.Int("quick", 20, "how often make quick runs")
	test := flags.Int("test", 5, "how often make test runs")
	busy := flags.Int("busy", 1, "busy loops for each processor")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	if *quick < 0 || *test < 0 || *quick+*test == 0 || *busy < 0 || flags.NArg() > 0 {
		return fmt.Errorf("%w: QUICK and TEST are numbers of calls; at least one is above 0; BUSY is a number of loops",
			errInput)
	}
	logs := filepath.Join(dir, "bin", "flakes")
	if err := errors.Join(os.RemoveAll(logs), os.MkdirAll(logs, 0o755)); err != nil {
		return err
	}
	defer keepBusy(*busy * runtime.NumCPU())()
	failures := make(map[string]int)
	failed := 0
	for i := range *quick + *test {
		target, number := "quick", i+1
		if i >= *quick {
			target, number = "test", i+1-*quick
		}
		start := time.Now()
		out, err := call(ctx, dir, target)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d calls, %d of them failed", i, failed)
		}
		result := "passed"
		if err != nil {
			failed++
			result = err.Error()
			for _, name := range failing(string(out)) {
				failures["make "+target+": "+name]++
			}
			log := filepath.Join(logs, fmt.Sprintf("%s-%d.log", target, number))
			if err := os.WriteFile(log, out, 0o644); err != nil {
				return err
			}
		}
		fmt.Fprintf(stdout, "make %s %d: %s, %v\n", target, number, result, time.Since(start).Round(time.Second))
	}
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		fmt.Fprintf(stdout, "%3d × %s\n", failures[name], name)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d calls failed; their output is in %s", failed, *quick+*test, logs)
	}
	return nil
}

// Each loop has a thread of its own, so that the system shares the processors among them and the tests.
func keepBusy(loops int) (stop func()) {
	var done atomic.Bool
	runtime.GOMAXPROCS(loops + 1) // one for the rest of this program
	for range loops {
		go func() {
			for !done.Load() {
			}
		}()
	}
	return func() { done.Store(true) }
}

// An interrupt reaches every process that make started.
func call(ctx context.Context, dir, target string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "make", target)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "MAKEFLAGS=") // BUSY, QUICK and TEST are not for this make
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	return cmd.CombinedOutput()
}

var (
	failedTest    = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)
	failedPackage = regexp.MustCompile(`^FAIL\t(\S+)`)
)

// failing returns the failed tests, each after its package. A package that failed without a failed
// test is listed alone. If nothing is listed, failing returns the last line.
func failing(output string) (names []string) {
	var tests []string
	last := ""
	for line := range strings.Lines(output) {
		if m := failedTest.FindStringSubmatch(line); m != nil {
			tests = append(tests, m[1])
		} else if m := failedPackage.FindStringSubmatch(line); m != nil {
			for _, test := range tests {
				names = append(names, m[1]+" "+test)
			}
			if len(tests) == 0 {
				names = append(names, m[1])
			}
			tests = nil
		}
		last = strings.TrimSpace(line)
	}
	if len(names) == 0 {
		names = []string{last}
	}
	return names
}
