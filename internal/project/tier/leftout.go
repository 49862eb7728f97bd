package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/needs"
)

// leftOut is what this machine lacks, and a folder with a list of tests for each need.
type leftOut struct {
	missing []needs.Need
	dir     string
}

// leftOutFile has the last lines of make test.
const leftOutFile = "bin/left-out"

func lookFor(ctx context.Context) (leftOut, error) {
	home, err := cluster.UserHome()
	if err != nil {
		return leftOut{}, err
	}
	compiler, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return leftOut{}, fmt.Errorf("go env CC: %w", err)
	}
	_, noPrometheus := exec.LookPath("prometheus")
	_, noPromtool := exec.LookPath("promtool")
	_, noCompiler := exec.LookPath(strings.TrimSpace(string(compiler)))
	var out leftOut
	for _, looked := range []struct {
		need needs.Need
		err  error
	}{
		{needs.Kafka, home.CanRunKafka(ctx, "")},
		{needs.Prometheus, errors.Join(noPrometheus, noPromtool)},
		{needs.Compiler, noCompiler},
	} {
		if looked.err != nil {
			out.missing = append(out.missing, looked.need)
		}
	}
	out.dir, err = os.MkdirTemp("", "kafka-bench-left-out-")
	return out, err
}

func (l leftOut) close() { _ = os.RemoveAll(l.dir) }

func (l leftOut) lacks(n needs.Need) bool { return slices.Contains(l.missing, n) }

func (l leftOut) check(stdout io.Writer, ci bool) error {
	l.close()
	for _, n := range l.missing {
		if !ci {
			fmt.Fprintf(stdout, "%s will be left out: they need %s\n", n.Tests, n.Program)
		}
	}
	if !ci || len(l.missing) == 0 {
		return nil
	}
	var programs, packages []string
	for _, n := range l.missing {
		programs, packages = append(programs, n.Program), append(packages, n.Packages)
	}
	return fmt.Errorf("with CI=true nothing may be left out, and this machine lacks %s; on Debian install: %s",
		strings.Join(programs, ", "), strings.Join(packages, " "))
}

func (l leftOut) list(n needs.Need) string {
	return filepath.Join(l.dir, strings.Fields(n.Packages)[0])
}

func (l leftOut) environment() (env []string) {
	for _, n := range l.missing {
		env = append(env, n.Without(l.list(n)))
	}
	return env
}

func (l leftOut) write() error {
	var b bytes.Buffer
	if len(l.missing) == 0 {
		b.WriteString("nothing was left out\n")
	}
	for _, n := range l.missing {
		tests := n.Tests
		if list, err := os.ReadFile(l.list(n)); err == nil {
			tests = fmt.Sprintf("%d %s", bytes.Count(list, []byte("\n")), tests)
		}
		fmt.Fprintf(&b, "left out: %s, which need %s; on Debian install: %s\n", tests, n.Program, n.Packages)
	}
	if err := os.MkdirAll(filepath.Dir(leftOutFile), 0o755); err != nil {
		return err
	}
	return os.WriteFile(leftOutFile, b.Bytes(), 0o644)
}
