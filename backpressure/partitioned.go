package backpressure

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// PartitionedConfig says what a partitioned gate is.
type PartitionedConfig struct {
	// Config holds for each partition's gate; its Controller is not used.
	Config
	// Partitions is how many the topic has.
	Partitions int
	// Topic is whose partitions of a reading count; it may be empty where readings
	// are of one topic only.
	Topic string
	// NewController makes the controller of one partition. Its bound is that of a
	// partition, not of the topic.
	NewController func() (Controller, error)
}

// Partitioned is a gate for each partition of a topic: one slow or stuck
// partition then stops the records that would go to it and no others. The bound
// holds for each partition. Partitions are counted from 0, as Kafka does; one
// that the gate does not have is never granted anything.
type Partitioned struct {
	cfg   Config
	topic string
	gates []*Gate
}

// NewPartitioned returns a gate for each partition. An error names every fault
// of the config.
func NewPartitioned(cfg PartitionedConfig) (*Partitioned, error) {
	if cfg.Partitions <= 0 {
		return nil, fmt.Errorf("backpressure: a topic has at least one partition, not %d", cfg.Partitions)
	}
	if cfg.NewController == nil {
		return nil, errors.New("backpressure: a partitioned gate needs a controller for each partition: set NewController")
	}
	whole, err := cfg.completed()
	if err != nil {
		return nil, err
	}
	if whole.Now == nil { // one axis for all
		start := time.Now()
		whole.Now = func() time.Duration { return time.Since(start) }
	}
	p := &Partitioned{cfg: whole, topic: cfg.Topic, gates: make([]*Gate, cfg.Partitions)}
	for i := range p.gates {
		one := whole
		if one.Controller, err = cfg.NewController(); err != nil {
			return nil, err
		}
		if p.gates[i], err = New(one); err != nil {
			return nil, err
		}
		p.gates[i].id = int32(i)
	}
	return p, nil
}

// Partitions is the number of partitions.
func (p *Partitioned) Partitions() int { return len(p.gates) }

// Admit asks for n records of a partition, as [Gate.Admit].
func (p *Partitioned) Admit(partition int32, n int64) int64 {
	if g := p.gate(partition); g != nil {
		return g.Admit(n)
	}
	return 0
}

// TryAcquire asks for n records of a partition, all or none, as [Gate.TryAcquire].
func (p *Partitioned) TryAcquire(partition int32, n int64) bool {
	g := p.gate(partition)
	return g != nil && g.TryAcquire(n)
}

// Acquire waits until n records of a partition may be sent, as [Gate.Acquire]. It
// is an error that wraps [ErrNever] if the gate has no such partition.
func (p *Partitioned) Acquire(ctx context.Context, partition int32, n int64) error {
	if g := p.gate(partition); g != nil {
		return g.Acquire(ctx, n)
	}
	return fmt.Errorf("backpressure: %w: there is no partition %d among %d", ErrNever, partition, len(p.gates))
}

// Done tells that the fate of n admitted records of a partition is known, as
// [Gate.Done].
func (p *Partitioned) Done(partition int32, n int64) {
	if g := p.gate(partition); g != nil {
		g.Done(n)
	}
}

// Unsure tells that the client gave up n admitted records of a partition without
// knowing their fate, as [Gate.Unsure].
func (p *Partitioned) Unsure(partition int32, n int64) {
	if g := p.gate(partition); g != nil {
		g.Unsure(n)
	}
}

// Acked tells where an admitted record went, as [Gate.Acked].
func (p *Partitioned) Acked(topic string, partition int32, offset int64) {
	if g := p.gate(partition); g != nil {
		g.Acked(topic, partition, offset)
	}
}

// Marks are the marks of all partitions.
type Marks []Mark

// Mark is to be taken before the lag is asked for, and given to Report with it.
func (p *Partitioned) Mark() Marks {
	marks := make(Marks, len(p.gates))
	for i, g := range p.gates {
		marks[i] = g.Mark()
	}
	return marks
}

// Report gives each partition's controller what the reading says of that
// partition, as [Gate.Report]. A partition that the reading does not hold was
// missed. It returns what changed; where all partitions went blind or see again,
// that is one change. A reading that is empty is that of a topic that is not there
// yet: all partitions have a lag of 0.
func (p *Partitioned) Report(m Marks, r Reading) []Change {
	byID := make([]*Partition, len(p.gates))
	for i := range r.Partitions {
		part := &r.Partitions[i]
		if int(part.ID) >= 0 && int(part.ID) < len(byID) && (p.topic == "" || p.topic == part.Topic) {
			byID[part.ID] = part
		}
	}
	none := r.Partitions != nil && len(r.Partitions) == 0
	return p.each(func(i int, g *Gate) *Change {
		if none && i < len(m) {
			return g.report(m[i], r)
		}
		if byID[i] == nil || i >= len(m) {
			return g.missed(fmt.Errorf("the reading does not hold partition %d", i))
		}
		return g.report(m[i], Reading{Partitions: []Partition{*byID[i]}})
	})
}

