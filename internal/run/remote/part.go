package remote

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Version is the version of the protocol. A part refuses another version: the program on disk may
// have been replaced after the run began.
const Version = snapshot.Version

// Part is a part of a run's producers and consumers, in this process (Here) or in a child (Child).
// Open must be the first call. Close ends what Open opened.
type Part interface {
	Open(context.Context, Assignment) (Opened, error)
	// Start sets the axis, or the new end of its window, and starts the producers once.
	Start(load.Zero) error
	Do(Command) (Answer, error)
	// Snapshot returns the part's state, or its last report if it does not answer or has ended. The
	// error says why it has ended.
	Snapshot(Want) (snapshot.Snapshot, error)
	// Close returns the final state. When the context ends, it gives up waiting.
	Close(context.Context) (snapshot.Snapshot, error)
}

// Opened describes an open part.
type Opened struct {
	Settings   []driver.Setting // effective settings of a client
	Bounded    bool             // the producers' volume has a bound
	Workers    int              // records that the consumers can process at once
	CannotKill string           // why a consumer can't be killed; "" if it can
}

// Want selects the parts of a snapshot. Counts and positions are always included and cost little.
type Want struct {
	// Times selects the histograms since the last request, which a Child keeps for a Collector. A
	// [Here] has no such histograms, because Collectors read its recorders.
	Times bool
	Books bool // of consumers: arrived and awaited records
	Last  bool // figures that are final after the load has ended
	// Usage selects the usage of the process, which takes some time to read. Pauses selects the
	// pauses of its runtime since the last request.
	Usage, Pauses bool
	// Awaited are the records that have not arrived yet, by partition and producer. The producers
	// forget all others.
	Awaited [][]ledger.Awaited
	// Delivered are the consumers' positions by partition, for the gate.
	Delivered []int64
	// Fresh waits for the answer as long as a call may take; otherwise the wait is short.
	Fresh bool
}

// Command is a command to a part.
type Command struct {
	Do         Verb
	EndNs      int64            // End: on the run's axis
	Number     int              // of the consumer
	Partitions []int32          // Tell, Restrict
	Handed     []receive.Handed // Hear
}

// Verb selects a command.
type Verb int

const (
	End      Verb = iota // end the measured window earlier
	Restrict             // producers to some partitions, before they start
	Release              // consumers that were held
	Join                 // the commands from Join to Resume change a member, as in receive.Group
	Leave
	Kill
	Doom // before the process is killed
	Pause
	Resume
	Hold // return the partitions of consumers here
	Tell // return what consumers here received from the given partitions
	Hear // take over what other processes received
)

// Answer is the result of a Command.
type Answer struct {
	Loss       snapshot.Loss    // Kill, Doom
	How        string           // Pause
	Partitions []int32          // Hold
	Handed     []receive.Handed // Tell
}

// OpenTimeout and closeTimeout bound the answers of a child that waits for the brokers.
const (
	OpenTimeout  = 60 * time.Second
	closeTimeout = 30 * time.Second
)

func (c Command) limit() time.Duration {
	switch c.Do {
	case Join:
		return OpenTimeout
	case Leave, Doom:
		return closeTimeout
	}
	return answerTimeout
}
