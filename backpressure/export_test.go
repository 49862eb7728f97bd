package backpressure

// Woken is how many waiting calls of Acquire were ever woken by room.
func (g *Gate) Woken() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.woken
}

// InDoubt is the number of entries for records of unknown fate.
func (g *Gate) InDoubt() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.doubt.entries)
}

// Own is the tracker of a gate's own records.
type Own struct{ o *ownRecords }

// NewOwn returns an empty tracker.
func NewOwn() Own { return Own{newOwnRecords()} }

func (o Own) Acked(topic string, partition int32, offset int64) { o.o.acked(topic, partition, offset) }
func (o Own) Learn(reading []Partition, overdue int64) (settled int64) {
	settled, _ = o.o.learn(reading, overdue, true, false)
	return settled
}
func (o Own) Count() (outstanding, committed int64) { return o.o.count() }

// Spans is the number of spans that the tracker holds.
func (o Own) Spans() int {
	n := 0
	for _, p := range *o.o.partitions.Load() {
		n += len(p.spans)
	}
	return n
}

// GrantLate simulates a producer that paused between its look at the limit and its grant.
// It reports whether the grant stands.
func (g *Gate) GrantLate(n int64) bool {
	if g.stands(g.admitted.Add(n)) {
		return true
	}
	g.giveBack(n)
	return false
}
