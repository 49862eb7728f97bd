package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/topic"
)

// agentFlags say who an agent is.
type agentFlags struct {
	in      surroundings
	session string
	index   string
	of      int
	brokers []string
	access  string
	key     string
	spool   string
	clock   string
	at      string // where others ask for the clock
}

// completionIndex is where Kubernetes says which of a Job's pods a process is in.
const completionIndex = "JOB_COMPLETION_INDEX"

func agentCommand(in surroundings) *cobra.Command {
	flags := agentFlags{in: in}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Make a part of each run of a session, until it is over",
		Long: `Make a part of each run that another kafka-bench coordinates: start one agent on each
machine, and one of these with the same session:

  kafka-bench run SCENARIO --agents N --session NAME …

Agents may be started first: they wait for the session. They speak with who coordinates
them only through a topic of the cluster, and each agent has its own way to that. It
measures its part, and hands it in at the end.

Exit codes: 0 handed in, 1 not handed in, 2 bad input, or another process has the index,
3 no Kafka, or no coordinator, 130 interrupted before anything was measured.`,
		Example: `  kafka-bench agent --session monday --index 0 --of 3 --brokers kafka-1:9092 --key session.key
  kafka-bench agent key > session.key`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runAgent(c.Context(), flags, c.ErrOrStderr()) },
	}
	f := c.Flags()
	f.StringVar(&flags.session, "session", "", "the session's name (required)")
	f.StringVar(&flags.index, "index", os.Getenv(completionIndex), "which agent this is, from 0 (default: $"+completionIndex+")")
	f.IntVar(&flags.of, "of", 0, "how many agents there are (required)")
	f.StringSliceVar(&flags.brokers, "brokers", nil, "addresses of the cluster, host:port (required)")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file that says how the cluster lets clients in (TLS, SASL)")
	f.StringVar(&flags.key, "key", "", "the `FILE` with the session's key")
	f.StringVar(&flags.spool, "spool", os.TempDir(), "the folder for what is measured, until it is handed in")
	f.StringVar(&flags.clock, "clock", clockAuto,
		"how the clocks of agents are compared: auto (agents of one machine have one clock, others ask by UDP),"+
			" echo (all ask by UDP), kafka (over the session's topic; the error is some ms)")
	f.StringVar(&flags.at, "clock-addr", "",
		"`HOST:PORT` for the UDP questions of other agents (default: any port of the address that leads to the brokers)")
	c.AddCommand(&cobra.Command{
		Use: "key", Short: "Print a new key for a session", Example: "  kafka-bench agent key > session.key", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), newKey())
			return err
		},
	})
	return c
}

// check finds what the flags lack.
func (f agentFlags) check() (index int, err error) {
	var faults []error
	if f.session == "" {
		faults = append(faults, errors.New("an agent needs the --session that the run has"))
	}
	if len(f.brokers) == 0 {
		faults = append(faults, errors.New("an agent needs --brokers, the cluster under test"))
	}
	if f.of < 1 || f.of > maxAgents {
		faults = append(faults, fmt.Errorf("--of %d: give the number of agents that the run has, 1 to %d", f.of, maxAgents))
	}
	if index, err = strconv.Atoi(f.index); err != nil || index < 0 || index >= max(1, f.of) {
		faults = append(faults, fmt.Errorf("--index %q: give one of 0 to %d, another to each agent", f.index, max(1, f.of)-1))
	}
	return index, errors.Join(append(faults, f.checkClock())...)
}

func runAgent(ctx context.Context, flags agentFlags, stderr io.Writer) error {
	index, err := flags.check()
	if err != nil {
		return err
	}
	key, err := readKey(flags.key)
	if err != nil {
		return err
	}
	if err := result.CheckWritable(flags.spool); err != nil {
		return err
	}
	tell := progressTo(stderr)
	a, err := engineFlags{access: flags.access}.readAccess(tell)
	if err != nil {
		return err
	}
	a = flags.in.through(a)
	ctx, interrupt, stop := flags.in.interruptible(ctx, tell)
	defer stop()
	c, err := cluster.Attach(ctx, flags.brokers, a)
	if err != nil {
		return err
	}
	waiting, cancel := bench.Config{Interrupt: interrupt}.Starting(ctx)
	defer cancel()
	log, err := topic.Open(waiting, topic.Config{Brokers: flags.brokers, Access: a, Session: flags.session, Client: flags.in.logOptions()})
	if err != nil {
		return err
	}
	defer log.Close()
	clock, err := flags.openClock()
	if err != nil {
		return err
	}
	hostName, _ := os.Hostname() // "" is one that does not say
	err = fleet.RunAgent(ctx, fleet.AgentConfig{
		Session: fleet.Session{Name: flags.session, Log: log, Topic: log.ID(), Key: key},
		Index:   index, Of: flags.of, Open: driverNamed, HostName: hostName, Host: result.Host(probe.DescribeHost()), Tell: tell, Clock: clock,
		Bench: bench.Config{
			Cluster: c, Out: flags.spool, Tool: tool(), Interrupt: interrupt, Probes: flags.in.probes,
		},
	})
	switch {
	case fleet.NoCoordinator(err):
		return fmt.Errorf("%w: %w", errNoCoordinator, err)
	case errors.Is(err, fleet.ErrNotHandedIn):
		return fmt.Errorf("%w: %w", errNotHandedIn, err)
	}
	return err
}
