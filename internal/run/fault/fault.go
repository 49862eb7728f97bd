// Package fault kills, stops and pauses the consumers and brokers of a run, as its scenario
// asks. A Fault has a Name, knows whether it is Available in this run, and is done by
// Inject; when it is done, and what follows from it, is the run's matter.
//
// A fault happens to a process, and as near to how it happens in the world as can
// be: a kill is SIGKILL, after which nothing is flushed, handed over or said
// goodbye to; a stop is what an operator does; a pause is SIGSTOP, which looks from
// outside like a machine that hangs: connections stay open and nobody answers.
// What is broken is named by what it is to the run. "Leader of partition 0" is
// whichever broker leads it at that moment, which is asked when the fault comes
// (Aimed), for it may have changed since the run began.
//
// Files to know: fault.go, broker.go, consumer.go.
package fault

import (
	"context"
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Fault is something that can be done to a run while it goes on.
type Fault interface {
	// Name says what is done to what, as people say it: kill consumer 1.
	Name() string
	// Available is why this run can't have it done, or nil. It is asked once
	// everything is open, and before any load is offered.
	Available() error
	// Inject does it, and returns once it is done, which for a broker that is
	// started takes until it serves. The step is what else there is to say; empty if
	// nothing. It may be called from any goroutine, and be under way while other faults
	// are injected.
	Inject(ctx context.Context) (Step, error)
}

// Step is something that a fault has brought about: a sentence, and the same for programs
// as data of an event (see result.Event).
type Step struct {
	What string
	Data map[string]any
}

// ofBroker returns the data of a broker that is in a state now.
func ofBroker(id int32, state string) map[string]any {
	return map[string]any{"broker": id, "state": state}
}

// The states of brokers.
const (
	stopped = "stopped"
	serving = "serving"
)

// Aimed is a Fault whose target is only known when it comes.
type Aimed interface {
	Fault
	// Aim finds the target, and returns the fault that befalls just that.
	Aim(ctx context.Context) (Fault, error)
}

// Undone is a Fault that can be undone.
type Undone interface {
	Fault
	// Undo is the fault that does the opposite to the same target: it starts what
	// was killed or stopped, and resumes what was paused.
	Undo() Fault
}

// Consumers is one consumer group of a run; remote.Consumers is one.
type Consumers interface {
	Kill(number int) (snapshot.Loss, error)
	Leave(number int) error
	Start(number int) error
	// Pause says how it was done.
	Pause(number int) (how string, err error)
	Resume(number int) error
	// CanKill is why Kill can't be done, or nil.
	CanKill() error
}

// Topic says how the run's topic stands on the brokers.
type Topic interface {
	// Leader is the broker that leads a partition.
	Leader(ctx context.Context, partition int) (broker int32, err error)
	// InSync tells whether every partition has all of its replicas in sync.
	InSync(ctx context.Context) (bool, error)
}

// Stand is what a run has that can be broken.
type Stand struct {
	Groups     []Consumers
	GroupNames []string // of Groups; nil if there is one
	Cluster    cluster.Cluster
	Topic      Topic
	Partitions int // of the topic
	// Tell is told of the steps of a fault before its last one, when they are done; nil is nobody.
	// It may be called from any goroutine.
	Tell func(Step)
}

// New makes the fault of a scenario, on what there is. One that can't be had on it
// says so when it is asked whether it is Available.
func New(f scenario.ScheduledFault, on Stand) Fault {
	action, target := f.Action(), f.Target()
	switch target.Kind {
	case scenario.BrokerTarget:
		return brokerFault{on: on, action: action, id: int32(target.Number)}
	case scenario.LeaderTarget:
		return leaderFault{on: on, action: action, partition: target.Number}
	case scenario.EveryBroker:
		return rollingRestart{on: on, action: action}
	case scenario.ConsumerTarget:
		return consumerFault{groups: on.Groups, names: on.GroupNames, action: action, number: target.Number}
	}
	return unknown(f.String())
}

// unknown is a fault that nobody knows how to do.
type unknown string

func (f unknown) Name() string                         { return string(f) }
func (f unknown) Available() error                     { return fmt.Errorf("there is no fault %q", string(f)) }
func (f unknown) Inject(context.Context) (Step, error) { return Step{}, f.Available() }

// OfBrokers tells whether a fault befalls a broker.
func OfBrokers(f scenario.ScheduledFault) bool {
	switch f.Target().Kind {
	case scenario.BrokerTarget, scenario.LeaderTarget, scenario.EveryBroker:
		return true
	}
	return false
}
