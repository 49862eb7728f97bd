package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func showCommand() *cobra.Command {
	var flags scenarioFlags
	var resolved bool
	c := &cobra.Command{
		Use:   "show SCENARIO",
		Short: "Print a preset with its comments, or any scenario as it would run",
		Long: `Print a preset as it was written, with the comments that explain it: a scenario to
copy and change, and about how long it takes. For a file, and with --resolved, --set,
--merge or --quick, print what would run: every value, nothing implicit. For a matrix
or variants, print each cell.`,
		Example: `  kafka-bench show overload-tight
  kafka-bench show overload-tight --resolved
  kafka-bench show baseline --set load.rate=20k/s
  kafka-bench show my-scenario.yaml --merge small-machine.yaml`,
		Args: needs(1, 1, "one SCENARIO: a preset's name (kafka-bench list) or a YAML file"),
		RunE: func(c *cobra.Command, args []string) error {
			suite, err := scenario.ReadSuite(args[0], flags.options(""))
			if err != nil {
				return err
			}
			changed := len(flags.set) > 0 || len(flags.merge) > 0 || flags.quick
			if slices.Contains(scenario.Names(), args[0]) && !resolved && !changed {
				return showPreset(c.OutOrStdout(), args[0])
			}
			return showResolved(c.OutOrStdout(), suite)
		},
	}
	addScenario(c, &flags)
	c.Flags().BoolVar(&resolved, "resolved", false, "print the scenario as it would run, nothing implicit")
	return c
}

func showPreset(w io.Writer, name string) error {
	text, err := scenario.PresetText(name)
	if err != nil {
		return err
	}
	suite, takes, err := presetTakes(name, false)
	if err != nil {
		return err
	}
	lasts := "# It takes about " + takes
	if suite.HasQuick {
		_, quick, err := presetTakes(name, true)
		if err != nil {
			return err
		}
		lasts += ", and with --quick " + quick
	}
	_, err = fmt.Fprintf(w, "%s\n%s.\n", text, lasts)
	return err
}

func showResolved(w io.Writer, suite scenario.Suite) error {
	for i, cell := range suite.Cells {
		yaml, err := cell.Scenario.Marshal()
		if err != nil {
			return err
		}
		if len(suite.Cells) > 1 {
			fmt.Fprintf(w, "--- # %d of %d: %s\n", i+1, len(suite.Cells), settingsOf(suite.Axes, cell))
		}
		if _, err := w.Write(yaml); err != nil {
			return err
		}
	}
	return nil
}
