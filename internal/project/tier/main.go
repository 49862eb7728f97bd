// Command tier runs `go test` with its arguments and prints the slowest and the failed packages at
// the end. With -kafka, it also starts one real Kafka broker that the tests of all packages share
// (package clustertest).
//
//	tier -short ./...
//	tier -kafka -tags full ./...
//	tier -check            only look for what -kafka needs
//
// Files to know: main.go, broker.go, timing.go.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err == nil {
		return
	}
	if !errors.Is(err, errTests) { // go test has printed the reason
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(1)
}

var errTests = errors.New("go test")

// A first argument -kafka starts the broker, and -check only looks for what -kafka needs.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 1 && args[0] == "-check" {
		return checkTools(ctx)
	}
	if len(args) == 0 || args[0] != "-kafka" {
		return goTest(ctx, args, os.Environ(), stdout)
	}
	if err := checkTools(ctx); err != nil {
		return err
	}
	name, down, err := up(ctx)
	if err != nil {
		return err
	}
	defer down()
	return goTest(ctx, args[1:], append(os.Environ(), clustertest.Variable+"="+name), stdout)
}

const slowest = 10

// endTimeout bounds the tests' cleanup after a signal.
const endTimeout = 30 * time.Second

func goTest(ctx context.Context, args, env []string, stdout io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.Env, cmd.Stderr, cmd.WaitDelay = env, os.Stderr, endTimeout
	// go test does not forward signals, so the signal goes to the whole group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	var packages []timing
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(stdout, lines.Text())
		if t, ok := parse(lines.Text()); ok {
			packages = append(packages, t)
		}
	}
	_, _ = io.Copy(stdout, out)
	failed := cmd.Wait()
	summarise(stdout, packages, time.Since(began))
	if exit := (*exec.ExitError)(nil); errors.As(failed, &exit) {
		return errTests
	}
	return failed
}

func summarise(w io.Writer, packages []timing, took time.Duration) {
	slices.SortStableFunc(packages, func(a, b timing) int { return int(b.took - a.took) })
	fmt.Fprintf(w, "\n%d packages in %v; the slowest:\n", len(packages), took.Round(100*time.Millisecond))
	for _, t := range packages[:min(slowest, len(packages))] {
		fmt.Fprintf(w, "%8.1f s  %s\n", t.took.Seconds(), t.name)
	}
	for _, t := range packages {
		if t.failed {
			fmt.Fprintf(w, "FAILED: %s; its output is above, at \"--- FAIL\"\n", t.name)
		}
	}
}
