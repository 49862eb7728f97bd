package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/run/search"
)

// SearchConfig says what to search, and with which runs.
type SearchConfig struct {
	Maker Maker
	// Scenario is the scenario of every probe, except the rate and the lengths of the phases. A
	// volume, a number of records and rounds are ignored.
	Scenario scenario.Scenario
	// Expect is what a rate must meet to pass. Its run must also be valid and keep up.
	Expect  []figure.Expectation
	Options search.Options
	// Probe and Confirm are the measured windows of a probe and of the confirmation. A probe with
	// too few records for an expected percentile is longer, at most Confirm. The warm-up is the
	// scenario's; the drain is at most as long as the window.
	Probe, Confirm time.Duration
	// Curve adds runs at 10 % to 110 % of the answer. CurveOfPerS makes these runs for a known
	// rate, records/s, without a search; 0 searches.
	Curve       bool
	CurveOfPerS float64
	// MaxRate bounds the rate of every probe, as the scenario's load.max_rate does: a higher one is
	// not made, and counts as failed. The zero value is no bound.
	MaxRate unit.Rate
	// Replicas are those of existing topics, see Plan.
	Replicas map[string]int
	// Began is called before each probe and Ended after it; nil is not called.
	Began func(search.Step, scenario.Scenario)
	Ended func(result.Probe)
}

// DefaultExpectations are the expectations of a search without --expect: times that users call
// fast, and no record refused or left behind.
func DefaultExpectations(s scenario.Scenario) []string {
	if s.Consume.Consumers == 0 {
		return []string{"send_response_time_p99 <= 50ms", "acked_ratio >= 0.999"}
	}
	return []string{"e2e_response_time_p99 <= 50ms", "acked_ratio >= 0.999", "delivery_ratio >= 0.999",
		"backlog_growth <= 0"}
}

