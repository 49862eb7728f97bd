package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"kafka-bench/internal/campaign"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

func listCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the presets, and the runs and campaigns recorded so far",
		Example: `  kafka-bench list
  kafka-bench list --out results`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			if err := listPresets(w); err != nil {
				return err
			}
			if err := listRuns(w, out); err != nil {
				return err
			}
			return listCampaigns(w, out)
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
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			return err
		}
		plan, err := campaign.NewPlan([]scenario.Suite{suite}, campaign.PlanOptions{})
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, takes(plan), suite.Description)
	}
	return table.Flush()
}

// takes is how long a plan takes: 7s to 17s, 25 × 33s to 1m3s. Where the runs
// differ in length it is that of all together.
func takes(p campaign.Plan) string {
	all := p.Needs(p.Turns, false)
	if all.Runs == 1 {
		return between(all.Least, all.Most)
	}
	one := p.Needs(p.Turns[:1], false)
	for _, turn := range p.Turns {
		if other := p.Needs([]campaign.Turn{turn}, false); other.Least != one.Least || other.Most != one.Most {
			return fmt.Sprintf("%d runs, %s", all.Runs, between(all.Least, all.Most))
		}
	}
	return fmt.Sprintf("%d × %s", all.Runs, between(one.Least, one.Most))
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

// listCampaigns lists the latest campaigns, and nothing where there is none.
func listCampaigns(w io.Writer, out string) error {
	campaigns, err := result.ListCampaigns(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(campaigns) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if hidden := len(campaigns) - maxListed; hidden > 0 {
		campaigns = campaigns[hidden:]
	}
	fmt.Fprintln(w, "\nLatest campaigns:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range campaigns {
		if c.Err != nil {
			fmt.Fprintf(table, "  %s\t%v\n", c.Dir, c.Err)
			continue
		}
		state := "finished"
		if !c.Campaign.Finished() {
			state = "not finished"
		}
		fmt.Fprintf(table, "  %s\t%s\t%d of %s\n", c.Dir, state, c.Campaign.Made(), count(len(c.Campaign.Runs), "run"))
	}
	return table.Flush()
}
