// Command perf measures Kafka Bench itself: what measuring costs, and whether the promised load is
// the offered load.
//
// It compares the tool with clients that only produce or consume: a minimal franz-go loop, and
// Kafka's own performance tools. All use one real broker with the same records and settings. They
// alternate (A B C A B C …), so that drift of the machine affects all alike. The result is the
// ratio of the medians; absolute figures depend on this machine.
//
// With the argument "against" and a commit, it compares the hot paths of the work tree and the
// commit, by their common benchmarks.
//
// It prints the tables to standard output as Markdown, and progress to standard error.
//
// Files to know: produce.go, consume.go, open.go, memory.go, agents.go, rounds.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

const workerWord = "worker"

func main() {
	if len(os.Args) == 2 && os.Args[1] == workerWord {
		serve()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) > 1 && os.Args[1] == againstWord {
		err = against(ctx, ".", hotPaths, os.Args[2:], os.Stdout, os.Stderr)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "perf:", err)
	if errors.Is(err, errInput) {
		os.Exit(2)
	}
	os.Exit(1)
}

func serve() {
	signal.Ignore(os.Interrupt) // the other process ends this one
	franzAlone := func(string) (driver.Driver, error) { return franz.New(), nil }
	if err := bench.Worker(context.Background(), os.Stdin, os.Stdout, franzAlone); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

type plan struct {
	subjects []string
	rounds   int
	measure  time.Duration // of one closed-loop measurement, and of one open-loop run
	memory   time.Duration // of the run that observes the memory
	profiles string        // folder for CPU profiles; empty is none
	data     string        // folder for the broker's log; empty is the user's cache
}

// warmup is for connections, the broker's JIT compiler and the pools.
const warmup = 2 * time.Second

var subjects = []struct {
	name    string
	always  bool // measured by default
	measure func(*lab, context.Context) error
}{
	{"produce", true, (*lab).produce},
	{"consume", true, (*lab).consume},
	{"ceiling", true, (*lab).ceiling},
	{"open", true, (*lab).open},
	{"baseline", true, (*lab).baseline},
	{"agents", true, (*lab).agents},
	{"memory", false, (*lab).memory},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	p, err := parse(args, stderr)
	if err != nil {
		return err
	}
	l, err := openLab(ctx, p, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	l.describe()
	for _, s := range subjects {
		if !slices.Contains(p.subjects, s.name) {
			continue
		}
		if err := s.measure(l, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func parse(args []string, stderr io.Writer) (plan, error) {
	var p plan
	var known, usual []string
	for _, s := range subjects {
		known = append(known, s.name)
		if s.always {
			usual = append(usual, s.name)
		}
	}
	flags := flag.NewFlagSet("perf", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", strings.Join(usual, ","), "what to measure: "+strings.Join(known, ", "))
	seconds := flags.Float64("seconds", 8, "length of each measurement")
	flags.IntVar(&p.rounds, "rounds", 3, "how often each is measured, in turns")
	flags.DurationVar(&p.memory, "memory", 10*time.Minute, "length of the run that watches the memory, above 1m")
	flags.StringVar(&p.profiles, "profiles", "", "folder for a processor profile of each closed-loop measurement")
	flags.StringVar(&p.data, "data", "", "folder for the broker's log, such as one in memory; without it, the user's cache")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	p.measure = time.Duration(*seconds * float64(time.Second))
	p.subjects = strings.Split(*only, ",")
	for _, name := range p.subjects {
		if !slices.Contains(known, name) {
			return plan{}, fmt.Errorf("-only %s: there is no subject %q; choose from %s", *only, name, strings.Join(known, ", "))
		}
	}
	switch {
	case flags.NArg() > 0:
		return plan{}, fmt.Errorf("%q is not a flag; there are no other arguments", flags.Arg(0))
	case p.rounds < 1:
		return plan{}, fmt.Errorf("-rounds %d: give at least 1", p.rounds)
	case p.measure < time.Second:
		return plan{}, fmt.Errorf("-seconds %v: give at least 1", *seconds)
	case p.memory <= time.Minute:
		return plan{}, fmt.Errorf("-memory %v: the end is compared with the first minute; give more than 1m", p.memory)
	}
	return p, nil
}
