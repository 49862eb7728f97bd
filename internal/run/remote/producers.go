package remote

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Producers are the workers of all parts together.
type Producers struct {
	// Shared is that others offer the rest of the volume, so that the measured window does
	// not end with what is offered here. Set it before Start.
	Shared bool

	parts  parts
	axis   *load.Axis
	opened Opened
	done   chan struct{}
	spent  chan struct{} // nil: the volume has no bound

	mu       sync.Mutex
	closing  bool
	spending snapshot.Spending  // once spent is closed
	final    *snapshot.Snapshot // once they are closed
}

// offering is a part that has producers.
type offering interface {
	Part
	Done() <-chan struct{}
	Spent() <-chan struct{}
	Spending() snapshot.Spending
}

// ProducersOf are those of parts that are open.
func ProducersOf(axis *load.Axis, parts ...Part) *Producers {
	return &Producers{parts: parts, axis: axis, done: make(chan struct{})}
}

// OpenProducers has each part open what is assigned to it. On an error the parts are to
// be ended.
func OpenProducers(ctx context.Context, axis *load.Axis, parts []Part, assignments []Assignment) (*Producers, error) {
	ps := ProducersOf(axis, parts...)
	opened, errs := make([]Opened, len(parts)), make([]error, len(parts))
	ps.parts.each(func(i int, p Part) { opened[i], errs[i] = p.Open(ctx, assignments[i]) })
	for i, err := range errs {
		switch { // mostly all have the same
		case err != nil && len(parts) > 1:
			return nil, fmt.Errorf("opening the producers of process %d: %w", i, err)
		case err != nil:
			return nil, err
		}
	}
	if ps.opened = opened[0]; ps.opened.Bounded {
		ps.spent = make(chan struct{})
	}
	return ps, nil
}

// Restrict has the workers send to some of the partitions only. Call it before Start.
func (ps *Producers) Restrict(partitions []int32) {
	ps.parts.each(func(_ int, p Part) { _, _ = p.Do(Command{Do: Restrict, Partitions: partitions}) })
}

// Start gives the parts the axis, which must be set, and lets them begin.
func (ps *Producers) Start() {
	zero := ps.axis.Zero()
	ps.parts.each(func(_ int, p Part) { _ = p.Start(zero) }) // an error is the part's end, and Err
	go func() {
		for _, p := range ps.parts {
			<-p.(offering).Done()
		}
		close(ps.done)
	}()
	if ps.spent != nil {
		go ps.awaitSpent()
	}
}

// awaitSpent waits until all workers have offered their shares of the volume, and
// then ends the measured window everywhere, unless others offer the rest.
func (ps *Producers) awaitSpent() {
	all := snapshot.Unspent
	for _, p := range ps.parts {
		o := p.(offering)
		select {
		case <-o.Spent():
		case <-o.Done():
			select {
			case <-o.Spent(): // before that
			default:
				return // a part has ended; what it would have offered never is
			}
		}
		all = all.Merge(o.Spending())
	}
	ps.mu.Lock()
	ps.spending = all
	ps.mu.Unlock()
	if !ps.Shared {
		ps.endAt(all.End()) // nobody offers anything any more, whatever the end
	}
	close(ps.spent)
}

// endLead is how far ahead a new end of the window lies, so that every child knows of
// it before it comes, and none offers anything that is due later.
const endLead = 20 * time.Millisecond

// EndAt ends the measured window earlier, here and in all parts: then, or in a moment, if
// that is later and others have to be told.
func (ps *Producers) EndAt(ns int64) {
	if ps.parts.apart() {
		ns = max(ns, ps.axis.Now()+int64(endLead))
	}
	ps.endAt(ns)
}

func (ps *Producers) endAt(ns int64) {
	ps.axis.EndAt(ns)
	ps.parts.each(func(_ int, p Part) { _, _ = p.Do(Command{Do: End, EndNs: ns}) })
}

