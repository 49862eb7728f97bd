package control

// Agent is what the log says of the valid instance of an index. All but Hello is of the
// current run, and nil or 0 if nothing came.
type Agent struct {
	Instance  uint64 // the valid one
	Hello     Hello
	Filled    *Filled
	Ready     *Ready
	Pulse     *Pulse
	Spent     *Spent
	Sent      *Sent
	Snapshots int  // handed in whole
	All       bool // the last one is among them
	Gaps      int  // places in the sequence where records are missing
}

// Run is the number of the current run, from 1; 0 before the first plan.
func (s *State) Run() int { return s.run }

// Plan is that of the current run, or nil.
func (s *State) Plan() *Plan { return s.plan }

// Reading is that of the current run, or nil. The first one counts, and none follows the start.
func (s *State) Reading() *Reading { return s.reading }

// Start is that of the current run, or nil. Nobody but its instances works in the run.
func (s *State) Start() *Start { return s.start }

// Stop is that of the current run, or nil. The first one counts, and no start follows it.
func (s *State) Stop() *Stop { return s.stop }

// End is that of the session, or nil. Nothing that follows it in the log counts.
func (s *State) End() *End { return s.end }

// Next is the offset after the last entry: where to read on.
func (s *State) Next() int64 { return s.next }

// Count is the number of entries with this effect.
func (s *State) Count(e Effect) int64 { return s.counts[e] }

// Directed is the instance of the session's coordinator; 0 before its first record.
func (s *State) Directed() uint64 { return s.coordinator.instance }

// CoordinatorGaps is the number of places in the current run where records of the
// coordinator are missing.
func (s *State) CoordinatorGaps() int { return s.coordinator.gaps }

// Mine is how an instance stands.
func (s *State) Mine(instance uint64) Standing { return s.standings[instance] }

// Agent returns what is known of an index, and whether an instance is valid.
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

// Agents are all agents with a valid instance, by index. A mistyped index is among them.
func (s *State) Agents() map[int]Agent {
	all := make(map[int]Agent, len(s.agents))
	for index := range s.agents {
		all[index], _ = s.Agent(index)
	}
	return all
}

// Missing are the indexes below of without a valid instance, in order.
func (s *State) Missing(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Instance != 0 })
}

// Unfilled are the indexes below of that have not filled their shares of the topic, in order.
func (s *State) Unfilled(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Filled != nil })
}

// Unready are the indexes below of that can't start the current run, in order.
func (s *State) Unready(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Ready != nil && a.Ready.Failed == "" })
}

// Unsent are the indexes below of whose producers are not closed, in order.
func (s *State) Unsent(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Sent != nil })
}

// Incomplete are the indexes below of that have not handed in all of the current run.
func (s *State) Incomplete(of int) []int { return s.without(of, Agent.complete) }

// Complete reports whether an agent has handed in all of the current run, and nothing of
// what it wrote is missing.
func (s *State) Complete(index int) bool {
	a, _ := s.Agent(index)
	return a.complete()
}

func (a Agent) complete() bool { return a.Sent != nil && a.All && a.Gaps == 0 }

// Instances are the valid ones of the indexes below of, as [Start] names them; 0 is none.
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