// Missed tells that a reading failed, or with nil that time has passed, as
// [Gate.Missed].
func (p *Partitioned) Missed(err error) []Change {
	return p.each(func(_ int, g *Gate) *Change { return g.missed(err) })
}

// Advance lets the ceilings follow what moves between two readings, as
// [Gate.Advance].
func (p *Partitioned) Advance() {
	p.each(func(_ int, g *Gate) *Change { return g.advance() })
}

// Watch reads the lag from the source until ctx ends, as [Gate.Watch].
func (p *Partitioned) Watch(ctx context.Context) error {
	return watch(ctx, &p.cfg, p.gates[0].moving(), watched{
		read: func(ctx context.Context) error {
			marks := p.Mark()
			reading, err := p.cfg.Source.Read(ctx)
			if err == nil {
				p.Report(marks, reading)
			}
			return err
		},
		missed:  func(err error) { p.Missed(err) },
		advance: p.Advance,
	})
}

// Open tells whether Admit would grant a record of a partition now.
func (p *Partitioned) Open(partition int32) bool {
	g := p.gate(partition)
	return g != nil && g.Open()
}

// Admitted is the number of records admitted so far, over all partitions.
func (p *Partitioned) Admitted() int64 {
	var sum int64
	for _, g := range p.gates {
		sum += g.Admitted()
	}
	return sum
}

// PartitionStats returns what one partition's gate did; zero for a partition that
// the gate does not have.
func (p *Partitioned) PartitionStats(partition int32) Stats {
	if g := p.gate(partition); g != nil {
		return g.Stats()
	}
	return Stats{}
}

// Stats returns what all partitions' gates did. Records, calls, changes, ceilings
// and bounds are sums. Reports, Missed, Share and times are those of the partition
// with the most: gates that are closed at the same time are closed once. Open
// tells whether any is, and BlindNow likewise.
func (p *Partitioned) Stats() Stats {
	sum := p.gates[0].Stats()
	for _, g := range p.gates[1:] {
		s := g.Stats()
		sum.Admitted += s.Admitted
		sum.Settled += s.Settled
		sum.Refused += s.Refused
		sum.Returned += s.Returned
		sum.Waited += s.Waited
		sum.Changes += s.Changes
		sum.Lag += s.Lag
		sum.Outstanding += s.Outstanding
		sum.Waiting += s.Waiting
		sum.Ceiling, sum.Bound = sumOrUnlimited(sum.Ceiling, s.Ceiling), sumOrUnlimited(sum.Bound, s.Bound)
		sum.Reports, sum.Missed = max(sum.Reports, s.Reports), max(sum.Missed, s.Missed)
		sum.Closed, sum.Blind = max(sum.Closed, s.Closed), max(sum.Blind, s.Blind)
		sum.MaxAge, sum.Share = max(sum.MaxAge, s.MaxAge), max(sum.Share, s.Share)
		sum.Open, sum.BlindNow = sum.Open || s.Open, sum.BlindNow || s.BlindNow
	}
	return sum
}

func sumOrUnlimited(a, b int64) int64 {
	if a == Unlimited || b == Unlimited {
		return Unlimited
	}
	return a + b
}

// gate is that of a partition, or nil.
func (p *Partitioned) gate(partition int32) *Gate {
	if partition < 0 || int(partition) >= len(p.gates) {
		return nil
	}
	return p.gates[partition]
}

// each asks something of every gate and tells what changed.
func (p *Partitioned) each(ask func(int, *Gate) *Change) []Change {
	var changes []Change
	for i, g := range p.gates {
		if c := ask(i, g); c != nil {
			changes = append(changes, *c)
		}
	}
	changes = p.asOne(changes)
	for _, c := range changes {
		p.cfg.tell(c)
	}
	return changes
}

// asOne makes one change of many where all partitions lost or regained sight.
func (p *Partitioned) asOne(changes []Change) []Change {
	if len(changes) < len(p.gates) || len(changes) == 0 {
		return changes
	}
	one := changes[0]
	if one.Kind != Blind && one.Kind != Seeing {
		return changes
	}
	for _, c := range changes[1:] {
		if c.Kind != one.Kind {
			return changes
		}
		one.Open = one.Open || c.Open
		one.Lag += c.Lag
		one.Bound = sumOrUnlimited(one.Bound, c.Bound)
	}
	one.Partition = WholeGate
	return []Change{one}
}
