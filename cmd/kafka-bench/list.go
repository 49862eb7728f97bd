package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func listCommand() *cobra.Command {
	var out string
	var all bool
	var label []string
	var figures bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the presets, and the runs and campaigns recorded so far",
		Example: `  kafka-bench list
  kafka-bench list --out results --all`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			if figures {
				return listFigures(w)
			}
			labels, err := parseLabels(label)
			if err != nil {
				return err
			}
			if err := listPresets(w); err != nil {
				return err
			}
			if err := listRuns(w, out, all, labels); err != nil {
				return err
			}
			return listCampaigns(w, out, all, labels)
		},
	}
	addOut(c, &out)
	addLabelled(c, &label)
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("list all runs and campaigns, and not the latest %d", maxListed))
	c.Flags().BoolVar(&figures, "figures", false, "list the figures instead, for --expect, --figure and --figures")
	return c
}

func listFigures(w io.Writer) error {
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true}, Rows: [][]string{{"figure", "unit", "what it is"}}}
	for _, f := range figure.All() {
		table.Add(f.Name, f.Kind.Unit(), f.Title)
	}
	return printTable(w, &table)
}

func addOut(c *cobra.Command, out *string) {
	c.Flags().StringVar(out, "out", "runs", "the folder that runs are kept in")
}

func listPresets(w io.Writer) error {
	printWrapped(w, "Presets, with how long they take and how long with --quick, a local cluster included:")
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true, 3: true}}
	for _, name := range scenario.Names() {
		suite, takes, err := presetTakes(name, false)
		if err != nil {
			return err
		}
		quick := none
		if suite.HasQuick {
			if _, quick, err = presetTakes(name, true); err != nil {
				return err
			}
		}
		table.Add("  "+name, takes, quick, suite.Description)
	}
	return printTable(w, &table)
}

func presetTakes(name string, quick bool) (suite scenario.Suite, takes string, err error) {
	if suite, err = scenario.ReadSuite(name, scenario.Options{Quick: quick}); err != nil {
		return suite, "", err
	}
	plan, err := campaign.NewPlan([]scenario.Suite{suite}, campaign.PlanOptions{})
	if err != nil {
		return suite, "", err
	}
	takes = roughly(plan.Takes(plan.Runs))
	if n := len(plan.Runs); n > 1 {
		takes = count(n, "run") + ", " + takes
	}
	return suite, takes, nil
}

// The two times differ by the drain, which may end early.
func between(least, most time.Duration) string {
	if least == most {
		return unit.Span(least)
	}
	return unit.Span(least) + " to " + unit.Span(most)
}

const maxListed = 15

func latest[T any](listed []T, things string, all bool) (shown []T, title string) {
	if hidden := len(listed) - maxListed; hidden > 0 && !all {
		return listed[hidden:], fmt.Sprintf("Latest %s (%d of %d, --all shows all):", things, maxListed, len(listed))
	}
	if all {
		return listed, "All " + things + ":"
	}
	return listed, "Latest " + things + ":"
}

func listRuns(w io.Writer, out string, all bool, labels map[string]string) error {
	runs, err := result.List(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(runs) == 0 {
		fmt.Fprintf(w, "\nNo runs in %s yet.\n", out)
		return nil
	}
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r result.Listed) bool {
		return len(labels) > 0 && (r.Err != nil || !result.HasLabels(r.Run.Run.Labels, labels))
	})
	runs, title := latest(runs, "runs", all)
	fmt.Fprintf(w, "\n%s\n", title)
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true, 3: true, 4: true}}
	for _, r := range runs {
		if r.Err != nil {
			table.Add("  "+textfile.Line(r.Dir), textfile.Line(r.Err.Error()))
			continue
		}
		table.Add("  "+r.Dir, report.Standing(r.Run), system(r.Run), throughput(r.Run), result.ShortLabelText(r.Run.Run.Labels))
	}
	if err := printTable(w, &table); err != nil {
		return err
	}
	printLeft(w, runs)
	return nil
}

// printLeft says on which clusters the listed runs may have left topics.
func printLeft(w io.Writer, runs []result.Listed) {
	left := make(map[string]int)
	for _, r := range runs {
		if r.Err == nil && report.Left(r.Run) {
			left[r.Run.Run.Cluster.ID]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(w, "\nOn the cluster %s, %s did not finish. What killed runs left there is listed by:\n  %s\n",
			id, count(left[id], "run"), report.Cleaning(id))
	}
}

func system(r *result.Run) string {
	if !r.Finished() {
		return none
	}
	return outcome.In(r).Status
}

// throughput is the offered rate, or else the acked or delivered rate.
func throughput(r *result.Run) string {
	load, delivery := r.Load, r.Delivery
	switch {
	case !r.Finished():
		return none
	case r.Says("load.offered_per_s") && !load.ClosedLoop && load.OfferedPerS > 0:
		return unit.PerSecond(load.OfferedPerS) + " offered"
	case r.Says("load.acked_per_s") && load.AckedPerS > 0:
		return unit.PerSecond(load.AckedPerS) + " acked"
	case r.Says("delivery.delivered_per_s") && delivery.DeliveredPerS > 0:
		return unit.PerSecond(delivery.DeliveredPerS) + " delivered"
	}
	return none
}

const none = "–"

func listCampaigns(w io.Writer, out string, all bool, labels map[string]string) error {
	campaigns, err := result.ListCampaigns(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(campaigns) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	campaigns = slices.DeleteFunc(campaigns, func(c result.ListedCampaign) bool {
		return len(labels) > 0 && (c.Err != nil || !result.HasLabels(c.Campaign.Campaign.Labels, labels))
	})
	campaigns, title := latest(campaigns, "campaigns", all)
	fmt.Fprintf(w, "\n%s\n", title)
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true, 3: true}}
	for _, c := range campaigns {
		if c.Err != nil {
			table.Add("  "+textfile.Line(c.Dir), textfile.Line(c.Err.Error()))
			continue
		}
		state := "finished"
		if !c.Campaign.Finished() {
			state = "not finished"
		}
		table.Add("  "+c.Dir, state, fmt.Sprintf("%d of %s", c.Campaign.Made(), count(len(c.Campaign.Runs), "run")),
			result.ShortLabelText(c.Campaign.Campaign.Labels))
	}
	return printTable(w, &table)
}