// Done is closed when every worker has sent and settled all that it could, or has
// ended with its process.
func (ps *Producers) Done() <-chan struct{} { return ps.done }

// Spent is closed when the load has ended because all of its volume was offered, which
// has ended the measured window on the axis too. It is nil where the volume has no bound.
func (ps *Producers) Spent() <-chan struct{} { return ps.spent }

// Spending is how the volume came to its end, once Spent is closed.
func (ps *Producers) Spending() snapshot.Spending {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.spending
}

// Err is why workers ended before their time: their process did.
func (ps *Producers) Err() error { return ps.parts.err() }

// Snapshot is how the workers of all parts stand together. Of a part that has ended it has
// what that told last, and no traffic is known then. Once they are closed only what is open
// is still asked for.
func (ps *Producers) Snapshot(w Want) snapshot.Snapshot {
	var s snapshot.Snapshot
	if final := ps.closed(); final != nil && w.Awaited == nil {
		s = *final
	} else {
		s = ps.parts.snapshot(w)
	}
	if ps.Err() != nil {
		s.Traffic = snapshot.Traffic{}
	}
	return s
}

// Close ends the workers and their clients, and takes their books home. The processes
// stay, to say what is open. Closing again does nothing.
func (ps *Producers) Close() {
	ps.mu.Lock()
	again := ps.closing
	ps.closing = true
	ps.mu.Unlock()
	if again {
		return
	}
	all := make([]snapshot.Snapshot, len(ps.parts))
	ps.parts.each(func(i int, p Part) { all[i], _ = p.Close(context.Background()) })
	final := merged(all)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.final = &final
}

func (ps *Producers) closed() *snapshot.Snapshot {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.final
}

// Last is what is known once they are closed; empty before.
func (ps *Producers) Last() snapshot.Last {
	if final := ps.closed(); final != nil && final.Last != nil {
		return *final.Last
	}
	return snapshot.Last{}
}

// AddTo has a collector gather the histograms of the sending side.
func (ps *Producers) AddTo(c *latency.Collector) { ps.parts.addTo(c) }

// Settings are the effective settings of a client.
func (ps *Producers) Settings() []driver.Setting { return ps.opened.Settings }

// parts are those of one run that do the same.
type parts []Part

// each does the same with each part at the same time, and waits for all.
func (ps parts) each(do func(i int, p Part)) {
	if len(ps) == 1 {
		do(0, ps[0])
		return
	}
	var doing sync.WaitGroup
	for i, p := range ps {
		doing.Go(func() { do(i, p) })
	}
	doing.Wait()
}

// snapshots are how each stands, and snapshot is how all stand together.
func (ps parts) snapshots(w Want) []snapshot.Snapshot {
	all := make([]snapshot.Snapshot, len(ps))
	ps.each(func(i int, p Part) { all[i], _ = p.Snapshot(w) }) // an error is the part's end, and err
	return all
}

func (ps parts) snapshot(w Want) snapshot.Snapshot { return merged(ps.snapshots(w)) }

// merged adds snapshots up. They fit together, because a Child ends when it tells what
// does not: an error there is none.
func merged(all []snapshot.Snapshot) snapshot.Snapshot {
	sum, err := snapshot.Merge(all)
	if err != nil {
		sum.Failed = err.Error()
	}
	return sum
}

// apart reports whether any of them is in another process.
func (ps parts) apart() bool {
	return slices.ContainsFunc(ps, func(p Part) bool { _, is := p.(*Child); return is })
}

// err is why the first has ended that was not to.
func (ps parts) err() error {
	for _, p := range ps {
		if mortal, is := p.(interface{ Err() error }); is && mortal.Err() != nil {
			return mortal.Err()
		}
	}
	return nil
}

// addTo has a collector gather the histograms of all.
func (ps parts) addTo(c *latency.Collector) {
	for _, p := range ps {
		if has, is := p.(interface{ AddTo(*latency.Collector) }); is {
			has.AddTo(c)
		}
	}
}
