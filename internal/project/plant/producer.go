package plant

import "time"

type producer struct {
	p    *plant
	cfg  Producer
	gate *gate
	next int // the partition of the next record, before the modulo

	due   float64 // records that came due, including a fraction
	whole int64
	queue []deferred
	held  int64 // in the queue

	offered, admitted, shed int64 // in the measured window
}

type deferred struct {
	due time.Duration
	n   int64
}

func (c Producer) rate(at time.Duration) float64 {
	if c.BurstEvery > 0 && at%c.BurstEvery < c.BurstFor {
		return c.BurstRate
	}
	return c.Rate
}

func (pr *producer) round() {
	pr.due += pr.cfg.rate(pr.p.now) * tick.Seconds()
	if n := int64(pr.due) - pr.whole; n > 0 {
		pr.whole += n
		pr.held += n
		pr.queue = append(pr.queue, deferred{pr.p.now, n})
		if pr.p.measured(pr.p.now) {
			pr.offered += n
		}
	}
	if pr.held == 0 {
		return
	}
	granted := pr.gate.Admit(pr.held)
	for granted > 0 {
		granted -= pr.send(granted)
	}
	for pr.held > pr.cfg.Defer {
		pr.drop(pr.held - pr.cfg.Defer)
	}
}

func (pr *producer) send(n int64) int64 {
	due, n := pr.pull(n)
	if pr.p.measured(due) {
		pr.admitted += n
	}
	first := pr.next
	pr.next += int(n)
	failed := int64(0)
	if pr.p.cfg.FailOneIn > 0 {
		for range n {
			if pr.p.rand.IntN(pr.p.cfg.FailOneIn) == 0 {
				failed++
			}
		}
	}
	pr.p.after(pr.p.around(pr.p.cfg.Produce), func() {
		offsets := pr.p.append(due, first, n-failed)
		pr.p.after(pr.p.around(pr.p.cfg.Ack), func() { pr.settle(first, offsets, n) })
	})
	return n
}

func (pr *producer) settle(first int, offsets []int64, n int64) {
	if pr.gate.shared {
		for i, offset := range offsets {
			pr.gate.Acked(topic, int32((first+i)%len(pr.p.partitions)), offset)
		}
	}
	pr.gate.Done(n)
}

func (pr *producer) drop(n int64) {
	due, n := pr.pull(n)
	if pr.p.measured(due) {
		pr.shed += n
	}
}

// The records have the same due time.
func (pr *producer) pull(n int64) (time.Duration, int64) {
	front := &pr.queue[0]
	due, n := front.due, min(n, front.n)
	front.n -= n
	pr.held -= n
	if front.n == 0 {
		pr.queue = pr.queue[1:]
	}
	return due, n
}

// append fills one partition after the other.
func (p *plant) append(due time.Duration, first int, n int64) []int64 {
	offsets := make([]int64, n)
	p.lag += n
	for i := range offsets {
		offsets[i] = p.partitions[(first+i)%len(p.partitions)].append(due)
	}
	p.measure.sawLag()
	return offsets
}
