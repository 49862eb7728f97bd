package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type runFlags struct {
	engineFlags
	scenarioFlags
	pagesFlags
	fleetFlags
	judgingFlags
	ciFlags

	repeat   optionalInt
	order    string // "": as the scenario says
	dryRun   bool
	resume   string
	page     string // file of the page; "" is none
	progress string
}

// Values of --progress.
const (
	shortProgress = "short" // a live view on a terminal, or one line for each interval
	fullProgress  = "full"  // a line for each metric of each interval
)

// maxRepeat bounds --repeat and the scenario's key repeat.
const maxRepeat = 1000

const runLong = `Run one scenario or several. A SCENARIO is a preset's name (kafka-bench list) or a
YAML file; - is standard input. Several scenarios, variants and cells of a matrix run
in turns: each once, and again for every repeat, so that a drift of the machine
affects all of them alike.
More than one run is a campaign, with a folder that lists its runs; it ends with a
table that shows them side by side.

--dry-run prints what would be done, and does nothing. With --brokers it asks the
cluster, and refuses what the run would refuse. A campaign that was
interrupted, or killed, continues with --resume FOLDER. No finished run is made
again, and the scenarios and their drivers are those with which it began. The cluster
must be the same too.

--quick runs the quick form of a scenario that has one. It shows the same in less than
two minutes, with fewer records, fewer settings and wider intervals.

Without --brokers a local cluster is used: the one that "cluster up" keeps, or
an Apache Kafka that is started and stopped again, or, if Java or Maven is
missing, the embedded broker.

A cluster that requires TLS or a user is reached with the client properties file of
Kafka's own tools: --command-config client.properties. Stores and keys must be PEM.

--web shows the run in a browser, and at the end what was recorded: the page stays
complete in its tab, and nothing stays running. --metrics exports the run to
Prometheus, and waits at the end for one more scrape, at most 15 s. A process of its
own serves both.

--expect bounds a figure of every run, as in 'e2e_response_time_p99 < 20ms'. With
"in every 10s" the bound is for each stretch of the window: counts, rates, lag peaks and
maxima, and percentiles if the stretch is one sampling.interval. What was expected is
recorded with the run. --junit writes the outcomes for a CI server.

Progress is on standard error, and the report at the end on standard output, also as
JSON, CSV, Markdown or a page: --format. For jobs of a CI server, --out-file has the
run's folder, --label commit=5feb6b2 marks the run, and --retry-invalid makes a run
again whose figures cannot be trusted.

Exit codes: 0 valid, 1 invalid run, 2 bad input, 3 cluster out of reach, 4 an
expectation does not hold, 5 a guard ended it, 6 an expectation is not decided, 130
interrupted (after 5 and 130, what was measured is saved). Without --expect they are only about the measurement: a valid run exits with 0
even if its brokers died for good, and the report says so in the line SYSTEM.`

const runExample = `  kafka-bench run quick
  kafka-bench run overload overload-loose overload-tight
  kafka-bench run baseline --set load.rate=20k/s --set load.record.size=1KiB
  kafka-bench run baseline --repeat 5 --dry-run
  kafka-bench run throughput-producer --quick
  kafka-bench run baseline --driver sarama
  kafka-bench run overload --web
  kafka-bench run baseline --expect 'e2e_response_time_p99 < 20ms' --junit kafka-bench.xml --quiet
  kafka-bench run baseline --format json --label commit=5feb6b2 > run.json
  kafka-bench run backpressure-study --set 'variants=[off, credit]'
  kafka-bench run my-scenario.yaml --brokers kafka-1:9092 --cluster-id 5L6g3nShT-eMCtK--X86sw
  kafka-bench run baseline --merge small-machine.yaml
  kafka-bench run baseline --brokers kafka-1:9093 --command-config client.properties
  kafka-bench run --resume runs/20261121T200000Z-sweep-acks-k3x7qa`

const runHint = `a SCENARIO: a preset's name (kafka-bench list) or a YAML file, as in
  kafka-bench run quick                                  a first run, in a few seconds
  kafka-bench run baseline --brokers HOST:9092 --cluster-id ID     on a cluster of yours
  kafka-bench run my-scenario.yaml                       a file, as "kafka-bench show baseline" prints
  kafka-bench run - < my-scenario.yaml                   the same, from standard input`

