package queued

import (
	"context"
	"errors"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// thread handles one record after another (work-is-a-virtual-server).
type thread struct {
	node   *node
	server load.Server
	hand   []inHand
	times  []timed
}

type inHand struct {
	i     int
	stamp payload.Stamp
	shift int64 // converts the stamp's times to this process's axis
	ours  bool
	timed bool
	// crossed: another agent sent it.
	crossed bool
	first   bool
	times   int
	at      int64
	due     int64 // when a redelivery was due, or never
}

// measuredAt reports whether a duration that ends at now counts as measured. A record that filled
// the topic was stamped before the run's axis began, so for it now decides.
func (h inHand) measuredAt(now int64) bool {
	return h.stamp.Intended >= 0 || !h.timed && now >= 0
}

func (h inHand) since(stampNs, now int64) int64 { return now - (stampNs + h.shift) }

type timed struct {
	metric   latency.Metric
	measured bool
	ns       int64
}

var errNoLot = errors.New("the queue returned neither records nor an error")

var errUnsettled = errors.New("the member ended before the record was settled")

func (t *thread) run() error {
	n := t.node
	select {
	case <-n.group.released:
	case <-n.alive.Done():
		return nil
	}
	for n.alive.Err() == nil && n.halt.Wait(n.alive.Done()) {
		asked := time.Now()
		lot, err := n.queue.Receive(n.alive, n.group.cfg.Batch)
		switch {
		case err != nil && n.alive.Err() != nil:
			return nil
		case err != nil:
			return err
		case lot == nil || lot.Len() == 0:
			return errNoLot
		}
		n.polls.Add(1)
		if err := t.work(lot, time.Since(asked)); err != nil {
			return nil // the member ends (two-step-end)
		}
	}
	return nil
}

func (n *node) serve(threads chan *thread) error {
	select {
	case <-n.group.released:
	case <-n.alive.Done():
		return nil
	}
	return n.queue.Run(n.alive, n.group.cfg.Threads, func(lot Lot) error {
		t := <-threads
		defer func() { threads <- t }()
		return t.work(lot, -1)
	})
}

// An ending member leaves the rest of the lot to the queue. took is how long Receive waited;
// negative: Receive was not called.
func (t *thread) work(lot Lot, took time.Duration) error {
	n := t.node
	there := n.group.axis.Now()
	t.times = t.times[:0]
	if took >= 0 {
		t.times = append(t.times, timed{latency.PollTime, there-int64(took) >= 0, int64(took)})
	}
	for i := 0; i < lot.Len(); {
		if !n.halt.Wait(n.alive.Done()) || n.alive.Err() != nil {
			return errUnsettled
		}
		now := n.group.axis.Now()
		turns, work := lot.Len()-i, int64(0)
		if !n.group.idle {
			turns, work = t.server.Begin(turns, there, now)
		}
		t.hand = n.handOver(t.hand[:0], &t.times, lot, i, turns, now, work)
		if !n.group.idle && (!t.server.Wait(n.life.Done()) || !n.halt.Wait(n.life.Done())) {
			t.server.Abandon()
			n.giveUp(t.hand)
			return errUnsettled
		}
		if !t.settle(lot) {
			return errUnsettled
		}
		i += turns
	}
	return nil
}

// handOver appends the records [from, from+turns) of a lot to hand.
func (n *node) handOver(hand []inHand, times *[]timed, lot Lot, from, turns int, now, work int64) []inHand {
	var counts snapshot.Received
	var delivered, first, bytes int64
	var totals snapshot.QueueTotal
	wall := time.Now()
	for i := from; i < from+turns; i++ {
		l := lot.At(i)
		h := n.handOne(l, i, now, deadlineOf(l, now, wall))
		hand = append(hand, h)
		bytes += int64(len(l.Value) + l.KeyBytes)
		if !h.ours {
			continue
		}
		delivered++
		if h.crossed {
			counts.Crossed++
		}
		if h.first {
			first++
		} else {
			totals.Redelivered++
		}
		n.timesOf(h, times, &counts)
	}
	n.inHand.Add(int64(turns))
	counts.WorkInWindow = work
	n.group.axis.CountDeliveries(&counts, now, delivered, first, bytes)
	n.record(times, counts, totals)
	if now >= 0 {
		n.place.recorder.Lock()
		n.place.share.Add(delivered, bytes, now, now)
		n.place.recorder.Unlock()
	}
	return hand
}

func (n *node) record(times *[]timed, counts snapshot.Received, totals snapshot.QueueTotal) {
	p := n.place
	p.recorder.Lock()
	defer p.recorder.Unlock()
	for _, t := range *times {
		p.recorder.Record(t.measured, t.metric, t.ns)
	}
	*times = (*times)[:0]
	p.counts.Add(counts)
	p.totals.Add(totals)
}

// deadlineOf converts the end of a record's lock to the axis; now and wall are the same moment.
func deadlineOf(l Lent, now int64, wall time.Time) int64 {
	if l.Deadline.IsZero() {
		return never
	}
	return now + int64(l.Deadline.Sub(wall))
}

func (n *node) handOne(l Lent, i int, now, deadline int64) inHand {
	g := n.group
	h := inHand{i: i, at: now, due: never}
	stamp, check := payload.ReadRecord(l.Stamp, l.Value)
	if l.Partition < 0 || int(l.Partition) >= len(g.books) {
		return h
	}
	b := g.books[l.Partition]
	b.delivered.Lock()
	defer b.delivered.Unlock()
	switch {
	case check == payload.Foreign || check == payload.Intact && stamp.Run != g.cfg.Run:
		b.delivered.Foreign()
		return h
	case check == payload.Corrupt || stamp.Partition != l.Partition:
		b.corrupt(l.Offset, now)
		return h
	}
	shift, other := g.cfg.Offsets.Of(stamp.Producer)
	a := b.deliver(stamp, shift, n, now, deadline, l.Attempt)
	if !a.ours {
		return h
	}
	h.shift, h.crossed = shift, other
	h.stamp, h.ours, h.first, h.times, h.due = stamp, true, a.first, a.times, a.due
	h.timed = int(stamp.Producer) < g.cfg.Producers-g.cfg.Filled
	return h
}

func (n *node) timesOf(h inHand, times *[]timed, counts *snapshot.Received) {
	measured := h.stamp.Intended >= 0
	add := func(metric latency.Metric, ns int64) { *times = append(*times, timed{metric, measured, ns}) }
	switch {
	case !h.first:
		if h.timed && n.group.open {
			add(latency.RedeliveryResponseTime, h.since(h.stamp.Intended, h.at))
		}
		if h.due != never {
			*times = append(*times, timed{latency.RedeliveryLateness, h.measuredAt(h.at), h.at - h.due})
		}
	case h.timed:
		service := h.since(h.stamp.Actual, h.at)
		add(latency.E2EServiceTime, service)
		counts.Timed++
		counts.ServiceNs += service
		if n.group.open {
			add(latency.E2EResponseTime, h.since(h.stamp.Intended, h.at))
		}
	}
}

// settle returns false if the member was killed meanwhile.
func (t *thread) settle(lot Lot) bool {
	n := t.node
	var counts snapshot.Received
	var totals snapshot.QueueTotal
	for k, h := range t.hand {
		if n.life.Err() != nil {
			n.record(&t.times, counts, totals)
			n.giveUp(t.hand[k:])
			return false
		}
		n.settleOne(lot, h, &t.times, &counts, &totals)
		n.inHand.Add(-1)
	}
	n.record(&t.times, counts, totals)
	return true
}

func (n *node) settleOne(lot Lot, h inHand, times *[]timed, counts *snapshot.Received, totals *snapshot.QueueTotal) {
	g := n.group
	if h.ours && g.drops(h) {
		if g.cfg.Nack {
			n.nack(lot, h)
		} else {
			n.tally(h, func(t *snapshot.DeliveryCounts) { t.Dropped++ })
		}
		return
	}
	err := lot.Ack(n.life, h.i)
	now := g.axis.Now()
	if !h.ours {
		return
	}
	if err != nil {
		n.late(h, err)
		return
	}
	n.acked(h, now, times, counts, totals)
}

func (n *node) acked(h inHand, now int64, times *[]timed, counts *snapshot.Received, totals *snapshot.QueueTotal) {
	g := n.group
	b := g.books[h.stamp.Partition]
	b.delivered.Lock()
	first := b.ack(h.stamp, now)
	b.delivered.Unlock()
	counts.Processed++
	*times = append(*times, timed{latency.SettleTime, h.measuredAt(now), now - h.at})
	if !first {
		return
	}
	totals.Acked++
	if g.axis.InWindow(now) {
		totals.AckedInWindow++
	}
	if h.timed && g.open && !g.idle {
		*times = append(*times, timed{latency.ProcessedResponseTime, h.stamp.Intended >= 0, h.since(h.stamp.Intended, now)})
	}
}

// nack sets the due time before it gives the record back (due-before-give-back).
func (n *node) nack(lot Lot, h inHand) {
	g := n.group
	delay := g.delay(h.times)
	b := g.books[h.stamp.Partition]
	b.delivered.Lock()
	lent := b.open[lane(h.stamp)].due
	b.dueAt(h.stamp, n, g.axis.Now()+int64(delay))
	b.delivered.Unlock()
	if err := lot.Nack(n.life, h.i, delay); err != nil {
		b.delivered.Lock()
		b.dueAt(h.stamp, n, lent)
		b.delivered.Unlock()
		n.late(h, err)
		return
	}
	n.tally(h, func(t *snapshot.DeliveryCounts) { t.Nacked++ })
}

func (g *Group) delay(attempt int) time.Duration {
	if g.cfg.Delay == nil {
		return 0
	}
	return g.cfg.Delay(attempt)
}

func (n *node) late(h inHand, err error) {
	switch {
	case errors.Is(err, context.Canceled):
		n.tally(h, func(t *snapshot.DeliveryCounts) { t.Unsettled++ })
	case errors.Is(err, ErrLockExpired):
		n.tally(h, func(t *snapshot.DeliveryCounts) { t.GivenUpExpired++ })
	case errors.Is(err, ErrLockLost):
		n.tally(h, func(t *snapshot.DeliveryCounts) { t.GivenUpLost++ })
	default:
		n.tally(h, func(t *snapshot.DeliveryCounts) { t.GivenUpError++ })
		n.group.cfg.OnEvent("error", "a record could not be settled", err.Error())
	}
}

func (n *node) giveUp(hand []inHand) {
	for _, h := range hand {
		if h.ours {
			n.tally(h, func(t *snapshot.DeliveryCounts) { t.Unsettled++ })
		}
	}
}

func (n *node) tally(h inHand, count func(*snapshot.DeliveryCounts)) {
	b := n.group.books[h.stamp.Partition]
	b.delivered.Lock()
	defer b.delivered.Unlock()
	count(b.tallyOf(h.stamp.Intended >= 0))
}

// drops draws whether a delivery is dropped, only from the seed, the record and the attempt
// (drop-by-record-and-attempt).
func (g *Group) drops(h inHand) bool {
	if g.cfg.Drop <= 0 {
		return false
	}
	x := mix(g.cfg.Seed ^ mix(lane(h.stamp)+mix(uint64(uint32(h.stamp.Partition))<<32|uint64(uint32(h.times)))))
	return float64(x>>11)/(1<<53) < g.cfg.Drop
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014), with one increment.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
