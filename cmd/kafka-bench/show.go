package main

import (
	"github.com/spf13/cobra"

	"kafka-bench/internal/scenario"
)

func showCommand() *cobra.Command {
	var set []string
	c := &cobra.Command{
		Use:     "show SCENARIO",
		Short:   "Print a scenario as it would run, nothing implicit",
		Example: "  kafka-bench show overload-tight\n  kafka-bench show baseline --set load.rate=20k/s",
		Args:    needs(1, 1, "one SCENARIO: a preset's name (kafka-bench list) or a YAML file"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := scenario.Read(args[0], set...)
			if err != nil {
				return err
			}
			yaml, err := s.Marshal()
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(yaml)
			return err
		},
	}
	addSet(c, &set)
	return c
}

// addSet adds the flag that overrides any field of a scenario.
func addSet(c *cobra.Command, set *[]string) {
	c.Flags().StringArrayVar(set, "set", nil, "override a field, as in load.rate=20k/s (may be repeated)")
}
