package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

type proof struct {
	tree    *tree
	changed map[string]bool // packages; nil chooses every group
	fresh   bool            // stamps do not count
	dir     string          // of stamps and logs
	stdout  io.Writer
	ended   []outcome
}

type outcome struct {
	group, result string
	took          time.Duration
}

// Another result is "left out", if a C compiler is missing.
const (
	passed      = "passed"
	stamped     = "stamped" // passed before, with the same files
	failed      = "FAILED"
	interrupted = "interrupted"
)

// grace is the time for an interrupted group to clean up.
const grace = 30 * time.Second

func open(ctx context.Context, dir string, stdout io.Writer) (*proof, error) {
	t, err := readTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &proof{tree: t, dir: filepath.Join(t.root, "bin", "proof"), stdout: stdout}, nil
}

// run continues after a failure.
func (p *proof) run(ctx context.Context, groups, chosen []group) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	var unchanged []string
	for _, g := range chosen {
		g, dirs, err := p.resolve(ctx, g, groups)
		if err != nil {
			return err
		}
		if p.changed != nil && !overlap(p.changed, dirs) {
			unchanged = append(unchanged, g.name)
			continue
		}
		if err := p.try(ctx, g, dirs); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(unchanged) > 0 {
		fmt.Fprintf(p.stdout, "not changed: %s\n", strings.Join(unchanged, ", "))
	}
	return p.conclude(ctx)
}

// resolve also returns the folders of all packages that the group depends on.
func (p *proof) resolve(ctx context.Context, g group, groups []group) (group, map[string]bool, error) {
	if g.rest {
		g.packages = []string{"./..."}
		rest, err := p.tree.list(ctx, g)
		if err != nil {
			return g, nil, err
		}
		for _, other := range groups {
			if !other.own {
				continue
			}
			dirs, err := p.tree.list(ctx, other)
			if err != nil {
				return g, nil, err
			}
			maps.DeleteFunc(rest, func(dir string, _ bool) bool { return dirs[dir] })
		}
		g.packages = nil
		for _, dir := range slices.Sorted(maps.Keys(rest)) {
			g.packages = append(g.packages, "./"+dir)
		}
	}
	dirs, err := p.tree.list(ctx, g, "-deps", "-test")
	return g, dirs, err
}

func overlap(a, b map[string]bool) bool {
	for dir := range a {
		if b[dir] {
			return true
		}
	}
	return false
}

// try runs a group, unless its stamp says that it passed with the same files. It computes the
// checksum before the run, so a change during the run does not count as passed.
func (p *proof) try(ctx context.Context, g group, dirs map[string]bool) error {
	sum, err := p.tree.checksum(g, dirs)
	if err != nil {
		return err
	}
	stamp := filepath.Join(p.dir, g.name+".stamp")
	if before, err := os.ReadFile(stamp); err == nil && string(before) == sum && !p.fresh {
		p.ended = append(p.ended, outcome{group: g.name, result: stamped})
		return nil
	}
	if err := os.RemoveAll(stamp); err != nil {
		return err
	}
	if compiler, found := p.compiler(ctx); g.cgo && !found {
		fmt.Fprintf(p.stdout, "%s: there is no C compiler (%s)\n", g.name, compiler)
		p.ended = append(p.ended, outcome{group: g.name, result: failed})
		return nil
	}
	start := time.Now()
	err = p.execute(ctx, g)
	result := passed
	switch {
	case ctx.Err() != nil:
		result = interrupted
	case err != nil:
		fmt.Fprintf(p.stdout, "%s: %v\n", g.name, err)
		result = failed
	}
	p.ended = append(p.ended, outcome{g.name, result, time.Since(start)})
	if result != passed {
		return nil
	}
	return os.WriteFile(stamp, []byte(sum), 0o644)
}

func (p *proof) compiler(ctx context.Context) (name string, found bool) {
	out, err := output(p.tree.command(ctx, "go", "env", "CC"))
	fields := strings.Fields(string(out))
	if err != nil || len(fields) == 0 {
		return "go env CC", false
	}
	_, err = exec.LookPath(fields[0])
	return fields[0], err == nil
}

// An interrupt or a timeout reaches every process that the command started.
func (p *proof) execute(ctx context.Context, g group) (err error) {
	log, err := os.Create(filepath.Join(p.dir, g.name+".log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, g.timeout+grace) // go test reports its own timeout first
	defer cancel()
	fmt.Fprintf(p.stdout, "== %s: %s\n", g.name, strings.Join(g.args(), " "))
	cmd := p.tree.command(ctx, g.args()[0], g.args()[1:]...)
	// The stamp covers the group's own settings, so the caller's are removed.
	cmd.Env = append(without(cmd.Environ(), "MAKEFLAGS", "MAKEOVERRIDES", "SOAK_KILLS", "FUZZ"), g.environment())
	cmd.Stdout = io.MultiWriter(p.stdout, log)
	cmd.Stderr = cmd.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	written, readErr := os.ReadFile(log.Name())
	for _, line := range slowest(string(written)) {
		fmt.Fprintln(p.stdout, line)
	}
	return errors.Join(err, readErr)
}

func without(env []string, names ...string) []string {
	return slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(names, name)
	})
}

var tested = regexp.MustCompile(`(?m)^(?:ok  |FAIL)\t(\S+)\t([0-9.]+)s`)

func slowest(log string) (lines []string) {
	type test struct {
		name    string
		seconds float64
	}
	var all []test
	for _, m := range tested.FindAllStringSubmatch(log, -1) {
		if seconds, err := strconv.ParseFloat(m[2], 64); err == nil {
			all = append(all, test{m[1], seconds})
		}
	}
	if len(all) < 2 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b test) int { return int(1000*b.seconds) - int(1000*a.seconds) })
	lines = append(lines, "slowest packages:")
	for _, t := range all[:min(10, len(all))] {
		lines = append(lines, fmt.Sprintf("%8.1f s  %s", t.seconds, t.name))
	}
	return lines
}

func (p *proof) conclude(ctx context.Context) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	var bad []string
	for _, o := range p.ended {
		took := ""
		if o.took > 0 {
			took = o.took.Round(time.Second).String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", o.group, o.result, took)
		if o.result == failed {
			bad = append(bad, o.group)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("interrupted; the next call goes on here: %w", err)
	}
	if len(bad) > 0 {
		return fmt.Errorf("failed: %s; run one by itself with make proof ONLY=%s", strings.Join(bad, ", "), bad[0])
	}
	return nil
}
