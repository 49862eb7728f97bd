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

// Version of the protocol. A part of another one refuses to work: both are the same
// program, unless it was replaced on the disk meanwhile.
const Version = snapshot.Version

// Part is a part of a run's producers and consumers, wherever it is: in this process
// (Here), or in another (Child). Open comes first, and Close ends what it opened.
type Part interface {
	// Open opens the producers or consumers that are assigned.
	Open(context.Context, Assignment) (Opened, error)
	// Start sets the axis, or the end of its window anew, and has the producers begin, once.
	Start(load.Zero) error
	Do(Command) (Answer, error)
	// Snapshot is how the part stands. Of one that does not answer, or has ended, it is how
	// it stood when it last told; an error is why it has ended.
	Snapshot(Want) (snapshot.Snapshot, error)
	// Close ends the producers and consumers, and returns what is final then. It gives up
	// what has to be waited for when the context ends.
	Close(context.Context) (snapshot.Snapshot, error)
}

// Opened is what a part has opened.
type Opened struct {
	Settings   []driver.Setting // the effective settings of a client
	Bounded    bool             // the volume of the producers has a bound
	Workers    int              // of the consumers: how many records can be worked on at once
	CannotKill string           // why a consumer can't be killed; empty: it can
}

// Want says what a snapshot is to have beside its counts. The counts and positions cost
// little, so that they may be asked for many times a second.
type Want struct {
	// Times are the histograms since they were last wanted. A Child keeps them for a
	// Collector (Producers.AddTo); Here has none, because Collectors have its recorders.
	Times bool
	Books bool // of the consumers: what has arrived, and what is awaited
	Last  bool // what is final once the load has ended
	// Usage is what the process has used, which takes some time to find out, and Pauses
	// those of its runtime since they were last wanted.
	Usage, Pauses bool
	// Awaited is, by partition and producer, what is to arrive: with it a snapshot tells
	// how many records are open, and the lanes forget the others.
	Awaited [][]ledger.Awaited
	// Delivered is how far the consumers have come in each partition, for the gate.
	Delivered []int64
	// Fresh has the answer waited for as long as a call may take. Otherwise nobody waits
	// long for a part that hangs.
	Fresh bool
}

// Command is something that a part is to do.
type Command struct {
	Do         Verb
	EndNs      int64            // End: on the run's axis
	Number     int              // of the consumer that it is about
	Partitions []int32          // Tell: those that are asked for; Restrict
	Handed     []receive.Handed // Hear
}

// Verb says what a part is to do.
type Verb int

// What parts are told to do.
const (
	End      Verb = iota // the measured window earlier
	Restrict             // producers to some partitions, before they start
	Release              // consumers that were held
	Join                 // and so on: what receive.Group does to a member
	Leave
	Kill
	Doom // before the process is killed
	Pause
	Resume
	Hold // says which partitions consumers have here
	Tell // what was handed over of partitions here
	Hear // what was handed over elsewhere
)

// Answer is what comes of a Command.
type Answer struct {
	Loss       snapshot.Loss    // Kill, Doom
	How        string           // Pause
	Partitions []int32          // Hold
	Handed     []receive.Handed // Tell
}

// OpenTimeout and closeTimeout bound what a child may have to wait for the brokers
// for; one that has not answered by then is ended, whatever it was about to say.
const (
	OpenTimeout  = 60 * time.Second
	closeTimeout = 30 * time.Second
)

// limit bounds how long a part may take for a command.
func (c Command) limit() time.Duration {
	switch c.Do {
	case Join:
		return OpenTimeout
	case Leave, Doom:
		return closeTimeout
	}
	return answerTimeout
}
