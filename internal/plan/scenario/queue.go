package scenario

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Queue makes the consumers take records from a queue of package kmq and acknowledge each of them.
// Without an engine they are ordinary consumers. Each consumer is a node: a queue of its own, a
// member of the group, with Threads that receive, work and acknowledge. In YAML the name of an
// engine is short for {engine: name}.
type Queue struct {
	Engine  string `yaml:"engine,omitempty"`  // plain, markers, offsetmap, share
	Threads int    `yaml:"threads,omitempty"` // of each consumer, 1 to 1,000; default: 1
	Batch   int    `yaml:"batch,omitempty"`   // records of one receive at most, 1 to 10,000; default: 10
	// Visibility is how long a delivery may stay unsettled before the record is delivered again,
	// 100ms to 1h. Default: 30s for markers and offsetmap, the broker's own for share. plain has none.
	Visibility unit.Duration `yaml:"visibility,omitempty"`
	// MaxDeliveries is the number of deliveries after which a record goes to the dead letters. 0 is
	// no limit.
	MaxDeliveries int `yaml:"max_deliveries,omitempty"`
	// DeadLetter gives the queue a dead-letter topic, which is deleted with the run's topic. A
	// queue with MaxDeliveries always has one.
	DeadLetter bool `yaml:"dead_letter,omitempty"`
	// InFlight bounds each consumer's fetched, unsettled records, 1 to 1,000,000. Dropped records
	// count until their visibility ends. Default: 1000.
	InFlight int     `yaml:"in_flight,omitempty"`
	Drop     Drop    `yaml:"drop,omitempty"`
	Backoff  Backoff `yaml:"backoff,omitempty"`
	// Order limits which records are processed at once: any (none), one of each partition, or one
	// of each key. Default: none.
	Order string `yaml:"order,omitempty"` // none, partition, key
	// Tracker says where the markers engine redelivers: in each consumer, or in the tool's process
	// for all of them, with its own clients. Default: in-process.
	Tracker string `yaml:"tracker,omitempty"` // in-process, external
	// Acks says how durable markers and copies of records must be before they count as written. A
	// copy is for a further delivery or for the dead-letter topic. Default: all.
	Acks string `yaml:"acks,omitempty"` // all, leader
}

// Drop simulates a failing application that does not acknowledge a part of all deliveries, drawn by
// the scenario's seed. "silent" waits for the visibility to end; "nack" returns the record.
type Drop struct {
	Share unit.Share `yaml:"share,omitempty"` // such as 50%
	How   string     `yaml:"how,omitempty"`   // silent, nack; default: silent
}

// Backoff is the delay after a nack: Min after the first delivery, doubled with each further one,
// up to Max.
type Backoff struct {
	Min unit.Duration `yaml:"min,omitempty"`
	Max unit.Duration `yaml:"max,omitempty"` // default: Min
}

// Used reports whether the consumers take records from a queue.
func (q Queue) Used() bool { return q.Engine != "" }

// Dead reports whether the queue has a dead-letter topic.
func (q Queue) Dead() bool { return q.DeadLetter || q.MaxDeliveries > 0 }

// Delay returns the delay after delivery number attempt, which counts from 1.
func (b Backoff) Delay(attempt int) time.Duration {
	delay := time.Duration(b.Min)
	for range attempt - 1 {
		if delay >= time.Duration(b.Max) {
			break
		}
		delay *= 2
	}
	return min(delay, max(time.Duration(b.Max), time.Duration(b.Min)))
}

// ExpectedDeliveries returns the mean number of deliveries of a record, at most MaxDeliveries.
func (q Queue) ExpectedDeliveries() float64 {
	p := float64(q.Drop.Share)
	if q.MaxDeliveries == 0 || p == 0 {
		return 1 / (1 - p)
	}
	return (1 - math.Pow(p, float64(q.MaxDeliveries))) / (1 - p)
}

// LastDelivery returns about the longest time from a record's first to its last delivery in a run
// of that many records, if drops are silent. Records come again until fewer than one record was
// dropped every time, or until MaxDeliveries.
func (q Queue) LastDelivery(records float64) time.Duration {
	rounds := math.Log(max(1, records)) / -math.Log(float64(q.Drop.Share))
	if q.MaxDeliveries > 0 {
		rounds = min(rounds, float64(q.MaxDeliveries))
	}
	return time.Duration(math.Ceil(rounds)) * time.Duration(q.Visibility)
}

var openQueue = []derivation{
	queueDefault("threads", "1", (*Queue).anyEngine, func(q *Queue) *int { return &q.Threads }, 1),
	queueDefault("batch", "10", (*Queue).anyEngine, func(q *Queue) *int { return &q.Batch }, 10),
	queueDefault("in_flight", "1000", (*Queue).anyEngine, func(q *Queue) *int { return &q.InFlight }, 1000),
	queueDefault("order", "none", (*Queue).anyEngine, func(q *Queue) *string { return &q.Order }, "none"),
	queueDefault("visibility", "30s for markers and offsetmap", (*Queue).lends,
		func(q *Queue) *unit.Duration { return &q.Visibility }, unit.Duration(30*time.Second)),
	queueDefault("acks", "all", (*Queue).writes, func(q *Queue) *string { return &q.Acks }, "all"),
	queueDefault("tracker", "in-process", (*Queue).tracks, func(q *Queue) *string { return &q.Tracker }, "in-process"),
	queueDefault("drop.how", "silent", func(q *Queue) bool { return q.Used() && q.Drop.Share != 0 },
		func(q *Queue) *string { return &q.Drop.How }, "silent"),
	{
		"consume.queue.backoff.max", "backoff.min",
		func(s *Scenario) bool { b := s.Consume.Queue.Backoff; return b.Max == 0 && b.Min != 0 },
		func(s *Scenario) { s.Consume.Queue.Backoff.Max = s.Consume.Queue.Backoff.Min },
	},
}

func (q *Queue) anyEngine() bool { return q.Used() }

func (q *Queue) lends() bool { return q.Engine == "markers" || q.Engine == "offsetmap" }

func (q *Queue) writes() bool { return q.lends() }

func (q *Queue) tracks() bool { return q.Engine == "markers" }

func queueDefault[T comparable](key, follow string, has func(*Queue) bool, at func(*Queue) *T, value T) derivation {
	var zero T
	return derivation{
		"consume.queue." + key, follow,
		func(s *Scenario) bool { q := &s.Consume.Queue; return has(q) && *at(q) == zero },
		func(s *Scenario) { *at(&s.Consume.Queue) = value },
	}
}

func (q *Queue) short() string { return "the name of an engine, as in: queue: markers" }

func (q *Queue) setShort(text string) error {
	*q = Queue{Engine: text}
	return nil
}
