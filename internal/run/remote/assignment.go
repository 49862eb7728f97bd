package remote

import (
	"kafkabench.example/kafka-bench/internal/load"
)

// Assignment is what a part is to do, as the run has decided. It holds no credentials:
// those of a child go with it over its pipe (Start).
type Assignment struct {
	Version  int
	Part     int // the number of this part of Parts, from 0 on
	Parts    int
	Scenario []byte // resolved, as YAML
	Driver   string // by name

	Brokers []string // host:port

	// Zero is the run's axis, which is not set yet: with it, a time that is told of
	// before the start is the run's time too.
	Zero load.Zero

	RunID      string
	Topic      string
	Partitions int      // of the topic
	Groups     []string // that consume and commit; none where nobody does
	Consumed   bool     // somebody consumes
	Shares     string   // the topic in which the processes divide the bound; empty: they don't

	Workers []int // the numbers of the workers that it has

	// Group has consumers opened in place of producers, which need none of the above but
	// what every part does.
	Group *GroupAssignment
}

// Split says which workers are in which process: by their clients, which are the
// first of a worker's, so that workers which share a client are together, and as
// evenly as clients go. clients 0 is one for each worker. With as many processes
// as clients at most, none is empty.
func Split(workers, clients, processes int) [][]int {
	if clients == 0 {
		clients = workers
	}
	parts := make([][]int, processes)
	for id := range workers {
		process := id % clients % processes
		parts[process] = append(parts[process], id)
	}
	return parts
}

// None is for a request or an answer that says nothing.
type None int
