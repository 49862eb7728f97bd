package remote

import (
	"fmt"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// OpenTimeout and closeTimeout bound what a child may have to wait for the brokers
// for; one that has not answered by then is ended, whatever it was about to say.
const (
	OpenTimeout  = 60 * time.Second
	closeTimeout = 30 * time.Second
)

// Producers are the workers of all children together: to the run what
// send.Producers are. Of a child that has ended, it has the figures that it last
// gave, and Err says that it has.
type Producers struct {
	children Children
	axis     *load.Axis
	settings []driver.Setting
	done     chan struct{}
	spent    chan struct{} // nil: the volume has no bound

	mu     sync.Mutex
	ended  bool
	sent   []SentReply       // by child, as last told
	acked  [][]int64         // likewise
	behind []snapshot.Behind // likewise; without partitions, of one that never told
	left   []recorded        // and not gathered
	closed []*CloseReply     // by child, once it was closed; nil of one that ended before
}

// OpenProducers has each child open its part. On an error the children are to be
// ended.
func OpenProducers(children Children, axis *load.Axis, assignments []Assignment) (*Producers, error) {
	ps := &Producers{
		children: children, axis: axis, done: make(chan struct{}),
		sent: make([]SentReply, len(children)), acked: make([][]int64, len(children)), behind: make([]snapshot.Behind, len(children)), closed: make([]*CloseReply, len(children)),
	}
	replies := make([]OpenReply, len(children))
	errs := make([]error, len(children))
	_ = children.Each(func(i int, c *Child) error {
		ps.acked[i] = make([]int64, assignments[i].Partitions)
		errs[i] = c.call(ServiceName+".Open", assignments[i], &replies[i], OpenTimeout)
		return errs[i]
	})
	for i, err := range errs {
		if err != nil { // mostly all have the same
			return nil, fmt.Errorf("opening the producers of process %d: %w", i, err)
		}
	}
	ps.settings = replies[0].Settings
	if replies[0].Bounded {
		ps.spent = make(chan struct{})
	}
	return ps, nil
}

// Start gives the children the axis, which must be set, and lets them begin.
func (ps *Producers) Start() {
	zero := ps.axis.Zero()
	var settled sync.WaitGroup
	_ = ps.children.Each(func(_ int, c *Child) error { // an error is the child's end, and Err
		err := c.Call(ServiceName+".Start", zero, new(None))
		if err == nil {
			settled.Go(func() { _ = c.Await(ServiceName+".AwaitDone", None(0), new(None)) })
		}
		return err
	})
	go func() {
		settled.Wait()
		close(ps.done)
	}()
	if ps.spent != nil {
		go ps.awaitSpent()
	}
}

// awaitSpent waits until all workers have offered their shares of the volume, and
// then ends the measured window everywhere.
func (ps *Producers) awaitSpent() {
	spendings := make([]snapshot.Spending, len(ps.children))
	if ps.children.Each(func(i int, c *Child) error {
		return c.Await(ServiceName+".AwaitSpent", None(0), &spendings[i])
	}) != nil {
		return // a child has ended; what it would have offered never is
	}
	all := spendings[0]
	for _, s := range spendings[1:] {
		all = all.Merge(s)
	}
	ps.endAt(all.End()) // nobody offers anything any more, whatever the end
	close(ps.spent)
}

// endLead is how far ahead a new end of the window lies, so that every child knows of
// it before it comes, and none offers anything that is due later.
const endLead = 20 * time.Millisecond

// EndAt ends the measured window earlier, here and in the children: then, or in a
// moment, if that is later.
func (ps *Producers) EndAt(ns int64) { ps.endAt(max(ns, ps.axis.Now()+int64(endLead))) }

func (ps *Producers) endAt(ns int64) {
	ps.axis.EndAt(ns)
	_ = ps.children.Each(func(_ int, c *Child) error { return c.Call(ServiceName+".EndAt", ns, new(None)) })
}

// Done is closed when every worker has sent and settled all that it could, or has
// ended with its process.
func (ps *Producers) Done() <-chan struct{} { return ps.done }

// Spent is as that of send.Producers.
func (ps *Producers) Spent() <-chan struct{} { return ps.spent }

// Err is why workers ended before their time: their process did.
func (ps *Producers) Err() error { return ps.children.Err() }

// Close ends the workers and their clients, and takes their books home. The
// processes stay, to say what is behind. Closing again does nothing.
func (ps *Producers) Close() {
	ps.mu.Lock()
	ended := ps.ended
	ps.ended = true
	ps.mu.Unlock()
	if ended {
		return
	}
	_ = ps.children.Each(func(i int, c *Child) error {
		var reply CloseReply
		err := c.call(ServiceName+".Close", None(0), &reply, closeTimeout)
		if err == nil {
			ps.mu.Lock()
			ps.closed[i], ps.sent[i], ps.acked[i] = &reply, reply.Sent, reply.AckedIn
			ps.mu.Unlock()
		}
		return err
	})
}

// isClosed tells whether a child's figures do not change any more.
func (ps *Producers) isClosed(i int) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.closed[i] != nil
}

// Sent are the counts of all workers by phase; of a child that does not answer soon, as
// it last told, until it is closed.
func (ps *Producers) Sent() (warmup, measured snapshot.Sent) {
	_ = ps.children.Each(func(i int, c *Child) error {
		if ps.isClosed(i) {
			return nil
		}
		var reply SentReply
		c.CallSoon(ServiceName+".Sent", None(0), &reply, func() { ps.keepSent(i, reply) })
		return nil
	})
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, s := range ps.sent {
		warmup.Add(s.Warmup)
		measured.Add(s.Measured)
	}
	return warmup, measured
}

func (ps *Producers) keepSent(i int, sent SentReply) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.closed[i] == nil {
		ps.sent[i] = sent
	}
}

