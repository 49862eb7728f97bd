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

// Producers are the workers of all parts.
type Producers struct {
	// Shared reports that other machines offer the rest of the volume, so this part does not end
	// the measured window. Set it before Start.
	Shared bool

	parts  parts
	axis   *load.Axis
	opened Opened
	done   chan struct{}
	spent  chan struct{} // nil: the volume is not bounded

	mu       sync.Mutex
	closing  bool
	spending snapshot.Spending
	final    *snapshot.Snapshot
}

type offering interface {
	Part
	Done() <-chan struct{}
	Spent() <-chan struct{}
	Spending() snapshot.Spending
}

// ProducersOf returns the producers of open parts.
func ProducersOf(axis *load.Axis, parts ...Part) *Producers {
	return &Producers{parts: parts, axis: axis, done: make(chan struct{})}
}

// OpenProducers makes each part open its assignment. After an error the caller must end the parts.
func OpenProducers(ctx context.Context, axis *load.Axis, parts []Part, assignments []Assignment) (*Producers, error) {
	ps := ProducersOf(axis, parts...)
	opened, errs := make([]Opened, len(parts)), make([]error, len(parts))
	ps.parts.each(func(i int, p Part) { opened[i], errs[i] = p.Open(ctx, assignments[i]) })
	for i, err := range errs {
		switch {
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

// Restrict makes the workers send only to some partitions. Call it before Start.
func (ps *Producers) Restrict(partitions []int32) {
	ps.parts.each(func(_ int, p Part) { _, _ = p.Do(Command{Do: Restrict, Partitions: partitions}) })
}

// Start starts the parts. The axis must be set.
func (ps *Producers) Start() {
	zero := ps.axis.Zero()
	ps.parts.each(func(_ int, p Part) { _ = p.Start(zero) }) // an error ends the part, and Err returns it
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

// awaitSpent ends the measured window everywhere when the volume was offered, unless Shared.
func (ps *Producers) awaitSpent() {
	all := snapshot.Unspent
	for _, p := range ps.parts {
		o := p.(offering)
		select {
		case <-o.Spent():
		case <-o.Done():
			select {
			case <-o.Spent(): // spent before done
			default:
				return
			}
		}
		all = all.Merge(o.Spending())
	}
	ps.mu.Lock()
	ps.spending = all
	ps.mu.Unlock()
	if !ps.Shared {
		ps.endAt(all.End()) // no record is left to offer
	}
	close(ps.spent)
}

// With endLead, every child gets a new end of the window in time.
const endLead = 20 * time.Millisecond

// EndAt ends the measured window earlier, here and in all parts. With child processes, the end is
// at least endLead ahead.
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

// Done is closed when every worker's records are completed, or when its process has ended.
func (ps *Producers) Done() <-chan struct{} { return ps.done }

// Spent is closed when all of the volume was offered; nil if the volume is not bounded.
func (ps *Producers) Spent() <-chan struct{} { return ps.spent }

// Spending returns how the volume ended. It is valid after Spent is closed.
func (ps *Producers) Spending() snapshot.Spending {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.spending
}

// Err returns why a process ended before its workers did; nil if none.
func (ps *Producers) Err() error { return ps.parts.err() }

// Snapshot returns the state of the workers of all parts. An ended part has its last report, and
// traffic is unknown then. After Close, only open records are requested.
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

// Close ends the workers and their clients, and fetches their books. The processes stay, to report
// open records. Further calls do nothing.
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

// Last returns the final values after Close; empty before.
func (ps *Producers) Last() snapshot.Last {
	if final := ps.closed(); final != nil && final.Last != nil {
		return *final.Last
	}
	return snapshot.Last{}
}

// AddTo adds the histograms of the sending side to a collector.
func (ps *Producers) AddTo(c *latency.Collector) { ps.parts.addTo(c) }

// Settings returns the effective settings of a client.
func (ps *Producers) Settings() []driver.Setting { return ps.opened.Settings }

type parts []Part

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

func (ps parts) snapshots(w Want) []snapshot.Snapshot {
	all := make([]snapshot.Snapshot, len(ps))
	ps.each(func(i int, p Part) { all[i], _ = p.Snapshot(w) })
	return all
}

func (ps parts) snapshot(w Want) snapshot.Snapshot { return merged(ps.snapshots(w)) }

// merged puts the error of a merge into the sum. None is expected: a Child is ended if its snapshot
// has another number of partitions.
func merged(all []snapshot.Snapshot) snapshot.Snapshot {
	sum, err := snapshot.Merge(all)
	if err != nil {
		sum.Failed = err.Error()
	}
	return sum
}

func (ps parts) apart() bool {
	return slices.ContainsFunc(ps, func(p Part) bool { _, is := p.(*Child); return is })
}

func (ps parts) err() error {
	for _, p := range ps {
		if mortal, is := p.(interface{ Err() error }); is && mortal.Err() != nil {
			return mortal.Err()
		}
	}
	return nil
}

func (ps parts) addTo(c *latency.Collector) {
	for _, p := range ps {
		if has, is := p.(interface{ AddTo(*latency.Collector) }); is {
			has.AddTo(c)
		}
	}
}