// Check returns what cannot be searched, before anything is started.
func (c SearchConfig) Check() error {
	faults := []error{c.Options.Check()}
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	s := c.Scenario
	process := s.Load.Arrival.Process
	fault(s.Load.Producers == 0, "scenario %s has no producers, so there is no rate to search; give load.producers",
		s.Name)
	fault(process != "constant" && process != "poisson",
		"the arrivals of scenario %s are %s, and a search varies one rate; add --set load.arrival=constant", s.Name, process)
	fault(s.Backpressure.Controller != "off",
		"scenario %s holds load back, so that Kafka gets less than the offered load; add --set backpressure=off", s.Name)
	fault(s.Consume.Hold != scenario.Hold{},
		"scenario %s holds its consumers, so that they cannot keep up with any rate; leave consume.hold out", s.Name)
	fault(c.Probe <= 0, "a probe of %v measures nothing; give 10s, or more", c.Probe)
	fault(c.Confirm < c.Probe, "a confirmation of %v is no longer than a probe of %v; give more", c.Confirm, c.Probe)
	for _, e := range c.Expect {
		fault(e.Every > 0, "expectation %q: a search judges the whole window of a probe; leave \"in every\" out", e)
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	for _, step := range []search.Step{{Phase: search.Capacity, PerS: search.ClosedLoop},
		{Phase: search.Bracket, PerS: 1}} {
		if err := c.scenario(step).Validate(); err != nil {
			return fmt.Errorf("as a probe of %v: %w", c.Probe, err)
		}
	}
	return nil
}

// Campaign returns the search as the first state of its journal.
func (c SearchConfig) Campaign(tool result.Tool) result.Campaign {
	info := result.CampaignInfo{
		Name: "search-" + c.Scenario.Name, Kind: result.KindSearch, Tool: tool, Order: scenario.Interleaved,
		Question: "What is the highest rate at which " + c.expected() + "?",
	}
	if c.CurveOfPerS > 0 {
		info.Name = "curve-" + c.Scenario.Name
		info.Question = "How do the times depend on the offered load, up to 110 % of " +
			unit.PerSecond(c.CurveOfPerS) + "?"
	}
	return result.Campaign{Campaign: info, Search: c.begin()}
}

func (c SearchConfig) expected() string {
	texts := make([]string, len(c.Expect))
	for i, e := range c.Expect {
		texts[i] = e.String()
	}
	return strings.Join(texts, ", ")
}

func (c SearchConfig) begin() *result.Search {
	s := &result.Search{
		ResolutionRatio: c.Options.WithDefaults().Resolution, ResponseMetric: "e2e_response_time",
		Answer: "The search has not finished.",
	}
	if c.Scenario.Consume.Consumers == 0 {
		s.ResponseMetric = "send_response_time"
	}
	for _, e := range c.Expect {
		s.Expectations = append(s.Expectations, e.String())
	}
	if slices.ContainsFunc(c.Expect, func(e figure.Expectation) bool { return e.Figure.Name == result.BacklogGrowth }) {
		s.GrowthTests = c.mostJudged()
	}
	return s
}

// mostJudged is the most probes that can fail for a growth of their backlog: known before the first
// one, and so independent of their outcomes. A second try on the curve follows only on a stall.
func (c SearchConfig) mostJudged() (n int) {
	if c.CurveOfPerS == 0 {
		n = c.Options.WithDefaults().MaxProbes - 1 // a closed loop expects nothing
	}
	if c.Curve || c.CurveOfPerS > 0 {
		n += search.NumCurveRates
	}
	return n
}

// Search makes the probes of a search as runs of the journal, and saves the finding after each. The
// error says why a run could not be made, or is ErrInterrupted or ErrAgentLost; the finding so far
// is returned with the error.
func Search(ctx context.Context, j *Journal, cfg SearchConfig) (result.Search, error) {
	p := &prober{journal: j, cfg: cfg, found: cfg.begin(), cells: make(map[string]int)}
	var finding search.Finding
	var err error
	of := cfg.CurveOfPerS
	if of == 0 {
		finding, err = search.Find(ctx, p, cfg.Options)
		of = finding.HighestPerS
		p.note(finding)
		p.found.Answer = cfg.answer(finding, p.found, err)
	}
	if err == nil && of > 0 && (cfg.Curve || cfg.CurveOfPerS > 0) {
		err = p.curve(ctx, of, finding.HighestPerS)
		if errors.Is(err, ErrAgentLost) {
			p.found.Answer += fmt.Sprintf(" The curve ended early (%v).", err)
		}
	}
	if cfg.CurveOfPerS > 0 {
		p.found.Answer = cfg.curveAnswer(p.found, err)
	}
	p.caveats(finding)
	if p.capped {
		p.found.Caveats = append(p.found.Caveats,
			fmt.Sprintf("Rates above %s were not tried (--max-rate, load.max_rate), and count as failed.", cfg.most()))
	}
	p.found.Explain()
	saveErr := j.Search(*p.found)
	if err == nil && saveErr == nil {
		saveErr = j.Finish()
	}
	return *p.found, errors.Join(err, saveErr)
}

type prober struct {
	journal *Journal
	cfg     SearchConfig
	found   *result.Search
	cells   map[string]int
	caveat  string
	capped  bool // a rate above MaxRate would have been next
}

// Probe implements search.Prober.
func (p *prober) Probe(ctx context.Context, step search.Step) (search.Outcome, error) {
	s := p.cfg.scenario(step)
	if most := p.cfg.most(); most.Records > 0 && !math.IsInf(step.PerS, 0) && step.PerS > most.PerSecond() {
		p.capped = true
		return search.Outcome{}, nil
	}
	if p.cfg.Began != nil {
		p.cfg.Began(step, s)
	}
	cell, err := p.cell(s)
	if err != nil {
		return search.Outcome{}, err
	}
	place := p.journal.Add(cell)
	outcome, err := p.journal.Make(ctx, p.cfg.Maker, place, s)
	if err != nil {
		return search.Outcome{}, err
	}
	if err := last(&outcome.Run); err != nil {
		return search.Outcome{}, err
	}
	probe, o := p.cfg.judge(step, &outcome.Run)
	probe.Run = place
	p.caveat = outcome.Run.Run.Cluster.Note
	p.found.Probes = append(p.found.Probes, probe)
	if p.cfg.Ended != nil {
		p.cfg.Ended(probe)
	}
	return o, p.journal.Search(*p.found)
}

// Probes with the same rate and length are runs of one cell.
func (p *prober) cell(s scenario.Scenario) (place int, err error) {
	place, known := p.cells[s.Name]
	if !known {
		place, err = p.journal.Cell(s.Name, nil, s)
		p.cells[s.Name] = place
	}
	return place, err
}

// most is the lower of MaxRate and the scenario's own bound.
func (c SearchConfig) most() unit.Rate {
	own := c.Scenario.Load.MaxRate
	if own.Records > 0 && (c.MaxRate.Records == 0 || own.PerSecond() < c.MaxRate.PerSecond()) {
		return own
	}
	return c.MaxRate
}

func (c SearchConfig) scenario(step search.Step) scenario.Scenario {
	s := c.Scenario
	s.Repeat = 1
	window := c.window(step)
	s.Phases.Measure = unit.Duration(window)
	s.Phases.Drain = min(s.Phases.Drain, max(s.Phases.Measure, minDrain))
	s.Sampling.Interval = min(s.Sampling.Interval, max(s.Phases.Measure/minIntervals, shortestInterval))
	label := strconv.FormatFloat(step.PerS, 'f', -1, 64) + "-per-s"
	s.Description = "a probe of " + unit.PerSecond(step.PerS)
	s.Load.Rate, s.Load.Volume, s.Load.Records, s.Load.RecordsEach = rate(step.PerS), 0, 0, 0
	s.Load.Round, s.Load.MaxRate = 0, c.most()
	if step.PerS == search.ClosedLoop {
		label, s.Description = "max", "a probe of what there is to be searched"
		s.Load.Arrival = scenario.Arrival{Process: "constant"}
	}
	if step.Phase == search.Confirm {
		label, s.Description = label+"-confirm", s.Description+", to confirm it"
	}
	s.Name = c.Scenario.Name[:min(len(c.Scenario.Name), maxName-len(label))] + "-" + label
	return s
}

func (c SearchConfig) window(step search.Step) time.Duration {
	switch step.Phase {
	case search.Capacity:
		return c.Probe
	case search.Confirm:
		return c.Confirm
	}
	return min(max(c.Probe, c.enough(step.PerS)), c.Confirm)
}

// Probes bounds the probes of the search and of its curve, and how long they take, without the start
// of a cluster. The least time is that of probes that decide at the first try, and of no curve's
// repeated ones.
func (c SearchConfig) Probes() (searched, curved int, least, most time.Duration) {
	take := func(n int, phase search.Phase, perS float64) (short, long time.Duration) {
		s := c.scenario(search.Step{Phase: phase, PerS: perS})
		short, long = s.Duration()
		return time.Duration(n) * (short + s.FillTime()), time.Duration(n) * (long + s.FillTime())
	}
	add := func(n int, phase search.Phase, perS float64) {
		short, _ := take(n, phase, perS)
		_, long := take(n, search.Confirm, perS) // a probe may become as long
		least, most = least+short, most+long
	}
	if c.CurveOfPerS == 0 {
		searched = c.Options.WithDefaults().MaxProbes
		add(1, search.Capacity, search.ClosedLoop)
		add(searched-2, search.Bracket, math.MaxInt32)
		add(1, search.Confirm, math.MaxInt32)
	}
	if of := c.CurveOfPerS; of > 0 || c.Curve {
		if of == 0 {
			of = math.MaxInt32
		}
		for _, perS := range search.CurveRates(of) {
			curved += maxCurveTries
			short, _ := take(1, search.Curve, perS)
			_, long := take(maxCurveTries, search.Confirm, perS)
			least, most = least+short, most+long
		}
	}
	return searched, curved, least, most
}

// First is the scenario of the first probe.
func (c SearchConfig) First() scenario.Scenario {
	if of := c.CurveOfPerS; of > 0 {
		return c.scenario(search.Step{Phase: search.Curve, PerS: search.CurveRates(of)[0]})
	}
	return c.scenario(search.Step{Phase: search.Capacity, PerS: search.ClosedLoop})
}

// DiskBytes is what the probes store at a time at most, see Needs. bounded is false if their rate has no bound.
func (c SearchConfig) DiskBytes(keepTopics bool) (bytes int64, bounded bool) {
	longest := c.scenario(search.Step{Phase: search.Confirm, PerS: search.ClosedLoop})
	if of := c.CurveOfPerS; of > 0 {
		rates := search.CurveRates(of)
		highest := rate(rates[len(rates)-1])
		if most := longest.Load.MaxRate; most.Records == 0 || most.PerSecond() > highest.PerSecond() {
			longest.Load.MaxRate = highest
		}
	}
	searched, curved, _, _ := c.Probes()
	p := Plan{Cells: []scenario.Cell{{Scenario: longest}}, Replicas: c.Replicas}
	return p.disk(make([]PlannedRun, searched+curved), keepTopics), !longest.Expected().Unbounded
}

// enough returns the window, in whole seconds, with ten records above the highest expected
// percentile. A random number of arrivals with mean n falls below n − 4 × √n only once in 30,000
// times.
func (c SearchConfig) enough(perS float64) time.Duration {
	const beyond, deviations = 10, 4
	needed := 0.0
	for _, e := range c.Expect {
		if _, percentile := percentileOf(e.Figure); percentile > 0 {
			needed = max(needed, beyond/(1-percentile/100))
		}
	}
	needed += deviations * math.Sqrt(needed)
	return time.Duration(min(math.Ceil(needed/perS), longest.Seconds())) * time.Second
}

const longest = 365 * 24 * time.Hour

// The percentile is from 0 to 100; 0 if the figure has none.
func percentileOf(f figure.Figure) (metric string, percentile float64) {
	at := strings.LastIndex(f.Name, "_p")
	if at < 0 || !slices.Contains(result.TimeMetrics, f.Name[:at]) {
		return "", 0
	}
	percentile, err := strconv.ParseFloat(strings.ReplaceAll(f.Name[at+len("_p"):], "_", "."), 64)
	if err != nil {
		return "", 0
	}
	return f.Name[:at], percentile
}

const (
	// Even a group that keeps up needs some time to drain.
	minDrain = unit.Duration(5 * time.Second)
	// minIntervals is how many intervals the growth of a backlog needs.
	minIntervals     = 10
	shortestInterval = unit.Duration(100 * time.Millisecond)
	maxName          = 63
)

// rate is exact for rates of four digits.
func rate(perS float64) unit.Rate {
	if perS == search.ClosedLoop {
		return unit.MaxRate
	}
	r, err := unit.ParseRate(strconv.FormatFloat(perS, 'f', -1, 64) + "/s")
	if err != nil {
		return unit.Rate{} // Validate reports a rate out of range
	}
	return r
}

const maxCurveTries = 2

func (p *prober) curve(ctx context.Context, of, confirmed float64) error {
	for _, perS := range search.CurveRates(of) {
		if perS == confirmed {
			continue
		}
		for range maxCurveTries {
			o, err := p.Probe(ctx, search.Step{Phase: search.Curve, PerS: perS})
			if err != nil {
				return err
			}
			if !o.Stalled {
				break
			}
		}
	}
	return nil
}