// AckedIn is the number of acknowledged records in each of n partitions.
func (ps *Producers) AckedIn(n int) []int64 {
	_ = ps.children.Each(func(i int, c *Child) error {
		if ps.isClosed(i) {
			return nil
		}
		var reply []int64
		err := c.Call(ServiceName+".AckedIn", None(0), &reply)
		if err == nil {
			ps.keepAcked(i, reply)
		}
		return err
	})
	ps.mu.Lock()
	defer ps.mu.Unlock()
	sum := make([]int64, n)
	for _, acked := range ps.acked {
		for p := range sum {
			sum[p] += acked[p]
		}
	}
	return sum
}

func (ps *Producers) keepAcked(i int, acked []int64) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.closed[i] == nil {
		ps.acked[i] = acked
	}
}

// Behind is as that of send.Producers: one question to each child, of which one that
// does not answer soon is as far behind as it last told.
func (ps *Producers) Behind(awaited [][]ledger.Awaited) snapshot.Behind {
	_ = ps.children.Each(func(i int, c *Child) error {
		var reply snapshot.Behind
		c.CallSoon(ServiceName+".Behind", awaited, &reply, func() { ps.keepBehind(i, reply) })
		return nil
	})
	all := ps.lastBehind(0, len(awaited))
	for i := range ps.children[1:] {
		all = all.Merge(ps.lastBehind(i+1, len(awaited)))
	}
	return all
}

func (ps *Producers) keepBehind(i int, b snapshot.Behind) {
	ps.keepAcked(i, b.AckedIn)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.behind[i] = b
}

// lastBehind is what is known of a child. Of one that has ended that is what it had
// acknowledged when it last told, and nothing of when that was due.
func (ps *Producers) lastBehind(i, partitions int) snapshot.Behind {
	ended := ps.children[i].Err() != nil
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if last := ps.behind[i]; !ended && len(last.AckedIn) == partitions {
		return last.Clone()
	}
	return snapshot.NewBehind(append([]int64(nil), ps.acked[i]...))
}

// Waiting counts the records that waited at the source when the producers were
// closed, and tells when the oldest of them was due. Until then Behind tells.
func (ps *Producers) Waiting() (records, oldestDue int64) {
	for _, c := range ps.home() {
		records, oldestDue = snapshot.MergeWaiting(records, oldestDue, c.Waiting, c.WaitingDueNs)
	}
	return records, oldestDue
}

// home are the children's last words, of those that had any.
func (ps *Producers) home() (all []*CloseReply) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, c := range ps.closed {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// DeferredPeak is the sum of the peaks of all workers' queues, once they are
// closed.
func (ps *Producers) DeferredPeak() (sum int64) {
	for _, c := range ps.home() {
		sum += c.DeferredPeak
	}
	return sum
}

// AckGaps are the gaps in the acknowledgements of each partition, of all processes
// together, once they are closed; nil where none of them was.
func (ps *Producers) AckGaps() (all []snapshot.Gaps) {
	for _, c := range ps.home() {
		all = snapshot.MergeGaps(all, c.AckGaps)
	}
	return all
}

// Errors counts what the clients reported of one phase's records, by message, once
// they are closed.
func (ps *Producers) Errors(measured bool) map[string]int64 {
	all := make(map[string]int64)
	for _, c := range ps.home() {
		errors := c.Errors[0]
		if measured {
			errors = c.Errors[1]
		}
		for message, n := range errors {
			all[message] += n
		}
	}
	return all
}

// Books are the sending side of the books, once they are closed; without those of
// a process that ended before.
func (ps *Producers) Books() (books []*ledger.Sender) {
	for _, c := range ps.home() {
		books = append(books, c.Books...)
	}
	return books
}

// AddTo has a collector gather the histograms of the sending side.
func (ps *Producers) AddTo(c *latency.Collector) { c.AddSource(ps) }

// Recorded implements latency.Source.
func (ps *Producers) Recorded(merge func(part latency.Encoded) error) {
	_ = ps.children.Each(func(i int, c *Child) error {
		if ps.isClosed(i) { // maybe for the last time
			c.settle()
			ps.takeRecorded(c)
		} else {
			c.soon(func() { ps.takeRecorded(c) })
		}
		return nil
	})
	ps.mu.Lock()
	left := ps.left
	ps.left = nil
	ps.mu.Unlock()
	mergeAll(left, merge)
}

// takeRecorded takes what a child has recorded.
func (ps *Producers) takeRecorded(c *Child) {
	var part latency.Encoded
	if c.Call(ServiceName+".Recorded", None(0), &part) != nil {
		return
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.left = append(ps.left, recorded{c, part})
}

// Wire is the traffic of all clients, where the driver counts it.
func (ps *Producers) Wire() (sum driver.Wire, counted bool) {
	replies := make([]WireReply, len(ps.children))
	if ps.children.Each(func(i int, c *Child) error { return c.Call(ServiceName+".Wire", None(0), &replies[i]) }) != nil {
		return driver.Wire{}, false
	}
	for _, r := range replies {
		sum, counted = sum.Add(r.Wire), r.Counted
	}
	return sum, counted
}

// Requests are those of all clients, where the driver times them.
func (ps *Producers) Requests() (sum driver.Requests, timed bool) {
	replies := make([]WireReply, len(ps.children))
	if ps.children.Each(func(i int, c *Child) error { return c.Call(ServiceName+".Wire", None(0), &replies[i]) }) != nil {
		return driver.Requests{}, false
	}
	for _, r := range replies {
		sum, timed = sum.Add(r.Requests), r.Timed
	}
	return sum, timed
}

// Settings are the effective settings of a client.
func (ps *Producers) Settings() []driver.Setting { return ps.settings }
