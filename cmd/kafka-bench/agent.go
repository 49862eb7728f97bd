package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
	"kafkabench.example/kafka-bench/internal/run/fleet/topic"
	"kafkabench.example/kafka-bench/internal/show/web"
)

type agentFlags struct {
	in      surroundings
	session string
	index   string
	of      int
	brokers []string
	cluster string // its ID; "" is any
	access  string
	key     string
	spool   string
	metrics pagesFlags
	// local is set if another process started the agent. The agent then ends with that process, and
	// keepTopics is that process's flag.
	local      bool
	keepTopics bool
	clock      string
	at         string // where other agents ask for the time
}

// completionIndex is the variable in which Kubernetes gives a pod of a Job its index.
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
	addList(f, &flags.brokers, "brokers", nil, "addresses of the cluster, host:port (required)")
	f.StringVar(&flags.cluster, "cluster-id", "", "the ID of the cluster, as the run prints it; another one is refused")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file that says how the cluster lets clients in (TLS, SASL)")
	f.StringVar(&flags.key, "key", "", "the `FILE` with the session's key")
	f.StringVar(&flags.spool, "spool", os.TempDir(), "the folder for what is measured, until it is handed in")
	addMetrics(c, &flags.metrics)
	f.BoolVar(&flags.local, "local", false, "end with standard input, and leave nothing behind then")
	f.BoolVar(&flags.keepTopics, "keep-topics", false, "do not delete the run's topic then")
	_, _ = f.MarkHidden("local"), f.MarkHidden("keep-topics")
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

func (f agentFlags) check() (index int, key control.Key, served web.Options, err error) {
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
	key, err = readKey(f.key)
	faults = append(faults, err, keyNeeded(f.key, f.brokers), flagFault("--brokers", cluster.CheckAddresses(f.brokers)), f.checkClock())
	served, err = f.metrics.options()
	faults = append(faults, err, writable("--spool", f.spool))
	return index, key, served, errors.Join(faults...)
}

func keyNeeded(key string, brokers []string) error {
	if key != "" || len(brokers) == 0 || loopback(brokers) {
		return nil
	}
	return errors.New("a session on a cluster of other machines needs --key FILE: make one with kafka-bench agent key > session.key, " +
		"and give it to all agents and to the run")
}

// readAccess takes the access from the process that started the agent, or else reads the client properties.
func (f agentFlags) readAccess(tell func(string)) (access.Access, error) {
	if !f.local {
		return engineFlags{access: f.access}.readAccess(tell)
	}
	var passed access.Handover
	if err := gob.NewDecoder(os.Stdin).Decode(&passed); err != nil {
		return access.Access{}, fmt.Errorf("%w: the process that started it passed no access: %w", errNoCoordinator, err)
	}
	return passed.Access()
}

