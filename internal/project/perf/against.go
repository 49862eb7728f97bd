package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

const againstWord = "against"

// A benchmark became slower if the whole interval of after ÷ before is above accepted.
const accepted = 1.02

// fewestRounds is the smallest number of rounds with an interval of 95 %.
const fewestRounds = 4

var (
	errInput  = errors.New("perf against")
	errSlower = errors.New("slower than before")
)

// hotPath is a package and the pattern of those of its benchmarks that measure code whose speed
// matters. was is the package's folder in earlier commits.
type hotPath struct{ pkg, pattern, was string }

func (p hotPath) in(tree string) string {
	if _, err := os.Stat(filepath.Join(tree, p.pkg)); p.was != "" && errors.Is(err, fs.ErrNotExist) {
		return p.was
	}
	return p.pkg
}

const producedAndPolled = `^Benchmark(Produce|Consume)$/^driver(,_batches_of_1000)?$`

var hotPaths = []hotPath{
	{pkg: "internal/load/send", pattern: "^BenchmarkProduce$/^everything", was: "internal/load"},
	{pkg: "internal/load/receive", pattern: "^BenchmarkDelivery$/clock"},
	{pkg: "internal/measure/latency", pattern: "."},
	{pkg: "internal/measure/ledger", pattern: "."},
	{pkg: "internal/lagcontrol", pattern: ".", was: "backpressure"},
	{pkg: "internal/kafka/driver/franz", pattern: producedAndPolled},
	{pkg: "internal/kafka/driver/sarama", pattern: producedAndPolled},
	{pkg: "internal/kafka/driver/segmentio", pattern: producedAndPolled},
	{pkg: "kmq", pattern: "."},
	{pkg: "kmq/internal/lease", pattern: "."},
	{pkg: "kmq/internal/marker", pattern: "."},
	{pkg: "kmq/internal/member", pattern: "."},
	{pkg: "kmq/internal/offsetmap", pattern: "^Benchmark(Engine|Encode|Decode)$"},
	{pkg: "kmq/internal/plain", pattern: "."},
	{pkg: "kmq/internal/tracker", pattern: "."},
	{pkg: "kmq/internal/window", pattern: "."},
}

type comparison struct {
	paths     []hotPath
	trees     [2]string
	binaries  string
	benchtime string                   // for each benchmark in each round
	figures   map[string]*[2][]float64 // nanoseconds of each round, by benchmark
	stderr    io.Writer
}