func runCommand(in surroundings) *cobra.Command {
	flags := runFlags{engineFlags: engineFlags{in: in}}
	c := &cobra.Command{
		Use:     "run SCENARIO…",
		Short:   "Run scenarios, sweeps and repeats, and report what was measured",
		Long:    runLong,
		Example: runExample,
		Args:    orSettings(cobra.ArbitraryArgs), // see checkResume and missingScenario
		RunE: func(c *cobra.Command, args []string) error {
			if flags.resume == "" && len(args) == 0 {
				return missingScenario(c, flags)
			}
			if flags.resume == "" {
				return runScenarios(c.Context(), args, flags, c.OutOrStdout(), c.ErrOrStderr())
			}
			if err := checkResume(c, args); err != nil {
				return err
			}
			return resumeCampaign(c.Context(), flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	addGroup(c, "What is run", addScenario, &flags.scenarioFlags)
	addGroup(c, "Order, progress and page", addRun, &flags)
	addGroup(c, "Where, and with which client", addEngine, &flags.engineFlags)
	addGroup(c, "Expectations, and jobs of a CI server", addJudging, &flags.judgingFlags)
	addGroup(c, "Expectations, and jobs of a CI server", addCI, &flags.ciFlags)
	addGroup(c, "Live pages and metrics", addPages, &flags.pagesFlags)
	addGroup(c, "Agents", addFleet, &flags.fleetFlags)
	return c
}

func addRun(c *cobra.Command, flags *runFlags) {
	f := c.Flags()
	f.Var(&flags.repeat, "repeat", "runs of each scenario, 1 to 1000 (default: as the scenario says)")
	f.StringVar(&flags.order, "order", "", "interleaved (A B A B) or blocked (A A B B) (default: as the scenario says)")
	f.BoolVar(&flags.dryRun, "dry-run", false, "print what would be done, and do nothing")
	f.StringVar(&flags.progress, "progress", shortProgress,
		"short, or full: for each interval a line for each metric, with its total so far and the progress in %")
	f.StringVar(&flags.page, "page", "",
		"write a page with charts, for a browser, at the end: to `FILE`, or to "+pageFile+" in the folder of the run or campaign")
	f.Lookup("page").NoOptDefVal = ownFolder
	f.StringVar(&flags.resume, "resume", "", "the folder of a campaign to continue")
}

// missingScenario is the error of a run without a scenario. On a terminal it prints first what e2e would do.
func missingScenario(c *cobra.Command, flags runFlags) error {
	missing := needs(1, math.MaxInt, runHint)(c, nil)
	if !isTerminal(c.OutOrStdout()) {
		return missing
	}
	return preview(c.Context(), flags, c.OutOrStdout(), c.ErrOrStderr(), missing)
}

func preview(ctx context.Context, flags runFlags, stdout, stderr io.Writer, missing error) error {
	const simplest = "e2e"
	flags.dryRun = true
	fmt.Fprintf(stdout, "The simplest scenario is %s. It would do this:\n\n", simplest)
	if err := runScenarios(ctx, []string{simplest}, flags, stdout, stderr); err != nil {
		return errors.Join(missing, err)
	}
	fmt.Fprintf(stdout, "\nStart it with the same flags and its name: kafka-bench run %s\n\n", simplest)
	return missing
}

func runScenarios(ctx context.Context, args []string, flags runFlags, stdout, stderr io.Writer) error {
	plan, err := flags.plan(args)
	if err == nil {
		plan, err = flags.capped(plan)
	}
	if err == nil {
		err = flags.fleetFlags.able(plan.Scenarios()...)
	}
	served, servedErr := flags.pagesFlags.options(args...)
	r, err := newRig(flags.engineFlags, flags.fleetFlags, flags.body(stderr),
		errors.Join(err, flags.checkFiles(), servedErr))
	if err != nil {
		return err
	}
	r.take(flags, served, plan)
	r.counted = flags.replicated(&plan, plan.Runs)
	r.lasts = flags.lasting(plan, plan.Runs) * time.Duration(1+flags.retries)
	at, err := r.check(ctx, plan.Scenarios()...)
	if err != nil {
		return err
	}
	for _, note := range plan.Notes {
		r.progress(note)
	}
	if flags.dryRun {
		return r.dry(ctx, at, campaign.Origin{}, plan.Scenarios(), func(at place) error {
			return printPlan(stdout, plan, plan.Runs, r, at)
		})
	}
	shown, err := r.openPages(stderr)
	if err != nil {
		return err
	}
	defer shown.close()
	if plan.Single() {
		return runSingle(ctx, plan, r, stdout, stderr)
	}
	planned, err := plan.Campaign(tool())
	if err != nil {
		return err
	}
	journal, err := campaign.Create(flags.out, planned)
	if err != nil {
		return err
	}
	return carryOut(ctx, journal, plan, campaign.Origin{}, r, stdout, stderr)
}

func (f runFlags) plan(args []string) (campaign.Plan, error) {
	var suites []scenario.Suite
	var faults []error
	var notes []string
	for _, arg := range args {
		suite, err := f.suite(arg, f.engineFlags)
		if err == nil {
			var left []string
			suite, left, err = campaign.LeaveOut(suite, notBuilt)
			notes = slices.Concat(notes, left, f.quickNotes(suite))
			err = errors.Join(err, f.enough(suite))
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		suites = append(suites, suite)
	}
	faults = append(faults, f.checkProgress()...)
	expected, err := parseExpectations(f.expect)
	if err != nil {
		faults = append(faults, err)
	}
	if f.repeat.given && (f.repeat.n < 1 || f.repeat.n > maxRepeat) {
		faults = append(faults, fmt.Errorf("--repeat %d: give 1 to %d", f.repeat.n, maxRepeat))
	}
	if f.order != "" && f.order != scenario.Interleaved && f.order != scenario.Blocked {
		faults = append(faults, fmt.Errorf("--order %s: choose %s or %s", f.order, scenario.Interleaved,
			scenario.Blocked))
	}
	if err := errors.Join(faults...); err != nil {
		return campaign.Plan{}, err
	}
	plan, err := campaign.NewPlan(suites, campaign.PlanOptions{Repeat: f.repeat.n, Order: f.order, Notes: notes})
	if err != nil {
		return plan, err
	}
	plan.Labels, _ = parseLabels(f.label) // see checkFiles
	if plan.Expected, err = suited(expected, plan.Cells); err != nil {
		return plan, err
	}
	if plan.Single() && plan.Seed != 0 {
		plan.Notes = append(plan.Notes,
			"seed: it orders several runs, and there is one; load.record.seed is the seed of the payload")
	}
	each := make([]scenario.Scenario, len(plan.Runs))
	for i, run := range plan.Runs {
		each[i] = plan.Cells[run.Cell].Scenario
	}
	return plan, f.keepable(each...)
}

func (f runFlags) checkFiles() error {
	return errors.Join(checkPage(f.page), checkFile("--junit", f.junit, junitFile), f.ciFlags.check())
}

func (f runFlags) checkProgress() (faults []error) {
	if f.quiet && f.progress == fullProgress {
		faults = append(faults, errors.New("--quiet prints no progress; leave it or --progress full out"))
	}
	if f.quiet && !f.asText() {
		faults = append(faults, errors.New("--quiet prints lines of text, and no other --format; leave one of the two out"))
	}
	if f.progress != shortProgress && f.progress != fullProgress {
		faults = append(faults, fmt.Errorf("--progress %s: choose %s or %s", f.progress, shortProgress, fullProgress))
	}
	return faults
}

func runSingle(ctx context.Context, plan campaign.Plan, r rig, stdout, stderr io.Writer) error {
	s := plan.Cells[0].Scenario
	v := newView(r, plan, stdout, stderr)
	var j report.Judgement
	err := r.with(ctx, v, func(ctx context.Context, e campaign.Engine) error {
		v.begin(0)
		outcome, err := e.Make(ctx, s, nil)
		if err != nil {
			return errors.Join(campaign.Failure(s, err), v.stop())
		}
		err = errors.Join(v.end(0, outcome), writeRunPage(r.page, outcome.Dir, v.out))
		recorded, readErr := result.Read(outcome.Dir)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		err = errors.Join(err, r.ci.report(reported{runs: []*result.Recorded{recorded}}, stdout))
		j = report.Judge([]*result.Recorded{recorded})
		if outcome.Run.EndedByUser() {
			return with(errInterrupted, err)
		}
		if reason := outcome.Run.Run.EndedByGuard; reason != "" {
			return with(fmt.Errorf("%w: %s", bench.ErrGuarded, reason), err)
		}
		return with(judged(j), err)
	})
	return with(err, r.judging.conclude(s.Name, j, err, stdout))
}