func runAgent(ctx context.Context, flags agentFlags, stderr io.Writer) (err error) {
	index, key, served, err := flags.check()
	tell := progressTo(stderr)
	a, accessErr := flags.readAccess(tell)
	if err := errors.Join(err, accessErr); err != nil {
		return err
	}
	a = flags.in.through(a)
	ctx, interrupt, stop := flags.in.interruptible(ctx, tell)
	defer stop()
	orphaned := func() bool { return false }
	if flags.local {
		ctx, orphaned = untilOrphaned(ctx, flags.spool)
	}
	c, err := cluster.Attach(ctx, flags.brokers, flags.cluster, a)
	if err != nil {
		return err
	}
	for _, text := range c.Silent() {
		tell(text)
	}
	waiting, cancel := bench.Config{Interrupt: interrupt}.Starting(ctx)
	defer cancel()
	log, err := topic.Open(waiting, topic.Config{
		Brokers: c.Bootstrap(), Access: a, Session: flags.session, Client: flags.in.logOptions(),
		Waits: func() {
			tell(fmt.Sprintf("waiting for the coordinator of the session %s: kafka-bench run … --session %s --agents %d", flags.session, flags.session, flags.of))
		},
	})
	if err != nil {
		return err
	}
	defer log.Close()
	clock, err := flags.openClock()
	if err != nil {
		return err
	}
	hostName, _ := os.Hostname() // on an error it stays ""
	served.Agent, served.Host = strconv.Itoa(index), hostName
	shown := &watched{warn: tell}
	if served.Metrics != nil {
		if err := shown.start(served); err != nil {
			return err
		}
		defer shown.close()
		tell("metrics: " + shown.pages.Metrics)
	}
	if err := os.MkdirAll(flags.spool, 0o755); err != nil {
		return err
	}
	spool, err := os.MkdirTemp(flags.spool, "kafka-bench-agent-")
	if err != nil {
		return err
	}
	var last bench.Plan
	err = fleet.RunAgent(ctx, fleet.AgentConfig{
		Session: fleet.Session{Name: flags.session, Log: log, Topic: log.ID(), Key: key},
		Index:   index, Of: flags.of, Open: driverNamed, HostName: hostName, Host: result.Host(probe.DescribeHost()), Tell: tell, Clock: clock,
		Plans: func(p bench.Plan) { last = p },
		Bench: bench.Config{
			Cluster: c, Out: spool, Tool: tool(), Interrupt: interrupt, Probes: flags.in.probes, Watch: partWatcher{shown.pages},
		},
	})
	if orphaned() {
		flags.leaveNothing(c, log, last)
		return fmt.Errorf("%w: the process that started it has ended", errNoCoordinator)
	}
	return agentEnd(err, spool, flags.local, tell)
}

// agentEnd removes the spool, unless the only copy of a part is in it. If the agent had no
// coordinator or did not hand in its part, agentEnd wraps err in the error that gives the exit code
// (errNoCoordinator or errNotHandedIn).
func agentEnd(err error, spool string, local bool, tell func(string)) error {
	if errors.Is(err, fleet.ErrNotHandedIn) && !fleet.NoCoordinator(err) && !local {
		tell("what was measured, and not handed in, is in " + spool)
	} else if removeErr := os.RemoveAll(spool); removeErr != nil {
		err = errors.Join(err, removeErr)
	}
	switch {
	case fleet.NoCoordinator(err):
		return fmt.Errorf("%w: %w", errNoCoordinator, err)
	case errors.Is(err, fleet.ErrNotHandedIn):
		return fmt.Errorf("%w: %w", errNotHandedIn, err)
	}
	return err
}

type partWatcher struct{ pages *web.Pages }

func (w partWatcher) Began(dir string) { w.pages.Run(dir) }

// Interval does nothing: the process that serves the metrics reads the run's folder.
func (partWatcher) Interval(result.Interval) {}

func (partWatcher) Event(result.Event) {}

// untilOrphaned returns a context that ends with standard input, which the starting process holds
// open, and a function that reports whether standard input has ended. This process then exits
// within endTimeout.
func untilOrphaned(ctx context.Context, spool string) (context.Context, func() bool) {
	ctx, cancel := context.WithCancel(ctx)
	var orphaned atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		orphaned.Store(true)
		cancel()
		time.Sleep(endTimeout) // a client may wait minutes if its brokers died too
		_ = os.RemoveAll(spool)
		os.Exit(exitUnreachable)
	}()
	return ctx, orphaned.Load
}

// leaveNothing removes what the dead starting process cannot: the session's folder and topic, and
// the run's topic. All agents of the session try it.
func (f agentFlags) leaveNothing(c cluster.Cluster, log *topic.Topic, last bench.Plan) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	_ = os.RemoveAll(f.spool)
	_ = log.Delete(ctx)
	if last.Topic == "" || last.Existing || f.keepTopics {
		return
	}
	admin, err := cluster.NewAdmin(c.Bootstrap(), cluster.AccessTo(c))
	if err != nil {
		return
	}
	defer admin.Close()
	if t, err := admin.UseExisting(ctx, last.Topic); err == nil {
		t.Existing = false
		_ = admin.DeleteTopic(ctx, t) // another agent may have deleted it
	}
}
