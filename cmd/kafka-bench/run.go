package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"kafka-bench/internal/access"
	"kafka-bench/internal/bench"
	"kafka-bench/internal/campaign"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/report"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

// runFlags are what the command line of run says.
type runFlags struct {
	set        []string
	out        string
	driver     string
	cluster    string
	brokers    []string
	clusterID  string
	access     string // the client properties file, as Kafka's tools take it
	keepTopics bool
}

func runCommand() *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run SCENARIO…",
		Short: "Run scenarios and report what was measured",
		Long: `Run one scenario or several. A SCENARIO is a preset's name (kafka-bench list) or a
YAML file. Several are run one after another and end with a table that sets them
side by side.

Without --brokers a local cluster is used: the one that "cluster up" keeps, or
an Apache Kafka that is started and stopped again, or, where Java or Maven is
missing, the embedded broker.

A cluster that asks for TLS or for a user is reached with the client properties
file that Kafka's own tools take: --command-config client.properties. Stores and
keys must be PEM.

Exit codes: 0 valid, 1 invalid run, 2 bad input, 3 cluster out of reach,
130 interrupted (what was measured is saved).`,
		Example: `  kafka-bench run quick
  kafka-bench run overload overload-loose overload-tight
  kafka-bench run baseline --set load.rate=20k/s --set load.record.size=1KiB
  kafka-bench run my-scenario.yaml --brokers kafka-1:9092 --cluster-id 5L6g3nShT-eMCtK--X86sw
  kafka-bench run baseline --brokers kafka-1:9093 --command-config client.properties`,
		Args: needs(1, math.MaxInt, "a SCENARIO: a preset's name (kafka-bench list) or a YAML file"),
		RunE: func(c *cobra.Command, args []string) error {
			return runScenarios(c.Context(), args, flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	addSet(c, &flags.set)
	addOut(c, &flags.out)
	f := c.Flags()
	f.StringVar(&flags.driver, "driver", "franz", "the client under test")
	f.StringVar(&flags.cluster, "cluster", "", "kafka, embedded, or the name of a cluster that is up")
	f.StringSliceVar(&flags.brokers, "brokers", nil, "addresses of an existing cluster, host:port")
	f.StringVar(&flags.clusterID, "cluster-id", "", "the ID of the existing cluster; required unless it is on this machine")
	f.StringVar(&flags.access, "command-config", "", "a client properties file that says how the existing cluster lets clients in (TLS, SASL)")
	f.BoolVar(&flags.keepTopics, "keep-topics", false, "do not delete the runs' topics")
	return c
}

// check finds what is wrong with the flags before anything is started.
func (f runFlags) check() error {
	switch {
	case f.cluster != "" && len(f.brokers) > 0:
		return errors.New("--cluster and --brokers name two clusters; leave one of them out")
	case f.clusterID != "" && len(f.brokers) == 0:
		return errors.New("--cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out")
	case f.access != "" && len(f.brokers) == 0:
		return errors.New("--command-config is for an existing cluster; name its addresses with --brokers, or leave it out")
	}
	return result.CheckWritable(f.out)
}

func runScenarios(ctx context.Context, args []string, flags runFlags, stdout, stderr io.Writer) (err error) {
	scenarios, err := readScenarios(args, flags.set)
	a, accessErr := readAccess(flags, progressTo(stderr))
	if err := errors.Join(err, accessErr); err != nil {
		return err
	}
	client, err := driverNamed(flags.driver)
	if err != nil {
		return err
	}
	if err := flags.check(); err != nil {
		return err
	}
	home, err := cluster.UserHome()
	if err != nil {
		return err
	}
	source := &cluster.Source{
		Home: home, Kind: flags.cluster, Brokers: flags.brokers, ClusterID: flags.clusterID, Access: a,
		Progress: progressTo(stderr),
	}
	ctx, interrupt, stop := interruptible(ctx)
	defer stop() // last: an interrupt while the cluster stops must not end the tool
	defer func() { err = errors.Join(err, source.Close()) }()
	plan := campaign.Plan(scenarios)
	view := newView(stdout)
	outcomes, err := campaign.Run(ctx, plan, campaign.Config{
		Source: source,
		Bench: bench.Config{
			Driver: client, Out: flags.out, KeepTopics: flags.keepTopics, Tool: tool(),
			Watch: view, Interrupt: interrupt,
		},
		Began: func(place int, c cluster.Info) { view.begin(plan, place, c) },
		Ended: view.end,
	})
	return conclude(stdout, outcomes, err)
}

func readScenarios(args, set []string) ([]scenario.Scenario, error) {
	var scenarios []scenario.Scenario
	var faults []error
	for _, arg := range args {
		s, err := scenario.Read(arg, set...)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, errors.Join(faults...)
}

// readAccess reads how the existing cluster lets clients in, and tells what of
// the file was ignored.
func readAccess(flags runFlags, tell func(string)) (access.Access, error) {
	if flags.access == "" {
		return access.Access{}, nil
	}
	a, warnings, err := access.Read(flags.access)
	for _, warning := range warnings {
		tell(warning)
	}
	return a, err
}

// conclude shows several runs side by side and turns what happened into the
// command's error.
func conclude(stdout io.Writer, outcomes []*bench.Outcome, err error) error {
	if len(outcomes) > 1 {
		if sideErr := sideBySide(stdout, outcomes); sideErr != nil {
			return errors.Join(err, sideErr)
		}
	}
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.Run.Run.Interrupted {
			return errInterrupted
		}
	}
	for _, o := range outcomes {
		if o.Run.Verdict.Status != result.Valid {
			return errInvalid
		}
	}
	return nil
}

func sideBySide(stdout io.Writer, outcomes []*bench.Outcome) error {
	var runs []*result.Recorded
	for _, o := range outcomes {
		recorded, err := result.Read(o.Dir)
		if err != nil {
			return err
		}
		runs = append(runs, recorded)
	}
	fmt.Fprintln(stdout)
	return report.SideBySide(stdout, runs, report.Options{Colour: isTerminal(stdout)})
}

// interruptible returns a context and a channel. The first interrupt closes the
// channel, which ends a run gently, or, before a run has begun, the second one
// ends the context, which abandons it.
func interruptible(parent context.Context) (ctx context.Context, interrupt <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	first := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			close(first)
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			signal.Stop(signals) // a third one ends the tool as if nobody listened
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, first, func() {
		signal.Stop(signals)
		cancel()
	}
}
