// Package conformance tests the contract that every engine of kmq keeps. The suite runs for each
// engine on an in-process broker and on Apache Kafka. A table lists what an engine cannot do, and
// the suite checks that the engine refuses it.
//
// Files to know: model.go, compare.go, deliver.go, handle.go, leave.go, settle.go, world.go.
package conformance

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/kmq"
)

// Subject is an engine and the clusters for its tests.
type Subject struct {
	Engine kmq.Engine
	// On runs a law, which is one test of the suite, on a cluster. It returns when the law has ended.
	On func(t *testing.T, law func(t *testing.T, c cluster.Cluster))
	// Client holds further options of the clients, such as the group protocol.
	Client []kgo.Opt
	// Tries reports whether to run a law; nil: all are run.
	Tries func(kmq.Engine, law) bool
}

// able lists what an engine can do; the engine must refuse the rest with ErrUnsupported or
// ErrConfig.
type able struct {
	release bool
	lend    bool
	limit   bool
	order   bool
	unhand  bool // deliveries that Run gives back do not count
	exact   bool // an acknowledgement beyond an open record is durable
	whole   bool // a partition can use all of MaxInFlight
	hands   bool // an ordered Run hands a partition over between two records
	beyond  bool // a record may be lent before an earlier one; with Markers its end is then lost in Close
}

var abilities = map[kmq.Engine]able{
	kmq.Plain{}:     {order: true, whole: true, hands: true, beyond: true},
	kmq.Markers{}:   {release: true, lend: true, limit: true, order: true, unhand: true, exact: true, whole: true},
	kmq.OffsetMap{}: {release: true, lend: true, limit: true, order: true, unhand: true, exact: true, whole: true, hands: true, beyond: true},
	kmq.Share{}:     {release: true, lend: true, limit: true, exact: true, beyond: true},
}

// Run runs the suite for a subject.
func Run(t *testing.T, s Subject) {
	can, known := abilities[s.Engine]
	if !known {
		t.Fatalf("the suite does not know what engine %v can do", s.Engine)
	}
	for _, law := range laws {
		if s.Tries != nil && !s.Tries(s.Engine, law) {
			continue
		}
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			s.On(t, func(t *testing.T, c cluster.Cluster) { law.holds(newWorld(t, s, can, c)) })
		})
	}
}

type law struct {
	name  string
	holds func(*world)
	by    decider
}

// decider is the part of the system that decides whether a law holds.
type decider int

const (
	byModel decider = iota // only in virtual time, since it waits often
	byEngine
	byBroker
	byLock  // needs Kafka if Kafka keeps the locks
	byCodec // codecs do not run in virtual time
)

func ofKafka(e kmq.Engine, l law) bool {
	return l.by == byBroker || l.by == byCodec || l.by == byLock && e == (kmq.Share{})
}

func inBubble(_ kmq.Engine, l law) bool { return l.by != byCodec }

var laws = []law{
	{"every engine agrees with a model of one record", agreesWithModel, byModel},
	{"a topic that is not there is a fault of the configuration", missingTopic, byEngine},
	{"every record is delivered as it was produced", asProduced, byEngine},
	{"receiving never acknowledges", receivingNeverAcknowledges, byEngine},
	{"receiving for a short time loses nothing", shortReceives, byEngine},
	{"many goroutines share a queue", manyGoroutines, byEngine},
	{"what is acknowledged and flushed survives a crash, and what is not comes again", crash, byBroker},
	{"a delivery is settled once", settledOnce, byEngine},
	{"a released record comes again at once", releasedAtOnce, byEngine},
	{"a released record comes again after its delay and not before", releasedLater, byEngine},
	{"a lock that runs out has the record delivered again, never early", expires, byLock},
	{"an extended lock holds", extended, byLock},
	{"a rejected record is in the dead-letter topic", rejected, byEngine},
	{"a record is given up after so many deliveries", givenUp, byEngine},
	{"what nobody was handed is not delivered", unseen, byLock},
	{"what a transaction aborted is not delivered", aborted, byBroker},
	{"a record that is small only when compressed is rejected like another", rejectedLarge, byCodec},
	{"in flight is bounded", bounded, byEngine},
	{"a run that is stopped finishes what runs and gives back the rest", stopped, byEngine},
	{"an ordered run hands a partition over between two records", handedOver, byEngine},
	{"a closed queue has given back what was not settled", closed, byLock},
	{"a call beside the closing of its queue tells the truth", closedBeside, byEngine},
	{"members that come and go lose nothing", rebalance, byEngine},
	{"workers are more than partitions", unordered, byEngine},
	{"one record of a partition at a time, in order", orderedByPartition, byEngine},
	{"one record of a key at a time, in order", orderedByKey, byEngine},
	{"what waits in line for longer than its lock is delivered once", waitsInLine, byEngine},
	{"what Run interrupts or never began is not counted", interrupted, byEngine},
	{"a handler's error has the record tried again", handlerFails, byEngine},
	{"what a handler asks for again is not counted", handlerAsksAgain, byEngine},
	{"a handler's rejection gives the record up", handlerRejects, byEngine},
	{"what is made of a record is not what comes again", spoilt, byEngine},
	{"what a handler makes of a record is not what it is tried with again", spoiltByHandlers, byEngine},
	{"a dead-letter topic that is gone refuses, and holds up neither Reject nor Close", rejectsNowhere, byEngine},
	{"a dead-letter topic that is gone holds up no other record", runsOnWithoutDeadLetters, byEngine},
	{"the counters add up", counters, byEngine},
}
