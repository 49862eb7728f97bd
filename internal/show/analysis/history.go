package analysis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// History is the runs of one configuration over time.
type History struct {
	Configuration string `json:"configuration"` // hash of the scenario, without its name
	// MinChange is the smallest change that is kept, relative to the level before.
	// Absent if every change is shown.
	MinChange float64       `json:"min_change_ratio,omitempty"`
	Runs      []HistoryRun  `json:"runs"` // oldest first; runs without a start time last, by name
	Series    []Series      `json:"series"`
	Others    []OtherConfig `json:"other_configurations"`
	LeftOut   []string      `json:"left_out"` // runs that are invalid or did not finish, the latest last

	Figures  []figure.Figure    `json:"-"`
	Recorded []*result.Recorded `json:"-"`
	// NamedTwice is the number of runs that were named more than once; each counts
	// once.
	NamedTwice int `json:"-"`
	// LatestLeftOut is set if the latest of all runs is in LeftOut.
	LatestLeftOut bool `json:"-"`
	// NoDefault is why no run has the figure that is shown by default, if none was asked for.
	NoDefault string `json:"-"`
}

// HistoryRun is one run with its values, in the order of the series.
type HistoryRun struct {
	Dir       string            `json:"dir"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	StartedAt time.Time         `json:"started_at,omitzero"` // absent if an imported run has no start time
	Labels    map[string]string `json:"labels,omitempty"`
	Values    []*float64        `json:"values"` // null if the run does not have the figure
	// ClockErrors are the errors of the values because the clocks of two machines
	// differ; absent if each rests on one clock.
	ClockErrors []float64 `json:"clock_errors,omitempty"`
}

// Series is one figure over time.
type Series struct {
	Figure  string        `json:"figure"`
	Changes []LevelChange `json:"changes"`

	Of     figure.Figure `json:"-"`
	Values []float64     `json:"-"`
	At     []int         `json:"-"` // indexes in Runs
}

// LevelChange is a change of a figure's level.
type LevelChange struct {
	FirstRun   string   `json:"first_run"` // folder of the first run of the new level
	At         int      `json:"at"`        // its index in Runs, from 0
	Before     *float64 `json:"before"`    // medians of the levels before and after
	After      *float64 `json:"after"`
	Difference *float64 `json:"difference_ratio"`
	P          float64  `json:"p"`
	Word       string   `json:"word" jsonschema:"enum=better,enum=worse,enum=higher,enum=lower"`
	// Changed are other changes since the run before: versions, the machine, the
	// cluster.
	Changed []Difference `json:"changed"`

	Change stats.Change `json:"-"`
}

// OtherConfig describes runs of the same name with another configuration.
type OtherConfig struct {
	Configuration string       `json:"configuration"`
	Runs          int          `json:"runs"`
	LastAt        time.Time    `json:"last_at,omitzero"`
	Differences   []Difference `json:"differences"` // a is the other configuration, b the one shown
}

// HistoryOptions say which runs are shown, and which of their figures.
type HistoryOptions struct {
	// Figures are shown. None means the e2e response time p99, or the first
	// headline figure that the runs have.
	Figures []figure.Figure
	// Configuration is the beginning of the hash of the configuration to show; "" means the
	// configuration of the latest run.
	Configuration string
	// MinChange removes smaller changes, relative to the level before: 0.05 keeps those of at least
	// 5 %. From a level of 0, every change is kept.
	MinChange float64
}

// DefaultMinChange is the default of HistoryOptions.MinChange.
const DefaultMinChange = 0.05

// Configuration returns the hash of a run's scenario without its name, and of its agents if it has
// any. A setting that older runs do not have counts only if it differs from its default, so new
// settings change no hash.
func Configuration(r *result.Run) string {
	settings := figure.Configuration(r)
	for name, value := range result.LaterSettings() {
		if settings[name] == value {
			delete(settings, name)
		}
	}
	text, _ := json.Marshal(settings)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// Over returns the history of the runs of one configuration, with the changes of
// stats.ChangePoints. A run counts once, and invalid runs are left out.
func Over(runs []*result.Recorded, o HistoryOptions) (*History, error) {
	h := &History{MinChange: o.MinChange, Runs: []HistoryRun{}, Series: []Series{}, Others: []OtherConfig{},
		LeftOut: []string{}}
	byConfig := map[string][]*result.Recorded{}
	var order []string
	sorted, twice := result.Distinct(runs)
	slices.SortStableFunc(sorted, inTime)
	for _, r := range sorted {
		if !r.Run.Verdict.Usable() {
			h.LeftOut = append(h.LeftOut, r.Dir)
			continue
		}
		config := Configuration(&r.Run)
		byConfig[config] = append(byConfig[config], r)
		order = slices.DeleteFunc(order, func(c string) bool { return c == config })
		order = slices.Insert(order, 0, config)
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("there is no history yet: none of %s is valid", unit.Things(int64(len(sorted)), "run"))
	}
	h.LatestLeftOut = !sorted[len(sorted)-1].Run.Verdict.Usable()
	shown, err := choose(order, o.Configuration)
	if err != nil {
		return nil, err
	}
	h.Configuration, h.Recorded = shown, byConfig[shown]
	if h.Figures, err = figuresOver(h.Recorded, o.Figures); err != nil {
		return nil, err
	}
	if f, err := figure.Named(PrimaryName); err == nil && len(o.Figures) == 0 && h.Figures[0].Name != PrimaryName {
		h.NoDefault = f.Missing(&h.Recorded[0].Run)
	}
	h.NamedTwice = twice
	for _, config := range order {
		if config != shown {
			others := byConfig[config]
			h.Others = append(h.Others, OtherConfig{
				Configuration: config, Runs: len(others), LastAt: StartedAt(&others[len(others)-1].Run),
				Differences: notNil(Differences(ScenarioSettings(others), ScenarioSettings(h.Recorded))),
			})
		}
	}
	h.measure()
	return h, nil
}

func choose(order []string, wanted string) (string, error) {
	if wanted == "" {
		return order[0], nil
	}
	var found []string
	for _, config := range order {
		if strings.HasPrefix(config, wanted) {
			found = append(found, config)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d configurations begin with %q; there are %s", len(found), wanted,
			strings.Join(order, ", "))
	}
	return found[0], nil
}

func figuresOver(runs []*result.Recorded, wanted []figure.Figure) ([]figure.Figure, error) {
	among := runsOf(runs)
	candidates := wanted
	if len(wanted) == 0 {
		candidates = HeadlineOf(runs)
		if f, err := figure.Named(PrimaryName); err == nil {
			candidates = append([]figure.Figure{f}, candidates...)
		}
	}
	var shown []figure.Figure
	for _, f := range candidates {
		f = f.Among(among)
		has := slices.ContainsFunc(runs, func(r *result.Recorded) bool { return FigureOf(f, &r.Run) != nil })
		switch {
		case !has && len(wanted) > 0:
			return nil, fmt.Errorf("no run has the figure %s: %s", f.Name, f.Missing(&runs[0].Run))
		case has && (len(wanted) > 0 || f.Better != figure.Neither):
			shown = append(shown, f)
		}
		if len(wanted) == 0 && len(shown) == 1 {
			break
		}
	}
	if len(shown) == 0 {
		return nil, errors.New("the runs have no figure to follow")
	}
	return shown, nil
}

func (h *History) measure() {
	for _, f := range h.Figures {
		h.Series = append(h.Series, Series{Figure: f.Name, Of: f, Changes: []LevelChange{}})
	}
	for i, r := range h.Recorded {
		run := HistoryRun{Dir: r.Dir, ID: r.Run.Run.ID, Name: r.Run.Run.Name, StartedAt: StartedAt(&r.Run),
			Labels: r.Run.Run.Labels, Values: []*float64{}}
		var errors []float64
		for k := range h.Series {
			v := FigureOf(h.Series[k].Of, &r.Run)
			run.Values = append(run.Values, v)
			errors = append(errors, h.Series[k].Of.ClockError(&r.Run))
			if v != nil {
				h.Series[k].Values, h.Series[k].At = append(h.Series[k].Values, *v), append(h.Series[k].At, i)
			}
		}
		if slices.Max(errors) > 0 {
			run.ClockErrors = errors
		}
		h.Runs = append(h.Runs, run)
	}
	for k := range h.Series {
		h.Series[k].findChanges(h.Recorded, h.MinChange)
	}
}

func (s *Series) findChanges(runs []*result.Recorded, least float64) {
	for _, c := range stats.ChangePoints(s.Values, stats.ChangeOptions{MinChange: least}) {
		at := s.At[c.At]
		verdict := stats.Lower
		if c.After > c.Before {
			verdict = stats.Higher
		}
		s.Changes = append(s.Changes, LevelChange{
			FirstRun: runs[at].Dir, At: at, Before: known(c.Before), After: known(c.After), P: c.P, Change: c,
			Difference: known((c.After - c.Before) / max(c.Before, -c.Before)), Word: wordFor(verdict, s.Of.Better),
			Changed: notNil(Differences(Surroundings(runs[at-1:at]), Surroundings(runs[at:at+1]))),
		})
	}
}
