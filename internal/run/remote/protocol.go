package remote

import (
	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Version of the protocol. A process of another one refuses to work: both are the
// same program, unless it was replaced on the disk meanwhile.
const Version = 1

// Assignment is what a process is to do, as the run has decided. It is for one pipe
// only: it holds credentials.
type Assignment struct {
	Version  int
	Scenario []byte // resolved, as YAML
	Driver   string // by name

	Brokers []string // host:port
	Access  access.Handover

	// Zero is the run's axis, which is not set yet: with it, a time that is told of
	// before the start is the run's time too.
	Zero load.Zero

	RunID      string
	Topic      string
	Partitions int      // of the topic
	Groups     []string // that consume and commit; none where nobody does
	Consumed   bool     // somebody consumes
	Shares     string   // the topic in which the processes divide the bound; empty: they don't

	// Process is the number of this one of Processes, from 0 on, and Workers are
	// the numbers of the workers that it has.
	Process, Processes int
	Workers            []int
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

// OpenReply answers Open.
type OpenReply struct {
	Settings []driver.Setting
	Bounded  bool // the volume has a bound
}

// SentReply answers Sent.
type SentReply struct{ Warmup, Measured snapshot.Sent }

// WireReply answers Wire.
type WireReply struct {
	Wire     driver.Wire
	Counted  bool
	Requests driver.Requests
	Timed    bool
}

// CloseReply answers Close: all that does not change any more.
type CloseReply struct {
	Sent         SentReply
	Waiting      int64 // records, with the oldest due
	WaitingDueNs int64
	AckedIn      []int64
	Errors       [2]map[string]int64 // warm-up, measured
	Books        []*ledger.Sender
	DeferredPeak int64
	AckGaps      []snapshot.Gaps // by partition
}
