package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
	"kafkabench.example/kafka-bench/internal/run/fleet/topic"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type collectFlags struct {
	in      surroundings
	session string
	brokers []string
	access  string
	key     string
	out     string
	remove  bool
}

func collectCommand(in surroundings) *cobra.Command {
	flags := collectFlags{in: in}
	c := &cobra.Command{
		Use:   "collect",
		Short: "Make the result of a run with agents whose coordinator is gone",
		Long: `Make the result of the last run of a session from what its agents handed in, because the
process that coordinated it is gone. The agents finish without it, and collect waits for
them. What they hand in stays on the cluster for seven days, or until --delete.

Exit codes: as those of run.`,
		Example: `  kafka-bench collect --session monday --brokers kafka-1:9092 --key session.key
  kafka-bench collect --session monday --brokers kafka-1:9092 --key session.key --delete`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return collect(c.Context(), flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	addOut(c, &flags.out)
	f := c.Flags()
	f.StringVar(&flags.session, "session", "", "the session's name (required)")
	addList(f, &flags.brokers, "brokers", nil, "addresses of the cluster, host:port (required)")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file that says how the cluster lets clients in (TLS, SASL)")
	f.StringVar(&flags.key, "key", "", "the `FILE` with the session's key")
	f.BoolVar(&flags.remove, "delete", false, "delete the session's topic afterwards, and the topics and groups that the run made")
	return c
}

func collect(ctx context.Context, flags collectFlags, stdout, stderr io.Writer) (err error) {
	key, err := flags.check()
	tell := progressTo(stderr)
	a, accessErr := engineFlags{access: flags.access}.readAccess(tell)
	if err := errors.Join(err, accessErr); err != nil {
		return err
	}
	a = flags.in.through(a)
	ctx, interrupt, stop := flags.in.interruptible(ctx, func(string) { tell("going on without the agents that have not handed in") })
	defer stop()
	look, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	c, err := cluster.Attach(look, flags.brokers, "", a)
	if err != nil {
		return err
	}
	log, err := topic.Find(look, topic.Config{Brokers: c.Bootstrap(), Access: a, Session: flags.session, Client: flags.in.logOptions()})
	if err != nil {
		return err
	}
	defer log.Close()
	spool, err := os.MkdirTemp("", "kafka-bench-collect-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(spool)
	wait, cancel := bench.Config{Interrupt: interrupt}.Starting(ctx)
	defer cancel()
	plan, handed, err := fleet.Collect(ctx, wait, fleet.Session{Name: flags.session, Log: log, Topic: log.ID(), Key: key}, spool, tell)
	if err != nil {
		return err
	}
	outcome, err := bench.Conclude(bench.Config{Out: flags.out, Probes: flags.in.probes}, plan, handed)
	if err != nil {
		return err
	}
	switch {
	case flags.remove && len(handed.Missing) > 0 && wait.Err() != nil:
		tell("nothing was deleted, because agents may still hand in: collect again with --delete")
	case flags.remove:
		if err := errors.Join(removeRun(ctx, flags, c, plan), log.Delete(context.WithoutCancel(ctx))); err != nil {
			return err
		}
	}
	if err := printRun(stdout, outcome); err != nil {
		return err
	}
	recorded, err := result.Read(outcome.Dir)
	if err != nil {
		return err
	}
	return judged(report.Judge([]*result.Recorded{recorded}))
}

func removeRun(ctx context.Context, flags collectFlags, c *cluster.Existing, plan bench.Plan) error {
	if id := c.Info().ID; plan.Cluster.ID != id {
		return fmt.Errorf("nothing was deleted: the run was made on the cluster %s, and --brokers lead to %s", plan.Cluster.ID, id)
	}
	return bench.Remove(ctx, bench.Config{Cluster: c, Probes: flags.in.probes}, plan)
}

func (f collectFlags) check() (control.Key, error) {
	var faults []error
	if f.session == "" {
		faults = append(faults, errors.New("collect needs the --session of the run"))
	}
	if len(f.brokers) == 0 {
		faults = append(faults, errors.New("collect needs the --brokers of the run"))
	}
	key, err := readKey(f.key)
	return key, errors.Join(append(faults, err, keyNeeded(f.key, f.brokers), flagFault("--brokers", cluster.CheckAddresses(f.brokers)), writable("--out", f.out))...)
}
