package scenario

import (
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const (
	maxThreads    = 1000
	maxReceive    = 10_000
	maxLent       = 1_000_000
	maxDeliveries = 1000
	minVisibility = unit.Duration(100 * time.Millisecond)
	maxVisibility = unit.Duration(time.Hour)
	// Bounds of package kmq.
	maxQueueCommit  = unit.Duration(time.Minute)
	minQueueSession = unit.Duration(time.Second)
)

var (
	engines   = []string{"plain", "markers", "offsetmap", "share"}
	drops     = []string{"silent", "nack"}
	orders    = []string{"none", "partition", "key"}
	trackers  = []string{"in-process", "external"}
	queueAcks = []string{"all", "leader"}
)

func (c *checker) queue(s Scenario) {
	const path = "consume.queue"
	q := s.Consume.Queue
	if !q.Used() {
		if q != (Queue{}) {
			c.mistake(path+".engine", "it is required",
				"name an engine, as in {engine: markers}, or leave consume.queue out")
		}
		return
	}
	c.choice(path+".engine", q.Engine, engines)
	c.between(path+".threads", int64(q.Threads), 1, maxThreads)
	c.between(path+".batch", int64(q.Batch), 1, maxReceive)
	c.between(path+".in_flight", int64(q.InFlight), 1, maxLent)
	c.between(path+".max_deliveries", int64(q.MaxDeliveries), 0, maxDeliveries)
	if q.Visibility != 0 {
		c.duration(path+".visibility", q.Visibility, minVisibility, maxVisibility)
	}
	c.choice(path+".order", q.Order, orders)
	c.drop(path+".drop", q)
	c.backoff(path+".backoff", q)
	c.engine(path, q)
	c.queueRun(s)
}

func (c *checker) drop(path string, q Queue) {
	d := q.Drop
	if d.Share < 0 || d.Share > 1 || d.Share == 1 && q.MaxDeliveries == 0 {
		c.mistake(path+".share", fmt.Sprintf("%s is out of range", d.Share),
			"give 0% to 99.9%, and 100% only with max_deliveries: otherwise no record would ever be settled", "consume.queue.max_deliveries")
	}
	switch {
	case d.Share == 0 && d.How != "":
		c.mistake(path+".how", "nothing is dropped", "leave it out, or give a share, as in 10%", path+".share")
	case d.Share != 0:
		c.choice(path+".how", d.How, drops)
	}
	if d.How == "silent" && d.Share != 0 && q.Order != "none" && q.Order != "" {
		c.mistake(path+".how",
			fmt.Sprintf("in order: %s each record is settled before the next, and none can be dropped in silence",
				q.Order),
			"set how: nack, or order: none", "consume.queue.order")
	}
}

func (c *checker) backoff(path string, q Queue) {
	b := q.Backoff
	if b == (Backoff{}) {
		return
	}
	if c.duration(path+".min", b.Min, 0, maxVisibility) && c.duration(path+".max", b.Max, 0, maxVisibility) &&
		b.Min > b.Max {
		c.mistake(path+".min", fmt.Sprintf("%s is more than max, %s", b.Min, b.Max), "make it smaller", path+".max")
	}
	if q.Drop.How != "nack" {
		c.mistake(path, "nothing is given back that could be delayed", "leave it out, or set drop.how: nack",
			"consume.queue.drop.how")
	}
}

func (c *checker) engine(path string, q Queue) {
	const choose = "leave it out, or choose markers or offsetmap"
	given := path + ".engine"
	for _, refused := range []struct {
		key, engine     string
		is              bool
		problem, remedy string
	}{
		{"visibility", "plain", q.Visibility != 0,
			"plain lends records for as long as the member lives, so it has no visibility", choose},
		{"max_deliveries", "plain", q.MaxDeliveries != 0, "plain does not count deliveries", choose},
		{"drop", "plain", q.Drop.Share != 0,
			"plain can't deliver a record again: an unacknowledged record blocks the commits of its partition forever", "leave it out, or choose another engine"},
		{"tracker", "plain", q.Tracker != "", "plain redelivers nothing", "leave it out, or choose markers"},
		{"tracker", "offsetmap", q.Tracker != "", "offsetmap redelivers by itself", "leave it out, or choose markers"},
		{"tracker", "share", q.Tracker != "", "the brokers redeliver in a share group",
			"leave it out, or choose markers"},
		{"order", "share", q.Order != "none" && q.Order != "",
			"the broker of a share group gives the records of one partition to several members, so that no order is kept", "leave it out, or choose another engine"},
		{"acks", "plain", q.Acks != "", "plain writes nothing", choose},
		{"acks", "share", q.Acks != "", "the brokers keep a share group's acknowledgements", choose},
	} {
		if refused.is && refused.engine == q.Engine {
			c.mistake(path+"."+refused.key, refused.problem, refused.remedy, given)
		}
	}
	if q.Engine == "markers" {
		c.choice(path+".tracker", q.Tracker, trackers)
	}
	if q.writes() {
		c.choice(path+".acks", q.Acks, queueAcks)
	}
}

func (c *checker) queueRun(s Scenario) {
	g := s.Consume
	for _, refused := range []struct {
		path            string
		is              bool
		problem, remedy string
	}{
		{"consume.consumers", g.Consumers == 0, "there are no consumers",
			"give at least 1, or leave consume.queue out"},
		{"consume.groups", g.Groups > 1, "a run with a queue has one group", "leave it out"},
		{"consume.processes", g.Processes > 1, "the consumers of a queue are in the tool's own process",
			"leave it out, and give consume.queue.threads"},
		{"consume.cpu", g.CPU != 0, "the consumers of a queue are in the tool's own process, which can't be confined",
			"leave it out"},
		{"consume.memory", g.Memory != 0,
			"the consumers of a queue are in the tool's own process, which can't be confined", "leave it out"},
		{"consume.assignment", g.Assignment == "manual", "a queue is shared by a group", "set it to group"},
		{"consume.parallel", g.Parallel == "partition", "the consumers of a queue work in threads",
			"leave it out, and give consume.queue.threads"},
		{"consume.hold", !g.Hold.Off(), "the consumers of a queue can't be held",
			"leave it out; topic.fill provides records to read"},
		{"consume.protocol", g.Protocol == "consumer",
			"the members of a queue are in a classic group, or in a share group", "leave it out"},
		{"consume.assignor", g.Assignor != "", "the members of a queue have their own assignor", "leave it out"},
		{"consume.poll_timeout", g.PollTimeout != 0, "the consumers of a queue do not poll", "leave it out"},
		{"consume.client", len(g.Client) > 0, "a queue has clients of its own", "leave it out"},
		{"consume.commit", g.Commit.EachBatch, "a queue commits by itself, at an interval",
			"give an interval, as in 1s"},
		{"consume.commit", g.Commit.Interval > maxQueueCommit, "a queue commits at least once a minute",
			"give at most 1m"},
		{"consume.session_timeout", g.SessionTimeout > 0 && g.SessionTimeout < minQueueSession,
			"the session timeout of a queue is at least a second", "give at least 1s"},
		{"consume.session_timeout", g.SessionTimeout != 0 && g.Queue.Engine == "share",
			"in a share group the brokers set it",
			"leave it out and set cluster.config.group.share.session.timeout.ms"},
		{"consume.from", s.Filled() && g.From == "end", "a queue begins with the first record of its topic",
			"set it to start, or leave " + s.FillKey() + " out"},
		{"topic.existing", s.Topic.Existing != "", "a queue may write to its topic, so it can't use an existing one",
			"leave it out to create a topic"},
		{"backpressure", s.Backpressure.Controller != "off",
			"the lag of a queue's group does not show how far its consumers are behind", "set backpressure: off"},
	} {
		if refused.is {
			c.mistake(refused.path, refused.problem, refused.remedy, "consume.queue.engine", "consume.queue")
		}
	}
}

func (s Scenario) queueWarnings() (w warnings) {
	q, g := s.Consume.Queue, s.Consume
	if !q.Used() {
		return nil
	}
	if q.Drop.Share > 0 && q.Drop.How == "silent" && q.Visibility > 0 {
		most := float64(g.Consumers) * float64(q.InFlight) / time.Duration(q.Visibility).Seconds() / float64(q.Drop.Share)
		w.when(s.Load.Rate.IsMax() || s.Load.peak()*q.ExpectedDeliveries() > most,
			"consume.queue.in_flight: a silently dropped record stays in flight for the visibility of %s, so that %d consumers with %d in flight each receive at most %s/s",
			q.Visibility, g.Consumers, q.InFlight, unit.Count(int64(most)))
	}
	if e := s.Expected(); e.Known && q.Drop.Share > 0 && q.Drop.How == "silent" {
		needs := q.LastDelivery(float64(e.Records))
		w.when(needs > time.Duration(s.Phases.Drain),
			"phases.drain: the last of %s is delivered about %s after the first time, and the drain ends after %s",
			unit.Things(e.Records, "record"), unit.Span(needs), s.Phases.Drain)
	}
	work := g.Work.Mean() * time.Duration(q.Batch)
	w.when(q.Visibility > 0 && work > time.Duration(q.Visibility)/2,
		"consume.queue.visibility: a batch of %d takes %s on average, and the visibility of a record is %s", q.Batch, unit.Span(work), q.Visibility)
	w.when(q.Engine == "markers" && q.Acks == "leader" && s.Topic.Replication > 1,
		"consume.queue.acks: with acks leader a marker may be lost with its leader: a record may then be lost, or be delivered again though it was acknowledged")
	return w
}
