package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, child := range c.Commands() {
		if !child.Hidden && child.Name() != "help" && child.Name() != "completion" {
			all = append(all, commands(child)...)
		}
	}
	return all
}

func examples(t *testing.T, c *cobra.Command) (all [][]string) {
	t.Helper()
	for line := range strings.Lines(c.Example) {
		args := strings.Fields(line)
		if len(args) < 2 || args[0] != "kafka-bench" || !strings.HasPrefix(line, "  kafka-bench ") {
			t.Errorf("%s: %q is not an example", c.CommandPath(), line)
			continue
		}
		all = append(all, args[1:])
	}
	return all
}

func TestHelp(t *testing.T) {
	for _, c := range commands(rootCommand(surroundings{})) {
		path := strings.Fields(c.CommandPath())[1:]
		got := invoke(t, append(path, "--help")...)
		if got.code != exitValid || got.stderr != "" || !strings.Contains(got.stdout, "Usage:\n  "+c.CommandPath()) {
			t.Errorf("%s --help: exit code %d, %q\n%s", c.CommandPath(), got.code, got.stderr, got.stdout)
		}
		shown := strings.ReplaceAll(got.stdout, " \\\n     ", "")
		for _, example := range examples(t, c) {
			if !strings.Contains(shown, "  kafka-bench "+strings.Join(example, " ")+"\n") {
				t.Errorf("%s --help does not show the example %q", c.CommandPath(), example)
			}
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example, or does not say what it does", c.CommandPath())
		}
	}
}

// Each flag of run is listed once, below a heading.
func TestHelpGroupsFlags(t *testing.T) {
	c, _, err := rootCommand(surroundings{}).Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(invoke(t, "run", "--help").stdout, "\n  kafka-bench run --resume")
	wantSaid(t, shown, "\nWhat is run:\n", "\nExpectations, and jobs of a CI server:\n      --expect ", "\nAgents:\n      --agents int ",
		"\nOther flags:\n  -h, --help   help for run\n")
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if n := strings.Count(shown, "\n      --"+f.Name+" ") + strings.Count(shown, "\n      --"+f.Name+"["); n > 1 || n == 0 && f.Shorthand == "" && f.NoOptDefVal == "" {
			t.Errorf("--%s is listed %d times", f.Name, n)
		}
	})
}

func TestHelpHasTheCodeOfAGuard(t *testing.T) {
	for _, command := range []string{"run", "search"} {
		if help := invoke(t, command, "--help").stdout; !strings.Contains(help, fmt.Sprintf("%d a guard ended it", exitGuarded)) {
			t.Errorf("the exit codes of %s lack that of a guard:\n%s", command, help)
		}
	}
}

// The examples of these commands need a cluster or run until interrupted.
var needsCluster = []string{"run", "cluster", "search", "calibrate", "peers", "kmq", "serve", "agent", "collect", "clean"}

// Examples that need a cluster are checked up to their flags, arguments and scenarios.
func TestExamples(t *testing.T) {
	for _, c := range commands(rootCommand(surroundings{})) {
		for _, args := range examples(t, c) {
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				t.Chdir(t.TempDir())
				args := shellWords(args)
				if i := slices.Index(args, ">"); i >= 0 {
					args = args[:i]
				}
				prepareExample(t, args)
				if slices.Contains(needsCluster, args[0]) {
					checkExample(t, args)
					return
				}
				if got := invoke(t, args...); got.code != exitValid || got.stdout == "" {
					t.Errorf("exit code %d: %s", got.code, got.stderr)
				}
			})
		}
	}
}

func prepareExample(t *testing.T, args []string) {
	t.Helper()
	prepareRecorded(t, args)
	for _, arg := range args[1:] {
		var err error
		switch {
		case strings.Contains(arg, "-sweep-"):
		case (args[0] == "report" || args[0] == "chart") && filepath.Dir(arg) == "runs":
			runValid(t, write(t, tiny), "runs")
			err = os.Rename(onlyRun(t, "runs").Dir, arg)
		case filepath.Ext(arg) == ".yaml":
			err = os.WriteFile(arg, []byte(tiny), 0o644)
		case args[0] == "import":
			err = prepareImport(arg)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkExample(t *testing.T, args []string) {
	t.Helper()
	c, rest, err := rootCommand(surroundings{}).Find(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Fatal(err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Error(err)
	}
	if c.Name() != "run" && c.Name() != "peers" {
		return
	}
	var o scenario.Options
	if o.Set, err = c.Flags().GetStringArray("set"); err != nil {
		t.Fatal(err)
	}
	if o.Merge, err = c.Flags().GetStringArray("merge"); err != nil {
		t.Fatal(err)
	}
	for _, name := range c.Flags().Args() {
		if _, err := scenario.ReadSuite(name, o); err != nil {
			t.Error(err)
		}
	}
}
