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

// maxRuns bounds a campaign: at a second each they take three hours.
const maxRuns = 10_000

// Plan says which runs a campaign is to make, and in what order.
type Plan struct {
	Name     string
	Question string
	Answer   string          // by which the question is answered; see scenario.Answers
	By       string          // the figure that it is judged by; "" leaves that to the answer
	Notes    []string        // what a reader of the results has to know of the plan
	Axes     []scenario.Axis // of a single suite's matrix and variants
	Cells    []scenario.Cell // no two of one name
	Runs     []PlannedRun    // in the order in which they are made
	Order    string          // interleaved, blocked
	Seed     uint64          // of the order within each round; 0 is as written
	Repeat   int             // the most runs of a cell
}

// PlannedRun is one run of a plan.
type PlannedRun struct {
	Cell  int // its place in Cells
	Round int // from 0
}

// Rounds is how many of the runs are a cell's.
func Rounds(runs []PlannedRun, cell int) (n int) {
	for _, run := range runs {
		if run.Cell == cell {
			n++
		}
	}
	return n
}

// PlanOptions are what the command line says over what the suites say.
type PlanOptions struct {
	Repeat int    // runs of each cell; 0 is as the suites say
	Order  string // interleaved or blocked; "" is as the suite says
	Notes  []string
}

// NewPlan plans the runs of all cells of the suites together. Interleaved, they
// come in rounds: in each, every cell that is still to be repeated has its turn.
// Blocked, all runs of a cell come one after another. Several suites are
// interleaved whatever each says for itself. A seed shuffles each round, or the
// blocks, and the same seed does so in the same way; of several suites the first
// that has one counts.
//
// The same scenario named twice is one cell with the runs of both. Two different
// scenarios of one name are an error: nobody could tell their runs apart.
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

// judgedBy wants a figure that is better high or low.
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

// cell is c without its values where the plan has no axes to hold them to.
func (p Plan) cell(c scenario.Cell) scenario.Cell {
	if len(p.Axes) == 0 {
		c.Values = nil
	}
	return c
}

// nameOf is what a campaign of the suites is called.
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

// inOrder puts repeats[i] runs of each cell i into order.
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

// blocks is inOrder in blocked order.
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

// shuffle puts list into an order that the seed and the round decide; with seed 0
// it leaves the order alone.
func shuffle[T any](list []T, seed, round uint64) {
	if seed == 0 {
		return
	}
	rand.New(rand.NewPCG(seed, round)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// sum adds up.
func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// Scenarios are those of the cells, in their order.
func (p Plan) Scenarios() []scenario.Scenario {
	all := make([]scenario.Scenario, len(p.Cells))
	for i, cell := range p.Cells {
		all[i] = cell.Scenario
	}
	return all
}

// Single tells whether the plan is one run, which needs no campaign.
func (p Plan) Single() bool { return len(p.Runs) == 1 }

// Campaign is the plan as its journal begins.
func (p Plan) Campaign(tool result.Tool) (result.Campaign, error) {
	c := result.Campaign{Campaign: result.CampaignInfo{
		Name: p.Name, Kind: result.KindRuns, Question: p.Question, Answer: p.Answer, By: p.By, Notes: p.Notes,
		Tool:  tool,
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

// Saved is the plan of a campaign that was read: the scenarios as they were
// resolved when it began, whatever the files that they came from say today.
func Saved(c *result.Campaign) (Plan, error) {
	if c.Campaign.Kind != result.KindRuns {
		return Plan{}, fmt.Errorf("campaign %s is a %s, which has no plan to go on with; start it anew",
			c.Campaign.Name, c.Campaign.Kind)
	}
	p := Plan{
		Name: c.Campaign.Name, Question: c.Campaign.Question, Answer: c.Campaign.Answer, By: c.Campaign.By,
		Notes: c.Campaign.Notes,
		Order: c.Campaign.Order, Seed: c.Campaign.Seed, Repeat: c.Campaign.Repeat,
	}
	for _, axis := range c.Axes {
		p.Axes = append(p.Axes, scenario.Axis{Path: axis.Path, Values: axis.Values})
	}
	for _, cell := range c.Cells {
		s, err := savedScenario(cell)
		if err != nil {
			return Plan{}, fmt.Errorf("campaign %s: %w", c.Campaign.Name, err)
		}
		p.Cells = append(p.Cells, scenario.Cell{Name: cell.Name, Values: cell.Values, Against: cell.Against,
			Scenario: s})
	}
	for _, run := range c.Runs {
		p.Runs = append(p.Runs, PlannedRun{Cell: run.Cell, Round: run.Round})
	}
	return p, nil
}

// savedScenario reads a cell's scenario back. JSON is YAML.
func savedScenario(cell result.Cell) (scenario.Scenario, error) {
	text, err := json.Marshal(cell.Scenario)
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("cell %s: %w", cell.Name, err)
	}
	return scenario.Parse("cell "+cell.Name, text)
}

// At are the runs at these places.
func (p Plan) At(places []int) []PlannedRun {
	runs := make([]PlannedRun, len(places))
	for i, place := range places {
		runs[i] = p.Runs[place]
	}
	return runs
}
