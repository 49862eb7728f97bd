// Package fault kills, stops and pauses the consumers and brokers of a run, as its scenario asks. A
// Fault has a Name, knows whether it is Available in this run, and is done by Inject. The run
// decides when.
//
// A kill is SIGKILL. A stop is an orderly shutdown. A pause is SIGSTOP, which looks like a machine
// that hangs: connections stay open and do not answer. The target "leader of partition 0" is
// resolved when the fault happens (Aimed).
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

// Fault is a fault that can be done to a run.
type Fault interface {
	// Name returns the action and its target, for example "kill consumer 1".
	Name() string
	// Available returns why the fault can't be done in this run, or nil. The run calls it after
	// everything is open and before the load begins.
	Available() error
	// Inject does the fault and returns when it is done; a broker's start is done when it serves.
	// The step may be empty. Inject may be called from any goroutine, and several faults may be
	// injected at a time.
	Inject(ctx context.Context) (Step, error)
}

// Step is a result of a fault: a sentence, and the data of an event (see result.Event).
type Step struct {
	What string
	Data map[string]any
}

func ofBroker(id int32, state string) map[string]any {
	return map[string]any{"broker": id, "state": state}
}

const (
	stopped = "stopped"
	serving = "serving"
)

// Aimed is a Fault whose target is only known when the fault happens.
type Aimed interface {
	Fault
	// Aim returns the fault of the present target.
	Aim(ctx context.Context) (Fault, error)
}

// Undone is a Fault that can be undone.
type Undone interface {
	Fault
	// Undo returns the fault that starts a killed or stopped target, or resumes a paused one.
	Undo() Fault
}

// Consumers is one consumer group of a run. remote.Consumers implements it.
type Consumers interface {
	Kill(number int) (snapshot.Loss, error)
	Leave(number int) error
	Start(number int) error
	Pause(number int) (how string, err error)
	Resume(number int) error
	CanKill() error // nil, or why Kill is not possible
}

// Topic reads the state of the run's topic from the brokers.
type Topic interface {
	Leader(ctx context.Context, partition int) (broker int32, err error)
	// InSync reports whether all replicas of every partition are in sync.
	InSync(ctx context.Context) (bool, error)
}

// Stand holds the parts of a run that faults can break.
type Stand struct {
	Groups     []Consumers
	GroupNames []string // of Groups; nil for one group
	Cluster    cluster.Cluster
	Topic      Topic
	Partitions int // of the topic
	// Tell receives each step of a fault before its last one; nil drops them. It may be called from
	// any goroutine.
	Tell func(Step)
}

// New returns the fault of a scenario. If it can't be done on this stand, Available says so.
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

type unknown string

func (f unknown) Name() string                         { return string(f) }
func (f unknown) Available() error                     { return fmt.Errorf("there is no fault %q", string(f)) }
func (f unknown) Inject(context.Context) (Step, error) { return Step{}, f.Available() }

// OfBrokers reports whether a fault hits a broker.
func OfBrokers(f scenario.ScheduledFault) bool {
	switch f.Target().Kind {
	case scenario.BrokerTarget, scenario.LeaderTarget, scenario.EveryBroker:
		return true
	}
	return false
}
