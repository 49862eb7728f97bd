// Package conformance is the contract that every engine of kmq keeps, as tests: one suite,
// run for each engine against an in-process broker and against Apache Kafka. What an
// engine can't do is in a table, and the suite holds it to saying so.
package conformance

import (
	"testing"

	"kafkabench.example/kafka-bench/kmq"
)

// Subject is an engine on a cluster.
type Subject struct {
	Engine  kmq.Engine
	Brokers []string
	// StartFirst is as kmq.Config has it.
	StartFirst bool
}

// able is what an engine can do; the rest it must refuse with ErrUnsupported or ErrConfig.
type able struct {
	release bool // Nack, with a delay and without
	lend    bool // locks that run out, and Extend
	limit   bool // MaxDeliveries
	order   bool // Run keeps an order
	unhand  bool // what Run gives back is not counted as a delivery
	exact   bool // an acknowledgement is durable whatever is open before it
	whole   bool // all of MaxInFlight can be used for any partition
}

var abilities = map[kmq.Engine]able{
	kmq.Plain:     {order: true, whole: true},
	kmq.Markers:   {release: true, lend: true, limit: true, order: true, unhand: true, exact: true, whole: true},
	kmq.OffsetMap: {release: true, lend: true, limit: true, order: true, unhand: true, exact: true, whole: true},
	kmq.Share:     {release: true, lend: true, limit: true, exact: true},
}

// Settings are the broker's: with them silent members, and locks of share groups, are given
// up in a time that a test can wait for.
var Settings = map[string]string{
	"group.min.session.timeout.ms":                 "1000",
	"group.initial.rebalance.delay.ms":             "0",
	"group.share.record.lock.duration.ms":          "4000",
	"group.share.min.record.lock.duration.ms":      "1000",
	"group.share.session.timeout.ms":               "3000",
	"group.share.min.session.timeout.ms":           "1000",
	"group.share.heartbeat.interval.ms":            "500",
	"group.share.min.heartbeat.interval.ms":        "100",
	"offsets.topic.num.partitions":                 "5",
	"share.coordinator.state.topic.num.partitions": "5",
}

// Run holds an engine to the contract.
func Run(t *testing.T, s Subject) {
	can, known := abilities[s.Engine]
	if !known {
		t.Fatalf("the suite does not know what engine %q can do", s.Engine)
	}
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			law.holds(newWorld(t, s, can))
		})
	}
}

// law is one sentence of the contract.
type law struct {
	name  string
	holds func(*world)
}

var laws = []law{
	{"a topic that is not there is a fault of the configuration", missingTopic},
	{"every record is delivered as it was produced", asProduced},
	{"receiving never acknowledges", receivingNeverAcknowledges},
	{"receiving for a short time loses nothing", shortReceives},
	{"many goroutines share a queue", manyGoroutines},
	{"what is acknowledged and flushed survives a crash, and what is not comes again", crash},
	{"a delivery is settled once", settledOnce},
	{"a released record comes again at once", releasedAtOnce},
	{"a released record comes again after its delay and not before", releasedLater},
	{"a lock that runs out has the record delivered again, never early", expires},
	{"an extended lock holds", extended},
	{"a rejected record is in the dead-letter topic", rejected},
	{"a record is given up after so many deliveries", givenUp},
	{"what nobody was handed is not delivered", unseen},
	{"what a transaction aborted is not delivered", aborted},
	{"a record that is small only when compressed is rejected like another", rejectedLarge},
	{"in flight is bounded", bounded},
	{"a drained queue has finished what it gave out", drained},
	{"a closed queue has given back what was not settled", closed},
	{"a call beside the closing of its queue tells the truth", closedBeside},
	{"members that come and go lose nothing", rebalance},
	{"workers are more than partitions", unordered},
	{"one record of a partition at a time, in order", orderedByPartition},
	{"one record of a key at a time, in order", orderedByKey},
	{"what waits in line for longer than its lock is delivered once", waitsInLine},
	{"what Run interrupts or never began is not counted", interrupted},
	{"a handler's error has the record tried again", handlerFails},
	{"a handler's rejection gives the record up", handlerRejects},
	{"what is made of a record is not what comes again", spoilt},
	{"what a handler makes of a record is not what it is tried with again", spoiltByHandlers},
	{"a dead-letter topic that is gone refuses, and holds up neither Reject nor Close", rejectsNowhere},
	{"a dead-letter topic that is gone holds up no other record", runsOnWithoutDeadLetters},
	{"the counters add up", counters},
}