// The error is errSlower if a hot path became slower.
func against(ctx context.Context, dir string, paths []hotPath, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("perf against", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 10, "how often each benchmark runs in each tree")
	benchtime := flags.String("benchtime", "100ms", "for each benchmark in each round, as of go test")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	if *rounds < fewestRounds {
		return fmt.Errorf("%w: -rounds %d: fewer than %d have no interval", errInput, *rounds, fewestRounds)
	}
	temporary, err := os.MkdirTemp("", "perf-against-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	base := filepath.Join(temporary, "base")
	if err := addWorktree(ctx, dir, flags.Args(), base); err != nil {
		return err
	}
	defer func() {
		// also after an interrupt
		_, failed := command(context.WithoutCancel(ctx), dir, "git", "worktree", "remove", "--force", base)
		err = errors.Join(err, failed)
	}()
	c := &comparison{
		paths: paths, trees: [2]string{base, dir}, binaries: temporary, benchtime: *benchtime,
		figures: make(map[string]*[2][]float64), stderr: stderr,
	}
	if err := c.compile(ctx); err != nil {
		return err
	}
	for round := range *rounds {
		fmt.Fprintf(stderr, "round %d of %d\n", round+1, *rounds)
		if err := c.round(ctx, round); err != nil {
			return err
		}
	}
	return c.report(stdout)
}

func addWorktree(ctx context.Context, dir string, args []string, base string) error {
	if len(args) != 1 || args[0] == "" {
		return fmt.Errorf("%w: give the commit to compare with: make perf-against BASE=REF", errInput)
	}
	commit := args[0] + "^{commit}"
	if _, err := command(ctx, dir, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", commit); err != nil {
		return fmt.Errorf("%w: BASE=%s: git knows no such commit", errInput, args[0])
	}
	_, err := command(ctx, dir, "git", "worktree", "add", "--quiet", "--detach", base, args[0])
	return err
}

// A package that a tree does not have gets no binary.
func (c *comparison) compile(ctx context.Context) error {
	for side, tree := range c.trees {
		for _, path := range c.paths {
			folder := path.in(tree)
			if _, err := os.Stat(filepath.Join(tree, folder)); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			fmt.Fprintf(c.stderr, "compiling %s, %s\n", path.pkg, [...]string{"before", "after"}[side])
			_, err := command(ctx, tree, "go", "test", "-c", "-tags=full,proof", "-o", c.binary(side, path), "./"+folder)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *comparison) binary(side int, path hotPath) string {
	return filepath.Join(c.binaries, fmt.Sprintf("%d-%s.test", side, strings.ReplaceAll(path.pkg, "/", "-")))
}

// The trees alternate after each package, so that drift of the machine affects both alike. The tree
// that comes first changes with each round.
func (c *comparison) round(ctx context.Context, round int) error {
	for _, path := range c.paths {
		for turn := range c.trees {
			side := (round + turn) % len(c.trees)
			binary := c.binary(side, path)
			if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			out, err := command(ctx, filepath.Join(c.trees[side], path.in(c.trees[side])), binary,
				"-test.run=^$", "-test.bench="+path.pattern, "-test.benchtime="+c.benchtime, "-test.timeout=10m")
			if err != nil {
				return fmt.Errorf("%s: %w", path.pkg, err)
			}
			c.keep(side, path.pkg, out)
		}
	}
	return nil
}

// keep prefers CPU time, which other processes affect least.
func (c *comparison) keep(side int, pkg string, output []byte) {
	for r := benchfmt.NewReader(bytes.NewReader(output), pkg); r.Scan(); {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		seconds, ok := result.Value("cpu-sec/record")
		if !ok {
			seconds, ok = result.Value("sec/op")
		}
		if !ok || seconds <= 0 {
			continue
		}
		name := pkg + " " + strings.TrimSuffix(result.Name.String(), fmt.Sprintf("-%d", runtime.GOMAXPROCS(0)))
		if c.figures[name] == nil {
			c.figures[name] = new([2][]float64)
		}
		c.figures[name][side] = append(c.figures[name][side], seconds*1e9)
	}
}

// A new benchmark is not judged. A missing benchmark is an error, because a rename could hide that
// it became slower.
func (c *comparison) report(stdout io.Writer) error {
	t := layout.Table{Rows: [][]string{{"", "before", "after", "after ÷ before", "95 % interval", ""}}}
	slower, gone, judged := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(c.figures)) {
		before, after := c.figures[name][0], c.figures[name][1]
		switch {
		case len(before) == 0:
			t.Add(name, "", nanoseconds(after), "", "", "new")
		case len(after) == 0:
			t.Add(name, nanoseconds(before), "", "", "", "gone")
			gone++
		default:
			judged++
			ratio, low, high := ratioOf(before, after)
			judgement := "ok"
			if low > accepted {
				judgement = "SLOWER"
				slower++
			}
			interval := fmt.Sprintf("%.3f–%.3f", low, high)
			t.Add(name, nanoseconds(before), nanoseconds(after), fmt.Sprintf("%.3f", ratio), interval, judgement)
		}
	}
	fmt.Fprint(stdout, t.Markdown())
	switch {
	case slower > 0:
		return fmt.Errorf("%w: of %d of %d benchmarks the whole interval is above %v", errSlower, slower, judged, accepted)
	case gone > 0:
		return fmt.Errorf("%d benchmarks are gone: compare them under their new names, or accept by hand that they are", gone)
	case judged == 0:
		return errors.New("the two trees have no benchmark in common")
	}
	return nil
}

// ratioOf compares the logarithms by ranks. The interval is of 95 %.
func ratioOf(before, after []float64) (ratio, low, high float64) {
	logs := func(xs []float64) (ys []float64) {
		for _, x := range xs {
			ys = append(ys, math.Log(x))
		}
		return ys
	}
	shift := stats.Compare(logs(before), logs(after), 0.05)
	return math.Exp(shift.Shift), math.Exp(shift.ShiftLow), math.Exp(shift.ShiftHigh)
}

func nanoseconds(xs []float64) string {
	return fmt.Sprintf("%.4g ns", stats.Summarise(xs, 0.95).Median)
}

func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", filepath.Base(name), err, out, stderr.Bytes())
	}
	return out, nil
}
