package scenario

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Queue has the consumers take records from a queue of package kmq, which is
// acknowledged record by record. Without an engine there is none, and the consumers are
// ordinary ones. Each consumer is a node: a queue of its own, a member of the group,
// with Threads that receive, work and acknowledge one after the other. In YAML the name
// of an engine alone is short for {engine: name}.
type Queue struct {
	Engine  string `yaml:"engine,omitempty"`  // plain, markers, offsetmap, share
	Threads int    `yaml:"threads,omitempty"` // of each consumer, 1 to 1,000; left open: 1
	Batch   int    `yaml:"batch,omitempty"`   // records of one receive at the most, 1 to 10,000; left open: 10
	// Visibility is how long a record is lent: one that is not settled by then is
	// delivered again, 100ms to 1h. Left open: 30s for markers and offsetmap, and the
	// broker's own for share. plain has none.
	Visibility unit.Duration `yaml:"visibility,omitempty"`
	// MaxDeliveries is after how many deliveries a record goes to the dead letters; 0 is
	// never.
	MaxDeliveries int `yaml:"max_deliveries,omitempty"`
	// DeadLetter gives the queue a topic for dead letters, which goes with the run's. It
	// has one in any case where MaxDeliveries is set.
	DeadLetter bool `yaml:"dead_letter,omitempty"`
	// InFlight bounds the records of each consumer that were fetched and are not
	// settled, those included that were dropped and wait for their visibility to end: 1
	// to 1,000,000. Left open: 1000.
	InFlight int     `yaml:"in_flight,omitempty"`
	Drop     Drop    `yaml:"drop,omitempty"`
	Backoff  Backoff `yaml:"backoff,omitempty"`
	// Order is which records are processed at the same time: any; one of each partition;
	// one of each key. Left open: none.
	Order string `yaml:"order,omitempty"` // none, partition, key
	// Tracker is where the engine markers redelivers: in each consumer, or at one place
	// for all of them, in the tool's process with clients of its own. Left open:
	// in-process.
	Tracker string `yaml:"tracker,omitempty"` // in-process, external
	// Transactions has the engine markers write in transactions.
	Transactions bool `yaml:"transactions,omitempty"`
	// StartFirst has the engine markers make a record's start durable, and commit it, before it
	// is handed out, and not once it has been open for a while.
	StartFirst bool `yaml:"start_first,omitempty"`
	// Acks is how durable markers and copies are before they count as written. Left
	// open: all.
	Acks string `yaml:"acks,omitempty"` // all, leader
}

// Drop is a failure of the application: so many of all deliveries, by a draw for each
// from the scenario's seed, are not acknowledged. Nothing is said of them, so that their
// visibility has to end ("silent"); or they are given back ("nack").
type Drop struct {
	Share unit.Share `yaml:"share,omitempty"` // as in 50%
	How   string     `yaml:"how,omitempty"`   // silent, nack; left open: silent
}

// Backoff is the delay of what is given back: Min after the first delivery, doubled with
// each further one, up to Max.
type Backoff struct {
	Min unit.Duration `yaml:"min,omitempty"`
	Max unit.Duration `yaml:"max,omitempty"` // left open: Min
}

// Used tells whether the consumers take records from a queue.
func (q Queue) Used() bool { return q.Engine != "" }

// Dead tells whether there is a topic for dead letters.
func (q Queue) Dead() bool { return q.DeadLetter || q.MaxDeliveries > 0 }

// Delay is the backoff after the delivery of a number, from 1 on.
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

// ExpectedDeliveries is how often a record is delivered in the mean, by the arithmetic
// of the drops: the sum of the shares that are dropped once, twice and so on, up to the
// last delivery that the queue makes.
func (q Queue) ExpectedDeliveries() float64 {
	p := float64(q.Drop.Share)
	if q.MaxDeliveries == 0 || p == 0 {
		return 1 / (1 - p)
	}
	return (1 - math.Pow(p, float64(q.MaxDeliveries))) / (1 - p)
}

// LastDelivery is about how long after its first delivery the last of so many records is
// delivered, where drops are silent: until less than one of them was dropped every time,
// or the queue delivers no more.
func (q Queue) LastDelivery(records float64) time.Duration {
	rounds := math.Log(max(1, records)) / -math.Log(float64(q.Drop.Share))
	if q.MaxDeliveries > 0 {
		rounds = min(rounds, float64(q.MaxDeliveries))
	}
	return time.Duration(math.Ceil(rounds)) * time.Duration(q.Visibility)
}

// openQueue are the values of a queue that follow from others when they are left open,
// as derived has them. Where there is no queue, nothing is open.
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

// lends tells that the queue itself says for how long a record is lent.
func (q *Queue) lends() bool { return q.Engine == "markers" || q.Engine == "offsetmap" }

// writes tells that the queue writes records of its own.
func (q *Queue) writes() bool { return q.lends() }

// tracks tells that somebody has to redeliver.
func (q *Queue) tracks() bool { return q.Engine == "markers" }

// queueDefault is what a key of a queue is that is left open.
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
