package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// maxRuns bounds the runs of a campaign: at a second each they take three hours.
const maxRuns = 10_000

// Plan has the runs of a campaign and their order.
type Plan struct {
	Name     string
	Question string
	Answer   string // how the question is answered; see scenario.Answers
	By       string // the figure to judge by; "" leaves that to the answer
	Notes    []string
	Expected []string          // of every run, see result.Info
	Labels   map[string]string // of every run
	Axes     []scenario.Axis   // of a single suite's matrix and variants
	Cells    []scenario.Cell   // with unique names
	Runs     []PlannedRun      // in the order in which they are made
	Order    string            // interleaved or blocked
	Seed     uint64            // of the order within each round; 0 keeps the written order
	Repeat   int               // most runs of a cell
	Replicas map[string]int    // of existing topics, by name, as far as a cluster reported them
}

// PlannedRun is one run of a plan.
type PlannedRun struct {
	Cell  int // index in Plan.Cells
	Round int // from 0
}

// Rounds returns how many of the runs belong to a cell.
func Rounds(runs []PlannedRun, cell int) (n int) {
	for _, run := range runs {
		if run.Cell == cell {
			n++
		}
	}
	return n
}

// PlanOptions override what the suites say.
type PlanOptions struct {
	Repeat int    // 0 keeps the suites' number
	Order  string // interleaved or blocked; "" keeps the suite's order
	Notes  []string
}

// NewPlan plans the runs of all cells of the suites together. Interleaved runs come in rounds, each
// with one run of every cell that has runs left. Blocked runs come cell by cell. Several suites are
// interleaved by default. A seed shuffles each round, or the blocks, reproducibly. Of several
// suites, the first seed counts.
//
// The same scenario named twice is one cell with the runs of both. Two different scenarios with one
// name are an error.
func NewPlan(suites []scenario.Suite, o PlanOptions) (Plan, error) {
	p := Plan{Name: nameOf(suites), Order: scenario.Interleaved, Notes: o.Notes}
	if len(suites) == 1 {
		p.Question, p.Answer, p.By = suites[0].Question, suites[0].Answer, suites[0].By
		p.Axes, p.Order = suites[0].Axes, suites[0].Order
	}
	if err := judgedBy(p.By); err != nil {
		return Plan{}, fmt.Errorf("scenario %s: by: %w", p.Name, err)
	}
	if o.Order != "" {
		p.Order = o.Order
	}
	var repeats []int
	var faults []error
	for _, suite := range suites {
		repeat := suite.Repeat
		if o.Repeat != 0 {
			repeat = o.Repeat
		}
		if p.Seed == 0 {
			p.Seed = suite.Seed
		}
		for _, cell := range suite.Cells {
			at := slices.IndexFunc(p.Cells, func(c scenario.Cell) bool { return c.Name == cell.Name })
			switch {
			case at < 0:
				p.Cells, repeats = append(p.Cells, p.cell(cell)), append(repeats, repeat)
			case reflect.DeepEqual(p.Cells[at].Scenario, cell.Scenario):
				repeats[at] += repeat
			default:
				faults = append(faults,
					fmt.Errorf("two different scenarios are called %s; give one of them another name", cell.Name))
			}
		}
	}
	p.Repeat = slices.Max(append(repeats, 0))
	if runs := sum(repeats); runs > maxRuns {
		faults = append(faults, fmt.Errorf("these are %d runs, and a campaign has at most %d; repeat them less often",
			runs, maxRuns))
	}
	if len(faults) > 0 {
		return Plan{}, errors.Join(faults...)
	}
	p.Runs = inOrder(repeats, p.Order, p.Seed)
	return p, nil
}

func judgedBy(name string) error {
	if name == "" {
		return nil
	}
	f, err := figure.Named(name)
	if err == nil && f.Better == figure.Neither {
		err = fmt.Errorf("%s is neither better high nor low: nothing can be best by it", f.Name)
	}
	return err
}

func (p Plan) cell(c scenario.Cell) scenario.Cell {
	if len(p.Axes) == 0 {
		c.Values = nil
	}
	return c
}

func nameOf(suites []scenario.Suite) string {
	if len(suites) == 0 {
		return ""
	}
	name := suites[0].Name
	if more := len(suites) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", name, more)
	}
	return name
}

func inOrder(repeats []int, order string, seed uint64) []PlannedRun {
	if order == scenario.Blocked {
		return blocks(repeats, seed)
	}
	var all []PlannedRun
	for round := range slices.Max(append(repeats, 0)) {
		began := len(all)
		for cell, repeat := range repeats {
			if round < repeat {
				all = append(all, PlannedRun{Cell: cell, Round: round})
			}
		}
		shuffle(all[began:], seed, uint64(round))
	}
	return all
}

