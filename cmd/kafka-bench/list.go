package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

func listCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the presets, and the runs recorded so far",
		Example: `  kafka-bench list
  kafka-bench list --out results`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := listPresets(c.OutOrStdout()); err != nil {
				return err
			}
			return listRuns(c.OutOrStdout(), out)
		},
	}
	addOut(c, &out)
	return c
}

// addOut adds the flag that says where runs are.
func addOut(c *cobra.Command, out *string) {
	c.Flags().StringVar(out, "out", "runs", "the folder that runs are kept in")
}

func listPresets(w io.Writer) error {
	fmt.Fprintln(w, "Presets:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range scenario.Names() {
		s, err := scenario.Preset(name)
		if err != nil {
			return err
		}
		least, most := s.Duration()
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, between(least, most), s.Description)
	}
	return table.Flush()
}

// between is how long a run takes: the drain ends as soon as it may.
func between(least, most time.Duration) string {
	if least == most {
		return least.String()
	}
	return fmt.Sprintf("%v to %v", least, most)
}

// maxListed bounds the runs that are listed; the folder has them all.
const maxListed = 15

func listRuns(w io.Writer, out string) error {
	runs, err := result.List(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(runs) == 0 {
		fmt.Fprintf(w, "\nNo runs in %s yet.\n", out)
		return nil
	}
	if err != nil {
		return err
	}
	if hidden := len(runs) - maxListed; hidden > 0 {
		runs = runs[hidden:]
	}
	fmt.Fprintln(w, "\nLatest runs:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range runs {
		if r.Err != nil {
			fmt.Fprintf(table, "  %s\t%v\n", r.Dir, r.Err)
			continue
		}
		fmt.Fprintf(table, "  %s\t%s\t%.0f/s offered\n", r.Dir, r.Run.Verdict.Status, r.Run.Load.OfferedPerS)
	}
	return table.Flush()
}
