package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type shelf struct {
	entries []entry // of the scenarios that have an earlier report
	front   []entry
	studies []entry
	suites  []entry
	queues  []entry
	// limits is "" if the tool's own limits were not measured.
	limits string
}

type entry struct {
	scenario string
	cells    []cell
	// campaign has the cells; nil for a single run.
	campaign *result.RecordedCampaign
	replaced []*result.Recorded // invalid runs of campaigns that this one replaced
}

// cell has more than one run if it was repeated.
type cell struct {
	value string // of the setting that is swept; empty without a sweep
	runs  []*result.Recorded
}

func newShelf() *shelf {
	s := &shelf{}
	for _, name := range scenarios() {
		s.entries = append(s.entries, entry{scenario: name})
	}
	for _, name := range front {
		s.front = append(s.front, entry{scenario: name})
	}
	for _, name := range studies {
		s.studies = append(s.studies, entry{scenario: name})
	}
	for _, name := range suites {
		s.suites = append(s.suites, entry{scenario: name})
	}
	for _, name := range queues {
		s.queues = append(s.queues, entry{scenario: name})
	}
	return s
}

// Of several runs or campaigns of one scenario, the latest counts. A campaign that is not finished
// does not hide an earlier one.
func readShelf(dir string) (*shelf, error) {
	s := newShelf()
	runs, err := result.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if s.limits, err = readLimits(dir); err != nil {
		return nil, err
	}
	for _, listed := range runs {
		if listed.Err != nil {
			return nil, listed.Err
		}
		e := s.of(listed.Run.Run.Name)
		if e == nil {
			continue
		}
		run, err := result.Read(listed.Dir)
		if err != nil {
			return nil, err
		}
		e.cells = []cell{{runs: []*result.Recorded{run}}}
	}
	return s, s.readCampaigns(dir, runs)
}

func (s *shelf) readCampaigns(dir string, runs []result.Listed) error {
	campaigns, err := result.ListCampaigns(dir)
	if err != nil {
		return err
	}
	var owned []string
	for i, listed := range campaigns {
		if listed.Err != nil {
			return listed.Err
		}
		owned = append(owned, runsIn(&campaigns[i])...)
		e := s.of(presetOf(listed.Campaign.Campaign.Name))
		if e == nil || e.campaign != nil && !listed.Campaign.Finished() {
			continue
		}
		recorded, err := result.ReadCampaign(listed.Dir)
		if err != nil {
			return err
		}
		withoutDeleted(e.scenario, recorded)
		e.cells, e.campaign = nil, recorded
		for i, c := range recorded.Campaign.Cells {
			e.cells = append(e.cells, cell{value: valueOf(c), runs: recorded.Of(i)})
		}
	}
	for _, r := range runs {
		if e := s.replacing(r.Run); e != nil && !slices.Contains(owned, r.Dir) {
			e.replaced = append(e.replaced, &result.Recorded{Dir: r.Dir, Run: *r.Run})
		}
	}
	return nil
}

// replacing returns the entry whose campaign replaced the run; nil is none.
func (s *shelf) replacing(r *result.Run) *entry {
	for _, entries := range s.lists() {
		for i := range entries {
			if e := &entries[i]; e.campaign != nil && replacedBy(&e.campaign.Campaign, r) {
				return e
			}
		}
	}
	return nil
}

func (s *shelf) lists() [][]entry {
	return [][]entry{s.entries, s.front, s.studies, s.suites, s.queues}
}

func valueOf(c result.Cell) string {
	return strings.Join(c.Values, ", ")
}

// of is nil if the page does not have the scenario.
func (s *shelf) of(scenario string) *entry {
	for _, entries := range s.lists() {
		if i := slices.IndexFunc(entries, func(e entry) bool { return e.scenario == scenario }); i >= 0 {
			return &entries[i]
		}
	}
	return nil
}

func (s *shelf) missing() []string {
	var missing []string
	for _, e := range s.entries {
		if len(e.cells) == 0 {
			missing = append(missing, e.scenario)
		}
		for _, c := range e.cells {
			if len(c.runs) == 0 {
				missing = append(missing, fmt.Sprintf("%s, %s", e.scenario, c.value))
			}
		}
	}
	return missing
}

func (e *entry) runs() []*result.Recorded {
	var all []*result.Recorded
	for _, c := range e.cells {
		all = append(all, c.runs...)
	}
	return all
}

// made also has the invalid runs that were replaced.
func (e *entry) made() []*result.Recorded { return slices.Concat(e.runs(), e.replaced) }

func summaries(recorded []*result.Recorded) []*result.Run {
	runs := make([]*result.Run, len(recorded))
	for i, r := range recorded {
		runs[i] = &r.Run
	}
	return runs
}

// methodsOf names the methods: runs of a method older than a figure's do not have that figure (see
// figure.Figure.Among).
func methodsOf(runs []*result.Recorded) string { return report.Methods(summaries(runs)) }

// one is nil if the scenario has no run.
func (s *shelf) one(scenario string) *result.Recorded {
	if e := s.of(scenario); e != nil && len(e.runs()) > 0 {
		return e.runs()[0]
	}
	return nil
}

// all returns the runs of all scenarios with an earlier report.
func (s *shelf) all() []*result.Recorded { return runsOf(s.entries) }

func runsOf(entries []entry) []*result.Recorded {
	var all []*result.Recorded
	for i := range entries {
		all = append(all, entries[i].runs()...)
	}
	return all
}
