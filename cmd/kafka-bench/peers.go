package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kafka-bench/internal/bench"
	"kafka-bench/internal/campaign"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/peers"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

// peersFlags are what the command line of peers says.
type peersFlags struct {
	engineFlags
	scenarioFlags
	repeat int
}

func peersCommand() *cobra.Command {
	var flags peersFlags
	c := &cobra.Command{
		Use:   "peers SCENARIO",
		Short: "Set our runs beside those of Kafka's own performance tools",
		Long: `Run a scenario in turns with kafka-producer-perf-test and
kafka-consumer-perf-test, on the same cluster, with the same record size, acks,
compression, linger and batch; the rate becomes the producer's --throughput. What
the producer's tool has filled a topic with, the consumer's tool reads.

The tools come with the Kafka that kafka-bench resolves with Maven, and need Java
17 or later. What they print is kept in their run's folder (peer.txt) and imported.
A table at the end sets all three side by side, and says what can be compared.

Exit codes are those of run. A peers campaign that was interrupted is begun anew.`,
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

// scenario reads the one scenario, and finds out whether the peers can run it.
func (f peersFlags) scenario(arg string) (scenario.Scenario, error) {
	suite, err := scenario.ReadSuite(arg, f.options())
	var repeatErr error
	if f.repeat < 1 || f.repeat > maxRepeat {
		repeatErr = fmt.Errorf("--repeat %d: give 1 to %d", f.repeat, maxRepeat)
	}
	if err := errors.Join(err, repeatErr); err != nil {
		return scenario.Scenario{}, err
	}
	if n := len(suite.Cells); n != 1 {
		return scenario.Scenario{}, fmt.Errorf("scenario %s is a matrix of %d; peers takes one", arg, n)
	}
	s := suite.Cells[0].Scenario
	return s, peers.Check(s)
}

func runPeers(ctx context.Context, arg string, flags peersFlags, stdout, stderr io.Writer) error {
	s, err := flags.scenario(arg)
	r, err := newRig(flags.engineFlags, stderr, err)
	if err != nil {
		return err
	}
	if err := r.checkOut(); err != nil {
		return err
	}
	journal, err := campaign.Create(flags.out, result.Campaign{
		Campaign: result.CampaignInfo{
			Name: s.Name + "-peers", Kind: result.KindPeers, Tool: tool(), Order: scenario.Interleaved, Repeat: flags.repeat,
			Question: "Do Kafka's own tools see what kafka-bench sees?",
		},
	})
	if err != nil {
		return err
	}
	p := &peersCampaign{scenario: s, journal: journal, flags: flags, stdout: stdout, progress: r.progress}
	err = r.with(ctx, p, p.carryOut)
	empty := journal.Empty()
	if err := errors.Join(err, journal.Close()); err != nil || empty {
		return err
	}
	return p.conclude()
}

// The cells of a peers campaign, in the order of their turns.
const (
	cellOurs = iota
	cellProducer
	cellConsumer
	numPeers
)

// peersCampaign is one campaign of us and Kafka's tools.
type peersCampaign struct {
	scenario scenario.Scenario
	journal  *campaign.Journal
	flags    peersFlags
	stdout   io.Writer
	progress func(string)
	runs     [numPeers][]result.Run
}

// carryOut makes the rounds.
func (p *peersCampaign) carryOut(ctx context.Context, e campaign.Engine) error {
	starting, cancel := e.Bench.Starting(ctx)
	defer cancel()
	c, err := e.Source.For(starting, p.scenario.Cluster)
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
	for _, name := range []string{"kafka-bench", peers.Producer, peers.Consumer} {
		p.journal.Cell(name, nil, p.scenario)
	}
	for round := range p.flags.repeat {
		if err := p.round(ctx, e, &peers.Pair{
			Tools: tools, Admin: admin, Out: p.flags.out, Tool: tool(),
			Tag: fmt.Sprintf("%s-%d", p.journal.Campaign().Campaign.ID, round+1),
		}); err != nil {
			return err
		}
	}
	return p.journal.Finish()
}

// tools finds Kafka's on this machine.
func (p *peersCampaign) tools(ctx context.Context, c cluster.Cluster) (peers.Tools, error) {
	home, err := cluster.UserHome()
	if err != nil {
		return peers.Tools{}, err
	}
	java, err := cluster.FindJava(ctx)
	if err != nil {
		return peers.Tools{}, err
	}
	dist, err := home.KafkaDist(ctx, p.progress)
	if err != nil {
		return peers.Tools{}, err
	}
	return peers.Tools{Java: java, Dist: dist, Cluster: c, CommandConfig: p.flags.access}, nil
}

// round makes one run of each, ours first: what it reaches says how many records
// a closed loop of the peers is to send, and on what machine they run.
func (p *peersCampaign) round(ctx context.Context, e campaign.Engine, pair *peers.Pair) (err error) {
	defer func() {
		if p.flags.keepTopics {
			return
		}
		// On the way out of an interrupted campaign, too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pairTimeout)
		defer cancel()
		err = errors.Join(err, pair.Close(ctx))
	}()
	ours, err := p.make(ctx, cellOurs, e)
	if err != nil {
		return err
	}
	if ours.Run.Run.Interrupted {
		return errInterrupted
	}
	pair.Host = ours.Run.Run.Host
	if _, err := p.make(ctx, cellProducer, toolMaker{e.Bench, func(ctx context.Context) (*peers.Made, error) {
		return pair.Produce(ctx, p.scenario, ours.Run.Load.AckedPerS)
	}}); err != nil {
		return err
	}
	_, err = p.make(ctx, cellConsumer, toolMaker{e.Bench, func(ctx context.Context) (*peers.Made, error) {
		return pair.Consume(ctx, p.scenario)
	}})
	return err
}

// pairTimeout bounds the removal of a pair's topic and group.
const pairTimeout = 15 * time.Second

// make makes the next run of a cell and tells of it.
func (p *peersCampaign) make(ctx context.Context, cell int, m campaign.Maker) (*bench.Outcome, error) {
	place := p.journal.Add(cell)
	c := p.journal.Campaign()
	fmt.Fprintf(p.stdout, "round %d of %d · %s\n", c.Runs[place].Round+1, p.flags.repeat, c.Cells[cell].Name)
	outcome, err := p.journal.Make(ctx, m, place, p.scenario)
	if err != nil {
		return nil, err
	}
	p.runs[cell] = append(p.runs[cell], outcome.Run)
	fmt.Fprintf(p.stdout, "  %s, %s\n", outcome.Run.Verdict.Status, outcome.Dir)
	for _, reason := range outcome.Run.Verdict.Reasons {
		fmt.Fprintf(p.stdout, "  because %s\n", reason)
	}
	return outcome, nil
}

// toolMaker makes a run with one of Kafka's tools, which an interrupt ends: what
// it has measured by then it does not tell.
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

// conclude shows the table and turns the verdicts into the command's error.
func (p *peersCampaign) conclude() error {
	fmt.Fprintf(p.stdout, "\nCampaign: %s\n\n", p.journal.Dir())
	c := p.journal.Campaign()
	var columns []peers.Column
	for cell, runs := range p.runs {
		columns = append(columns, peers.Column{Name: c.Cells[cell].Name, Runs: runs})
	}
	if err := peers.Table(p.stdout, columns); err != nil {
		return err
	}
	for _, difference := range peers.Differences(p.scenario) {
		fmt.Fprintf(p.stdout, "Mind: %s.\n", difference)
	}
	for _, run := range c.Runs {
		if run.Status != result.Valid {
			return errInvalid
		}
	}
	return nil
}

// ready implements viewer.
func (p *peersCampaign) ready(scenario.Scenario, cluster.Info) {}

// Began implements bench.Watcher.
func (p *peersCampaign) Began(string) {}

// Interval implements bench.Watcher.
func (p *peersCampaign) Interval(result.Interval) {}

// Event implements bench.Watcher.
func (p *peersCampaign) Event(result.Event) {}
