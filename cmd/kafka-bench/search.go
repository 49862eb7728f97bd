package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/search"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/web"
)

type searchFlags struct {
	engineFlags
	scenarioFlags
	pagesFlags
	fleetFlags
	ciFlags

	expect     []string
	resolution string
	maxProbes  int
	probe      time.Duration
	confirm    time.Duration
	curve      bool
	curveOf    string
	dryRun     bool
}

func searchCommand(in surroundings) *cobra.Command {
	flags := searchFlags{engineFlags: engineFlags{in: in}}
	c := &cobra.Command{
		Use:   "search SCENARIO",
		Short: "Find the highest rate that meets what is expected",
		Long: `Find the highest offered load at which a scenario still meets what is expected of
it. A closed loop gives the capacity. The search then finds a rate that passes and
one that fails, and halves the range between them down to the resolution.
Every probe is a run with its own topic: it warms up, measures and drains. A probe
that delivered nothing is repeated. A rate that failed is tried a second time before
it bounds the answer; if no probe is left for that, a caveat says so. The answer is
confirmed by a longer run, which counts at once, and is always a rate that passed.

An expectation is a figure and a bound, as in 'e2e_response_time_p99 <= 50ms'.
A rate also passes only if the run is valid and keeps up: within the measured window,
all offered records were acked, and delivered to every group, except 0.5 % and those
in flight. If a probe has too few records for an expected percentile, it is made
longer, up to --confirm. If that is not enough, the rate has not failed, and the
answer says what would be enough. If this tool or its machine limits the rate, and not
only Kafka, the answer says so.

An interrupted search is saved as far as it came, and cannot be resumed. --dry-run
prints which probes it may make, and makes none. With --brokers it asks the cluster,
and refuses what the search would refuse.

--curve adds runs at 10 % to 110 % of the answer, for the times against offered
load; --curve-of makes these for a known rate, without a search.

Exit codes: 0 found, 1 no rate is known to hold, 2 bad input, 3 cluster out of reach,
5 a guard ended it, 130 interrupted (after both, what was found is saved).`,
		Example: `  kafka-bench search baseline
  kafka-bench search baseline --expect 'e2e_response_time_p99 <= 20ms' --expect 'failed <= 0' --curve
  kafka-bench search produce-only --set load.acks=all --resolution 5% --probe 5s
  kafka-bench search baseline --curve-of 20k/s`,
		Args: orSettings(needs(1, 1, "one SCENARIO: a preset's name (kafka-bench list) or a YAML file")),
		RunE: func(c *cobra.Command, args []string) error {
			return searchRate(c.Context(), args[0], flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	addSearch(c, &flags)
	return c
}

func addSearch(c *cobra.Command, flags *searchFlags) {
	addGroup(c, "What is searched", addScenario, &flags.scenarioFlags)
	addGroup(c, "What is searched", addProbes, flags)
	addGroup(c, "Where, and with which client", addEngine, &flags.engineFlags)
	addGroup(c, "Jobs of a CI server", addReported, &flags.ciFlags)
	addGroup(c, "Live pages and metrics", addPages, &flags.pagesFlags)
	addGroup(c, "Agents", addFleet, &flags.fleetFlags)
}

func addProbes(c *cobra.Command, flags *searchFlags) {
	f := c.Flags()
	f.StringArrayVar(&flags.expect, "expect", nil,
		"what a rate must meet, as in 'e2e_response_time_p99 <= 50ms' (may be repeated; default: "+strings.Join(campaign.DefaultExpectations(scenario.Defaults()), ", ")+")")
	f.StringVar(&flags.resolution, "resolution", "3%",
		"how near the answer must be to the lowest rate that fails, 0.5% to 50%")
	f.IntVar(&flags.maxProbes, "max-probes", search.DefaultMaxProbes,
		"the most probes, 4 to 1000; those of the curve are not counted")
	addDuration(f, &flags.probe, "probe", 10*time.Second,
		"the measured window of a probe; longer, up to --confirm, if a percentile needs it")
	addDuration(f, &flags.confirm, "confirm", 30*time.Second, "the measured window of the confirmation")
	f.BoolVar(&flags.curve, "curve", false, "add runs at 10 % to 110 % of the answer")
	f.BoolVar(&flags.dryRun, "dry-run", false, "print what would be done, and do nothing")
	f.StringVar(&flags.curveOf, "curve-of", "", "make these runs for a rate, as in 20k/s, without a search")
}

func (f searchFlags) config(arg string) (cfg campaign.SearchConfig, notes []string, err error) {
	cfg = campaign.SearchConfig{
		Options: search.Options{MaxProbes: f.maxProbes}, Probe: f.probe, Confirm: f.confirm, Curve: f.curve,
	}
	var faults []error
	suite, err := f.suite(arg, f.engineFlags)
	switch {
	case err != nil:
		faults = append(faults, err)
	case len(suite.Cells) > 1:
		faults = append(faults,
			fmt.Errorf("scenario %s has %d scenarios; search one of them, and set what it varies with --set", arg,
				len(suite.Cells)))
	default:
		cfg.Scenario, notes = f.caps().pace(suite.Cells[0].Scenario), f.quickNotes(suite)
		cfg.MaxRate = f.caps().rate
		// two, because there are several probes
		if err := errors.Join(f.enough(suite), f.keepable(cfg.Scenario, cfg.Scenario)); err != nil {
			faults = append(faults, err)
		}
	}
	if cfg.Options.Resolution, err = parsePercent(f.resolution); err != nil {
		faults = append(faults, fmt.Errorf("--resolution: %w", err))
	}
	if cfg.CurveOfPerS, err = f.curveRate(); err != nil {
		faults = append(faults, err)
	}
	if cfg.Scenario.Name != "" {
		expect := f.expect
		if len(expect) == 0 {
			expect = campaign.DefaultExpectations(cfg.Scenario)
		}
		if cfg.Expect, err = parseExpectations(expect); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return cfg, notes, errors.Join(faults...)
	}
	if most := f.caps().time; most > 0 {
		if _, _, least, _ := cfg.Probes(); least > most {
			return cfg, notes, fmt.Errorf("the search takes at least %s, and the most is %s; give fewer or shorter probes, or --max-time",
				unit.Span(least), unit.Span(most))
		}
	}
	if err := f.storable(cfg); err != nil {
		return cfg, notes, err
	}
	return cfg, notes, cfg.Check()
}

// storable refuses probes that may store more than --max-bytes at a time.
func (f searchFlags) storable(cfg campaign.SearchConfig) error {
	most := f.caps().bytes
	stored, bounded := cfg.DiskBytes(f.keepTopics)
	switch {
	case most == 0:
		return nil
	case !bounded:
		return fmt.Errorf("--max-bytes: a search begins as fast as it goes, so that nothing bounds what it stores; give --max-rate too")
	case stored > most:
		return aboveCap{fmt.Sprintf("the probes store up to %s at a time, and the most is %s", unit.Bytes(stored), unit.Bytes(most)),
			"--max-bytes", fmt.Sprintf("%dB", stored)}
	}
	return nil
}

// curveRate returns 0 without --curve-of.
func (f searchFlags) curveRate() (float64, error) {
	if f.curveOf == "" {
		return 0, nil
	}
	rate, err := unit.ParseRate(f.curveOf)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--curve-of: %w", err)
	case rate.IsMax() || rate.Records == 0:
		return 0, fmt.Errorf("--curve-of %s: give a rate that has tenths, as in 20k/s", f.curveOf)
	}
	return rate.PerSecond(), nil
}

// lasting returns how long all probes last together, at most.
func (f searchFlags) lasting(cfg campaign.SearchConfig) time.Duration {
	longest := cfg.Scenario
	longest.Phases.Measure = unit.Duration(max(cfg.Probe, cfg.Confirm))
	probes := time.Duration(cfg.Options.WithDefaults().MaxProbes + len(search.CurveRates(1)))
	return probes * bench.Lasts(longest, f.joining())
}

func parsePercent(text string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	if ok {
		if v, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && v > 0 {
			return v / 100, nil
		}
	}
	return 0, fmt.Errorf("%q is not a share above zero; write it as 3%%", text)
}

func searchRate(ctx context.Context, arg string, flags searchFlags, stdout, stderr io.Writer) error {
	cfg, notes, err := flags.config(arg)
	if err == nil {
		err = flags.fleetFlags.able(cfg.Scenario)
	}
	served, servedErr := flags.pagesFlags.options(arg)
	r, err := newRig(flags.engineFlags, flags.fleetFlags, stderr,
		errors.Join(err, servedErr, flags.ciFlags.check()))
	if err != nil {
		return err
	}
	r.served, r.lasts, r.ci = served, flags.lasting(cfg), flags.ciFlags
	r.labels, _ = parseLabels(flags.label) // checked above
	r.counted = func(topic string, replicas int) error {
		cfg.Replicas = map[string]int{topic: replicas}
		return flags.storable(cfg)
	}
	at, err := r.check(ctx, cfg.Scenario)
	if err != nil {
		return err
	}
	for _, note := range notes {
		r.progress(note)
	}
	if flags.dryRun {
		return r.dry(ctx, at, campaign.Origin{}, []scenario.Scenario{cfg.First()}, func(at place) error {
			return printSearch(stdout, cfg, r, at)
		})
	}
	shown, err := r.openPages(stderr)
	if err != nil {
		return err
	}
	defer shown.close()
	planned := cfg.Campaign(tool())
	planned.Campaign.Labels = r.labels
	journal, err := campaign.Create(flags.out, planned)
	if err != nil {
		return err
	}
	v := newSearchView(stderr, journal, r)
	if err := r.ci.writeFolder(journal.Dir()); err != nil {
		return errors.Join(err, journal.Close())
	}
	var found result.Search
	err = r.with(ctx, v.view, func(ctx context.Context, e campaign.Engine) (err error) {
		cfg.Maker, cfg.Began, cfg.Ended = e, v.begin, v.end
		found, err = campaign.Search(ctx, journal, cfg)
		return err
	})
	v.close()
	empty := journal.Empty()
	if closeErr := journal.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	if empty {
		return err // no probe was made
	}
	if reportErr := r.reportSearch(journal.Dir(), &found, stdout, stderr); reportErr != nil {
		return errors.Join(err, reportErr)
	}
	switch {
	case errors.Is(err, campaign.ErrInterrupted):
		return errInterrupted
	case err == nil && found.HighestPerS == nil && cfg.CurveOfPerS == 0:
		return errInvalid
	}
	return err
}

func (r rig) reportSearch(dir string, found *result.Search, stdout, progress io.Writer) error {
	if !r.ci.asText() {
		c, err := result.ReadCampaign(dir)
		if err != nil {
			return err
		}
		return r.reportCampaign(c, stdout, progress)
	}
	fmt.Fprintln(progress)
	if err := campaigns.WriteSearch(stdout, found, report.Options{Colour: coloured(stdout), Width: columnsOf(stdout)}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nCampaign: %s\n", dir)
	return err
}

// searchView prints one line for each probe, and on a terminal the current one live.
type searchView struct {
	*view
	out  io.Writer
	made int
}

func newSearchView(out io.Writer, journal *campaign.Journal, r rig) *searchView {
	v := newView(r, campaign.Plan{}, nil, out)
	v.brief, v.journal = true, journal
	v.pages.Campaign(journal.Dir())
	fmt.Fprintf(out, "campaign: %s\n", journal.Dir())
	return &searchView{view: v, out: out}
}

func (v *searchView) begin(step search.Step, s scenario.Scenario) {
	v.made++
	rate := "as fast as it goes"
	if step.PerS != search.ClosedLoop {
		rate = unit.PerSecond(step.PerS)
	}
	length := unit.Span(time.Duration(s.Phases.Measure))
	fmt.Fprintf(v.out, "%2d  %-8s  %s for %s …\n", v.made, step.Phase, rate, length)
	v.pages.Progress(web.Progress{Run: v.made, Text: fmt.Sprintf("probe %d (%s): %s for %s", v.made, step.Phase, rate, length)})
}

func (v *searchView) end(p result.Probe) {
	v.close()
	fmt.Fprintf(v.out, "    %s\n", campaigns.ProbeLine(p))
}

func (v *searchView) close() {
	if v.live == nil {
		return
	}
	_ = v.live.Close() // the next write reports a broken output
	v.live = nil
}
