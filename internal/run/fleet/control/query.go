package control

// Agent holds what the log says of an index's valid instance. All fields but Hello belong to the
// current run, and are nil or 0 if no record has set them.
type Agent struct {
	Instance  uint64 // the valid one
	Hello     Hello
	Filled    *Filled
	Ready     *Ready
	Pulse     *Pulse
	Spent     *Spent
	Sent      *Sent
	Snapshots int  // complete ones
	All       bool // the last snapshot is among them
	Gaps      int  // in the sequence
}

// Run returns the number of the current run, from 1; 0 before the first plan.
func (s *State) Run() int { return s.run }

// Plan returns the current run's plan, or nil.
func (s *State) Plan() *Plan { return s.plan }

// Reading returns the current run's reading, or nil. Only the first one before the start counts.
func (s *State) Reading() *Reading { return s.reading }

// Start returns the current run's start, or nil. Only the instances that it names work in the run.
func (s *State) Start() *Start { return s.start }

// Stop returns the current run's stop, or nil. The first one counts, and no start follows it.
func (s *State) Stop() *Stop { return s.stop }

// End returns the session's end, or nil. Entries after it do not count.
func (s *State) End() *End { return s.end }

// Next returns the offset after the last entry.
func (s *State) Next() int64 { return s.next }

// Count returns the number of entries with this effect.
func (s *State) Count(e Effect) int64 { return s.counts[e] }

// Directed returns the instance of the session's coordinator; 0 before its first record.
func (s *State) Directed() uint64 { return s.coordinator.instance }

// CoordinatorGaps returns the number of gaps in the coordinator's sequence, in the current run.
func (s *State) CoordinatorGaps() int { return s.coordinator.gaps }

// Mine returns the standing of an instance.
func (s *State) Mine(instance uint64) Standing { return s.standings[instance] }

// Agent returns what is known of an index, and whether it has a valid instance.
func (s *State) Agent(index int) (Agent, bool) {
	a := s.agents[index]
	if a == nil {
		return Agent{}, false
	}
	return Agent{
		Instance: a.instance, Hello: a.hello, Filled: a.of.filled, Ready: a.of.ready, Pulse: a.of.pulse, Spent: a.of.spent, Sent: a.of.sent,
		Snapshots: a.of.snapshots, All: a.of.all, Gaps: a.gaps,
	}, true
}

// Agents returns all agents with a valid instance by index, including indexes beyond the session's.
func (s *State) Agents() map[int]Agent {
	all := make(map[int]Agent, len(s.agents))
	for index := range s.agents {
		all[index], _ = s.Agent(index)
	}
	return all
}

// Missing returns, in order, the indexes from 0 to of−1 that have no valid instance.
func (s *State) Missing(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Instance != 0 })
}

// Unfilled returns, in order, the indexes from 0 to of−1 that have not filled their parts of the
// topic.
func (s *State) Unfilled(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Filled != nil })
}

// Unready returns, in order, the indexes from 0 to of−1 that cannot start the current run.
func (s *State) Unready(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Ready != nil && a.Ready.Failed == "" })
}

// Unsent returns, in order, the indexes from 0 to of−1 whose producers are not closed.
func (s *State) Unsent(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Sent != nil })
}

// Incomplete returns, in order, the indexes from 0 to of−1 that have not handed in everything.
func (s *State) Incomplete(of int) []int { return s.without(of, Agent.complete) }

// Complete reports whether an agent has handed in everything of the current run, without gaps.
func (s *State) Complete(index int) bool {
	a, _ := s.Agent(index)
	return a.complete()
}

func (a Agent) complete() bool { return a.Sent != nil && a.All && a.Gaps == 0 }

// Instances returns the valid instances of the indexes from 0 to of−1, as in [Start]; 0 is none.
func (s *State) Instances(of int) []uint64 {
	instances := make([]uint64, of)
	for i := range instances {
		if a := s.agents[i]; a != nil {
			instances[i] = a.instance
		}
	}
	return instances
}

func (s *State) without(of int, has func(Agent) bool) []int {
	var indexes []int
	for i := range of {
		if a, _ := s.Agent(i); !has(a) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}
