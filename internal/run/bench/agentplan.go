package bench

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Plan describes a run to the agents. Each agent makes one part. A plan holds no address and no
// credential.
type Plan struct {
	RunID    string
	Session  string
	Scenario []byte // resolved, in YAML
	Asked    []byte // the scenario before the disk bounded it
	Driver   string
	ClientID string // of all clients; "" names them after the run

	Topic      string
	Partitions int
	Existing   bool // the run did not create the topic
	Groups     []string
	From       []int64 // where the groups start, by partition; nil is zero
	ReadTo     []int64 // how far a run without producers reads; nil with producers

	Parts     int
	Placement string
	Senders   int // with Apart, the first Senders parts send; otherwise 0
	Cluster   result.Cluster
	Tool      result.Tool
	Expected  []string
	Warnings  []string
}

// Placed returns the placement to use if this placement is asked for: Own becomes Any for a queue,
// because its partitions have no owner.
func Placed(s scenario.Scenario, placement string) string {
	if placement == Own && s.Consume.Queue.Used() {
		return Any
	}
	return placement
}

const (
	// Own lets agents send only to their own consumers' partitions, so that one clock times each
	// record.
	Own = "own"
	// Any lets every agent send to all partitions.
	Any = "any"
	// Apart lets some agents send and the others receive.
	Apart = "apart"
)

// Workers returns the numbers of a part's producers, and of its members in each group.
func (p Plan) Workers(s scenario.Scenario, part int) (producers, members []int) {
	if p.Placement != Apart {
		return remote.Split(s.Load.Producers, s.Load.Clients, p.Parts)[part],
			remote.Split(s.Consume.Consumers, 0, p.Parts)[part]
	}
	if part < p.Senders {
		return remote.Split(s.Load.Producers, s.Load.Clients, p.Senders)[part], nil
	}
	return nil, remote.Split(s.Consume.Consumers, 0, p.Parts-p.Senders)[part-p.Senders]
}

// Spending returns the parts that report when they have sent a bounded volume, or have read what
// the topic holds.
func (p Plan) Spending(s scenario.Scenario) []int {
	if of := p.senders(s); len(of) > 0 {
		return of
	}
	return p.receivers(s)
}

func (p Plan) senders(s scenario.Scenario) (of []int) {
	for n := range p.Parts {
		if producers, _ := p.Workers(s, n); len(producers) > 0 {
			of = append(of, n)
		}
	}
	return of
}

func (p Plan) receivers(s scenario.Scenario) (of []int) {
	for n := range p.Parts {
		if _, members := p.Workers(s, n); len(members) > 0 {
			of = append(of, n)
		}
	}
	return of
}

// If no part sends, all parts fill the topic.
func (p Plan) fillers(s scenario.Scenario, part int) []int {
	senders := p.senders(s)
	if len(senders) == 0 {
		return remote.Split(s.Fillers(), 0, p.Parts)[part]
	}
	i, sends := slices.BinarySearch(senders, part)
	if !sends {
		return nil
	}
	return remote.Split(s.Fillers(), 0, len(senders))[i]
}

// portion is what this process does of a run. The zero value is the whole run.
type portion struct {
	parts  int // the run's number of parts; 0 for the whole run
	number int

	producers, fillers, members []int // their numbers; nil is all
	senders                     int   // parts with producers

	leads bool // runs what all members of a queue share
}

func (p portion) whole() bool { return p.parts == 0 }

func (p portion) sends() bool { return p.whole() || len(p.producers) > 0 }

func (p portion) receives() bool { return p.whole() || len(p.members) > 0 }

func (p Plan) portion(s scenario.Scenario, number int) portion {
	producers, members := p.Workers(s, number)
	receivers := p.receivers(s)
	return portion{
		parts: p.Parts, number: number,
		producers: append([]int{}, producers...), fillers: append([]int{}, p.fillers(s, number)...), members: members,
		senders: len(p.senders(s)), leads: len(receivers) > 0 && receivers[0] == number,
	}
}
