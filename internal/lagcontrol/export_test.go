package lagcontrol

// Woken counts the calls of Acquire that were woken by room.
func (g *Gate) Woken() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.woken
}

func (g *Gate) InDoubt() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.doubt.entries)
}

type Own struct{ o *ownRecords }

func NewOwn() Own { return Own{newOwnRecords()} }

func (o Own) Acked(topic string, partition int32, offset int64) { o.o.acked(topic, partition, offset) }
func (o Own) Learn(reading []Partition, overdue int64) (settled int64) {
	settled, _ = o.o.learn(reading, overdue, true, false)
	return settled
}
func (o Own) Count() (outstanding, committed int64) { return o.o.count() }

func (o Own) Spans() int {
	n := 0
	for _, p := range *o.o.partitions.Load() {
		n += len(p.spans)
	}
	return n
}
