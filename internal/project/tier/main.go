// Command tier runs `go test` with its arguments and prints the slowest and the failed packages at
// the end. With -kafka, it also starts one real Kafka broker that the tests of all packages share
// (package clustertest). What the machine can't run is left out, and listed in bin/left-out.
//
//	tier -short ./...
//	tier -kafka -tags full ./...
//	tier -kafka -tags full ./... -- CGO_ENABLED=1 -tags full,librdkafka ./x    one go test after the other
//	tier -check            only look for what would be left out; with CI=true that is an error
//
// Files to know: main.go, broker.go, leftout.go, timing.go; measured.sh (CPU time of a command).
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
	"regexp"
	"slices"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/project/needs"
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
	if len(args) == 0 || args[0] != "-check" && args[0] != "-kafka" {
		return goTest(ctx, args, os.Environ(), stdout)
	}
	out, err := lookFor(ctx)
	if err != nil {
		return err
	}
	if args[0] == "-check" {
		return out.check(stdout, os.Getenv("CI") == "true")
	}
	defer out.close()
	env := append(os.Environ(), out.environment()...)
	if !out.lacks(needs.Kafka) {
		name, down, err := up(ctx)
		if err != nil {
			return err
		}
		defer down()
		env = append(env, clustertest.Variable+"="+name)
	}
	for len(args) > 0 {
		part := args[1:]
		if i := slices.Index(part, "--"); i >= 0 {
			part = part[:i]
		}
		args = args[1+len(part):]
		set := 0
		for set < len(part) && assignment.MatchString(part[set]) {
			set++
		}
		err = errors.Join(err, goTest(ctx, part[set:], slices.Concat(env, part[:set]), stdout))
	}
	return errors.Join(err, out.write())
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

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