func blocks(repeats []int, seed uint64) []PlannedRun {
	cells := make([]int, len(repeats))
	for i := range cells {
		cells[i] = i
	}
	shuffle(cells, seed, 0)
	var all []PlannedRun
	for _, cell := range cells {
		for round := range repeats[cell] {
			all = append(all, PlannedRun{Cell: cell, Round: round})
		}
	}
	return all
}

// Seed 0 keeps the order.
func shuffle[T any](list []T, seed, round uint64) {
	if seed == 0 {
		return
	}
	rand.New(rand.NewPCG(seed, round)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// Scenarios returns the scenarios of the cells, in their order.
func (p Plan) Scenarios() []scenario.Scenario {
	all := make([]scenario.Scenario, len(p.Cells))
	for i, cell := range p.Cells {
		all[i] = cell.Scenario
	}
	return all
}

// Single reports whether the plan is one run, which needs no campaign.
func (p Plan) Single() bool { return len(p.Runs) == 1 }

// Campaign returns the plan as the first state of its journal.
func (p Plan) Campaign(tool result.Tool) (result.Campaign, error) {
	c := result.Campaign{Campaign: result.CampaignInfo{
		Name: p.Name, Kind: result.KindRuns, Question: p.Question, Answer: p.Answer, By: p.By, Notes: p.Notes,
		Expected: p.Expected, Labels: p.Labels, Tool: tool,
		Order: p.Order, Seed: p.Seed, Repeat: p.Repeat,
	}}
	for _, axis := range p.Axes {
		c.Axes = append(c.Axes, result.Axis{Path: axis.Path, Values: axis.Values})
	}
	for _, cell := range p.Cells {
		settings, err := result.SettingsOf(cell.Scenario)
		if err != nil {
			return c, err
		}
		c.Cells = append(c.Cells, result.Cell{Name: cell.Name, Values: cell.Values, Against: cell.Against,
			Scenario: settings})
	}
	for _, run := range p.Runs {
		c.Runs = append(c.Runs, result.CampaignRun{Cell: run.Cell, Round: run.Round})
	}
	return c, nil
}

// Saved returns the plan of a campaign that was read, with the scenarios as resolved at its start.
func Saved(c *result.Campaign) (Plan, error) {
	if c.Campaign.Kind != result.KindRuns {
		return Plan{}, fmt.Errorf("campaign %s is a %s, which cannot be resumed; start a new one",
			c.Campaign.Name, c.Campaign.Kind)
	}
	p := Plan{
		Name: c.Campaign.Name, Question: c.Campaign.Question, Answer: c.Campaign.Answer, By: c.Campaign.By,
		Notes: c.Campaign.Notes, Expected: c.Campaign.Expected, Labels: c.Campaign.Labels,
		Order: c.Campaign.Order, Seed: c.Campaign.Seed, Repeat: c.Campaign.Repeat,
	}
	for _, axis := range c.Axes {
		p.Axes = append(p.Axes, scenario.Axis{Path: axis.Path, Values: axis.Values})
	}
	for _, cell := range c.Cells {
		s, err := SavedScenario(cell)
		if err != nil {
			return Plan{}, fmt.Errorf("campaign %s: %w", c.Campaign.Name, err)
		}
		if f := s.Load.Record.Payload; f.File != "" {
			if _, err := f.ReadFile(); err != nil {
				return Plan{}, fmt.Errorf("campaign %s, cell %s: %w", c.Campaign.Name, cell.Name, err)
			}
		}
		p.Cells = append(p.Cells, scenario.Cell{Name: cell.Name, Values: cell.Values, Against: cell.Against,
			Scenario: s})
	}
	for _, run := range c.Runs {
		p.Runs = append(p.Runs, PlannedRun{Cell: run.Cell, Round: run.Round})
	}
	return p, nil
}

// SavedScenario returns the scenario of a recorded cell. A setting that is newer than the recording
// has its default; one that scenarios no longer have is left out.
func SavedScenario(cell result.Cell) (scenario.Scenario, error) {
	settings, err := cell.Scenario.WithoutFormer()
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("cell %s: %w", cell.Name, err)
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("cell %s: %w", cell.Name, err)
	}
	return scenario.Parse("cell "+cell.Name, text)
}

// At returns the runs at these indexes.
func (p Plan) At(places []int) []PlannedRun {
	runs := make([]PlannedRun, len(places))
	for i, place := range places {
		runs[i] = p.Runs[place]
	}
	return runs
}
