package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// carryOut prints the report of an unfinished campaign too. A resumed campaign must run on the
// cluster on which it began.
func carryOut(ctx context.Context, journal *campaign.Journal, plan campaign.Plan, begun campaign.Origin, r rig,
	stdout, stderr io.Writer) error {
	v := newView(r, plan, stdout, stderr)
	if err := v.open(journal); err != nil {
		return errors.Join(err, journal.Close())
	}
	err := r.with(ctx, v, func(ctx context.Context, e campaign.Engine) error {
		if err := checkCluster(ctx, journal, plan, begun, e); err != nil {
			return err
		}
		e.Warmer.Planned = plan.Scenarios()
		return campaign.Run(ctx, journal, campaign.Config{
			Maker: e, Scenarios: e.Warmer.Planned, Began: v.begin, Ended: v.end,
		})
	})
	empty := journal.Empty()
	if err = errors.Join(err, v.stop(), journal.Close()); empty || errors.Is(err, campaign.ErrOtherOrigin) {
		// It cannot be resumed, or not with these flags.
		return with(err, r.judging.conclude(plan.Name, report.Judgement{}, err, stdout))
	}
	recorded, readErr := result.ReadCampaign(journal.Dir())
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	reportErr := errors.Join(r.reportCampaign(recorded, stdout, v.out), writeStudyPage(r.page, recorded, v.out))
	return with(concludeCampaign(recorded, err, resumeCommand(journal.Dir(), r), r.judging, stdout), reportErr)
}

func checkCluster(ctx context.Context, journal *campaign.Journal, plan campaign.Plan, begun campaign.Origin,
	e campaign.Engine) error {
	pending := plan.At(journal.Pending())
	if len(pending) == 0 {
		return nil
	}
	return begun.CheckCluster(ctx, e, plan.Cells[pending[0].Cell].Scenario)
}

// One run of each scenario is too little to claim a difference. So reportCampaign only prints such
// runs side by side.
func (r rig) reportCampaign(c *result.RecordedCampaign, stdout, progress io.Writer) error {
	if !r.ci.asText() {
		return r.ci.report(reported{campaign: c, runs: readable(c.Runs)}, stdout)
	}
	stdout = r.judging.body(stdout)
	fmt.Fprintln(progress)
	options := report.Options{Colour: coloured(stdout), Width: columnsOf(stdout)}
	if c.Campaign.Campaign.Repeat > 1 || len(c.Campaign.Axes) > 0 {
		return campaigns.Write(stdout, c, options)
	}
	var runs []*result.Recorded
	for _, run := range c.Runs {
		if run != nil {
			runs = append(runs, run)
		}
	}
	if len(runs) > 1 {
		if err := report.SideBySide(stdout, runs, options); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	_, err := fmt.Fprintf(stdout, "Campaign: %s, %d of %s\n", c.Dir, c.Campaign.Made(),
		count(len(c.Campaign.Runs), "run"))
	return err
}

func concludeCampaign(c *result.RecordedCampaign, err error, resume string, flags judgingFlags,
	stdout io.Writer) error {
	j := report.JudgeCampaign(c)
	switch {
	case !c.Campaign.Finished():
		if err == nil || errors.Is(err, context.Canceled) {
			err = errInterrupted
		}
		err = fmt.Errorf("%w; %d of %d runs are made, go on with: %s", err, c.Campaign.Made(), len(c.Campaign.Runs),
			resume)
	case err == nil:
		err = judged(j)
	}
	return with(err, flags.conclude(j.Name, j, nil, stdout))
}

func resumeCommand(dir string, r rig) string {
	words := slices.Concat([]string{"kafka-bench", "run", "--resume", dir}, r.flags.words(), r.fleet.words(),
		r.watch.words(), r.judging.words(), r.ci.words())
	switch r.page {
	case "":
	case ownFolder:
		words = append(words, "--page")
	default:
		words = append(words, "--page="+r.page)
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

func shellWord(word string) string { return textfile.ShellWord(word) }

// With --resume, the plannedFlags come from the campaign.
var plannedFlags = []string{"set", "merge", "env", "quick", "repeat", "order", "driver", "out", "expect", "label"}

func checkResume(c *cobra.Command, args []string) error {
	var said []string
	for _, name := range plannedFlags {
		if c.Flags().Changed(name) {
			said = append(said, "--"+name)
		}
	}
	if said = append(said, args...); len(said) > 0 {
		return fmt.Errorf("--resume goes on with a campaign as it was planned, in its own folder; leave out %s",
			strings.Join(said, " "))
	}
	return nil
}

func resumeCampaign(ctx context.Context, flags runFlags, stdout, stderr io.Writer) error {
	dir := filepath.Clean(flags.resume)
	flags.out = filepath.Dir(dir) // runs are in the same folder as their campaign
	served, servedErr := flags.pagesFlags.options()
	r, err := newRig(flags.engineFlags, flags.fleetFlags, flags.body(stderr),
		errors.Join(append(flags.checkProgress(), flags.checkFiles(), servedErr)...))
	if err != nil {
		return err
	}
	recorded, err := result.ReadCampaign(dir)
	if err != nil {
		return err
	}
	info := recorded.Campaign.Campaign
	r.take(flags, served, campaign.Plan{Expected: info.Expected, Labels: info.Labels})
	if recorded.Campaign.Finished() {
		body := flags.body(stderr)
		_, err := fmt.Fprintf(body, "The campaign in %s is finished: %d of %d runs were made.\n", dir,
			recorded.Campaign.Made(), len(recorded.Campaign.Runs))
		if !flags.dryRun {
			err = errors.Join(err, r.ci.report(reported{campaign: recorded, runs: readable(recorded.Runs)}, stdout),
				writeStudyPage(flags.page, recorded, body))
		}
		return with(concludeCampaign(recorded, nil, "", flags.judgingFlags, stdout), err)
	}
	plan, err := campaign.Saved(&recorded.Campaign)
	if err != nil {
		return err
	}
	begun := campaign.OriginOf(recorded)
	if err := errors.Join(begun.CheckMethod(), begun.CheckMakers(r.makers())); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	pending := plan.At(campaign.Pending(&recorded.Campaign))
	r.lasts, r.counted = flags.lasting(plan, pending)*time.Duration(1+flags.retries), flags.replicated(&plan, pending)
	var each []scenario.Scenario
	for _, run := range pending {
		each = append(each, plan.Cells[run.Cell].Scenario)
	}
	at, err := r.check(ctx, plan.Scenarios()...)
	if err := errors.Join(r.fleet.able(plan.Scenarios()...), flags.within(plan, pending), err, flags.keepable(each...)); err != nil {
		return err
	}
	for _, warning := range begun.Warnings(tool(), driverVersion) {
		r.progress("warning: " + warning)
	}
	if flags.dryRun {
		return r.dry(ctx, at, begun, each, func(at place) error {
			return printPlan(stdout, plan, pending, r, at)
		})
	}
	shown, err := r.openPages(stderr)
	if err != nil {
		return err
	}
	defer shown.close()
	journal, err := campaign.Resume(dir)
	if err != nil {
		return err
	}
	return carryOut(ctx, journal, plan, begun, r, stdout, stderr)
}
