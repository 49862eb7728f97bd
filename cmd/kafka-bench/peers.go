package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/peers"
)

type peersFlags struct {
	engineFlags
	scenarioFlags
	repeat int
}

func peersCommand(in surroundings) *cobra.Command {
	flags := peersFlags{engineFlags: engineFlags{in: in}}
	c := &cobra.Command{
		Use:   "peers SCENARIO",
		Short: "Compare our runs with those of Kafka's own performance tools",
		Long: `Run a scenario in turns with kafka-producer-perf-test and
kafka-consumer-perf-test, on the same cluster, with the same record size, acks,
compression, linger and batch; the rate becomes the producer's --throughput. The
consumer's tool reads the topic that the producer's tool has filled.

The tools come with the Kafka that kafka-bench resolves with Maven, and need Java
17 or later. What they print is kept in their run's folder (peer.txt) and imported.
A table at the end shows all three side by side, and says what can be compared.

Exit codes are those of run. An interrupted peers campaign cannot be resumed.`,
		Example: `  kafka-bench peers quick
  kafka-bench peers baseline --repeat 5 --set load.compression=none`,
		Args: needs(1, 1, "one SCENARIO: a preset's name (kafka-bench list) or a YAML file"),
		RunE: func(c *cobra.Command, args []string) error {
			return runPeers(c.Context(), args[0], flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	addScenario(c, &flags.scenarioFlags)
	addEngine(c, &flags.engineFlags)
	c.Flags().IntVar(&flags.repeat, "repeat", 3, "rounds: runs of each")
	return c
}

func (f peersFlags) scenario(arg string) (scenario.Scenario, error) {
	suite, err := f.suite(arg, f.engineFlags)
	var repeatErr error
	if f.repeat < 1 || f.repeat > maxRepeat {
		repeatErr = fmt.Errorf("--repeat %d: give 1 to %d", f.repeat, maxRepeat)
	}
	if err := errors.Join(err, repeatErr); err != nil {
		return scenario.Scenario{}, err
	}
	if n := len(suite.Cells); n != 1 {
		return scenario.Scenario{}, fmt.Errorf("scenario %s is a suite of %d scenarios; peers takes one", arg, n)
	}
	if err := peers.Check(suite.Cells[0].Scenario); err != nil {
		return scenario.Scenario{}, err
	}
	plan, err := campaign.NewPlan([]scenario.Suite{suite}, campaign.PlanOptions{Repeat: len(peers.Names) * f.repeat})
	if err == nil {
		plan, err = f.capped(plan)
	}
	if err != nil {
		return scenario.Scenario{}, err
	}
	return plan.Cells[0].Scenario, nil
}

func runPeers(ctx context.Context, arg string, flags peersFlags, stdout, stderr io.Writer) error {
	s, err := flags.scenario(arg)
	r, err := newRig(flags.engineFlags, noAgents, stderr, err)
	if err != nil {
		return err
	}
	_, err = r.check(ctx, s)
	if err := errors.Join(err, flags.keepable(slices.Repeat([]scenario.Scenario{s}, flags.repeat)...)); err != nil {
		return err
	}
	journal, err := campaign.Create(flags.out, result.Campaign{
		Campaign: result.CampaignInfo{
			Name: s.Name + "-peers", Kind: result.KindPeers, Tool: tool(), Order: scenario.Interleaved,
			Repeat:   flags.repeat,
			Question: "Do Kafka's own tools see what kafka-bench sees?",
		},
	})
	if err != nil {
		return err
	}
	p := &peersCampaign{journal: journal, flags: flags, stdout: stdout, stderr: stderr, progress: r.progress}
	p.rounds = peers.Rounds{Scenario: s, Repeat: flags.repeat, Keep: flags.keepTopics, Turns: p}
	err = r.with(ctx, p, p.carryOut)
	empty, c := journal.Empty(), journal.Campaign()
	if errors.Is(err, errInterrupted) && !empty {
		err = fmt.Errorf("%w; %d of %d runs are made, in %s", err, c.Made(), len(c.Runs), journal.Dir())
	}
	if err := errors.Join(err, journal.Close()); err != nil || empty {
		return err
	}
	return p.conclude()
}

type peersCampaign struct {
	rounds   peers.Rounds
	journal  *campaign.Journal
	flags    peersFlags
	stdout   io.Writer
	stderr   io.Writer
	progress func(string)
	engine   campaign.Engine
}

func (p *peersCampaign) carryOut(ctx context.Context, e campaign.Engine) error {
	p.engine = e
	starting, cancel := e.Bench.Starting(ctx)
	defer cancel()
	c, err := e.Source.For(starting, p.rounds.Scenario)
	if err != nil {
		return err
	}
	tools, err := p.tools(starting, c)
	if err != nil {
		return err
	}
	admin, err := cluster.NewAdmin(c.Bootstrap(), cluster.AccessTo(c))
	if err != nil {
		return err
	}
	defer admin.Close()
	for _, name := range peers.Names {
		if _, err := p.journal.Cell(name, nil, p.rounds.Scenario); err != nil {
			return err
		}
	}
	for range p.rounds.Repeat {
		for cell := range peers.Names {
			p.journal.Add(cell)
		}
	}
	p.rounds.Pair = func(round int) *peers.Pair {
		return &peers.Pair{
			Tools: tools, Admin: admin, Out: p.flags.out, Tool: tool(),
			ID: p.journal.Campaign().Campaign.ID, Round: round + 1, Keep: p.flags.keepTopics,
		}
	}
	if err := p.rounds.Make(ctx); err != nil {
		return err
	}
	return p.journal.Finish()
}

func (p *peersCampaign) tools(ctx context.Context, c cluster.Cluster) (peers.Tools, error) {
	home, err := cluster.UserHome()
	if err != nil {
		return peers.Tools{}, err
	}
	java, err := cluster.FindJava(ctx)
	if err != nil {
		return peers.Tools{}, err
	}
	dist, err := home.KafkaDist(ctx, "", p.progress) // tools before 4.2 lack flags that peers need
	if err != nil {
		return peers.Tools{}, err
	}
	return peers.Tools{Java: java, Dist: dist, Cluster: c, CommandConfig: p.flags.access}, nil
}

// Ours implements peers.Turns.
func (p *peersCampaign) Ours(ctx context.Context) (*result.Run, error) {
	ours, err := p.make(ctx, peers.Ours, p.engine)
	if err == nil && ours.Run.Interrupted {
		err = errInterrupted
	}
	return ours, err
}

func (p *peersCampaign) Theirs(ctx context.Context, tool string,
	run func(context.Context) (*peers.Made, error)) (*result.Run, error) {
	return p.make(ctx, tool, toolMaker{p.engine.Bench, run})
}

func (p *peersCampaign) make(ctx context.Context, name string, m campaign.Maker) (*result.Run, error) {
	place := p.journal.Pending()[0] // the rounds take the turns in the order of the plan
	fmt.Fprintf(p.stderr, "round %d of %d · %s\n", p.journal.Campaign().Runs[place].Round+1, p.rounds.Repeat, name)
	outcome, err := p.journal.Make(ctx, m, place, p.rounds.Scenario)
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(p.stderr, "  %s, %s\n", outcome.Run.Verdict.Status, outcome.Dir)
	for _, reason := range outcome.Run.Verdict.Reasons {
		fmt.Fprintf(p.stderr, "  because %s\n", reason)
	}
	return &outcome.Run, nil
}

type toolMaker struct {
	bench bench.Config
	run   func(context.Context) (*peers.Made, error)
}

// Make implements campaign.Maker.
func (m toolMaker) Make(ctx context.Context, _ scenario.Scenario, began func(dir string)) (*bench.Outcome, error) {
	ctx, cancel := m.bench.Starting(ctx)
	defer cancel()
	made, err := m.run(ctx)
	if err != nil {
		return nil, err
	}
	began(made.Dir)
	return &bench.Outcome{Dir: made.Dir, Run: made.Run}, nil
}

func (p *peersCampaign) conclude() error {
	fmt.Fprintf(p.stdout, "\nCampaign: %s\n\n", p.journal.Dir())
	if err := printPeers(p.stdout, &p.rounds); err != nil {
		return err
	}
	return validPeers(p.journal.Campaign())
}

// validPeers returns errInvalid if a run is invalid. The runs of the other tools have no verdict.
func validPeers(c *result.Campaign) error {
	for _, run := range c.Runs {
		if !(result.Verdict{Status: run.Status}).Usable() {
			return errInvalid
		}
	}
	return nil
}

func (p *peersCampaign) ready(scenario.Scenario, cluster.Info) {}

func (p *peersCampaign) Began(string) {}

func (p *peersCampaign) Interval(result.Interval) {}

func (p *peersCampaign) Event(result.Event) {}
