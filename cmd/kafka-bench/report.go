package main

import (
	"math"

	"github.com/spf13/cobra"

	"kafka-bench/internal/report"
	"kafka-bench/internal/result"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN…",
		Short: "Render recorded runs again: one on a screen, several side by side",
		Long: `Render recorded runs again, from their files alone. Each RUN is a run's folder.
One run is shown on a screen; several are set side by side.`,
		Example: "  kafka-bench report runs/20261121T200000Z-overload-k3x7qa",
		Args:    needs(1, math.MaxInt, "a RUN: the folder of a run (kafka-bench list)"),
		RunE: func(c *cobra.Command, dirs []string) error {
			var runs []*result.Recorded
			for _, dir := range dirs {
				recorded, err := result.Read(dir)
				if err != nil {
					return err
				}
				runs = append(runs, recorded)
			}
			out := c.OutOrStdout()
			options := report.Options{Colour: isTerminal(out)}
			if len(runs) == 1 {
				return report.Text(out, runs[0], options)
			}
			return report.SideBySide(out, runs, options)
		},
	}
}
