package remote

import (
	"kafkabench.example/kafka-bench/internal/load"
)

// Assignment is what a part must do. It holds no credentials: a child gets them by its pipe.
type Assignment struct {
	Version  int
	Part     int // number of this part of Parts, from 0
	Parts    int
	Scenario []byte // resolved, as YAML
	Driver   string

	Brokers   []string // host:port
	ClusterID string   // that of an existing cluster

	// Zero is the run's axis, which may not be set yet. It converts times that the part reads
	// before Start.
	Zero load.Zero

	RunID      string
	ClientID   string // of all clients; "" names them after the run
	Topic      string
	Partitions int      // of the topic
	Groups     []string // that consume and commit; none without consumers
	Consumed   bool     // the run has consumers

	Workers []int // the numbers of the part's workers

	// Group opens consumers instead of producers. It needs none of the producers' fields above.
	Group *GroupAssignment
}

// Split distributes workers to processes as evenly as their clients allow. Workers that share a
// client are in one process. clients 0 is one client for each worker.
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

// None is an empty request or answer.
type None int
