package backpressure

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// PartitionedConfig configures a [Partitioned] gate.
type PartitionedConfig struct {
	// Config applies to each partition's gate; its Controller is not used.
	Config
	// Partitions is the number of partitions of the topic.
	Partitions int
	// Topic is the topic whose partitions count; empty if readings have only one topic.
	Topic string
	// NewController returns the controller of one partition; its bound is for that partition.
	NewController func() (Controller, error)
}

// Partitioned has a gate for each partition of a topic, so that a stuck partition stops only its
// own records. The bound holds for each partition. A partition that does not exist admits nothing.
type Partitioned struct {
	cfg   Config
	topic string
	gates []*Gate
}

// NewPartitioned returns a gate for each partition. The error joins all mistakes of the config.
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
	if whole.Now == nil { // one axis of time for all gates
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

// Admit asks for n records of a partition: see [Gate.Admit].
func (p *Partitioned) Admit(partition int32, n int64) int64 {
	if g := p.gate(partition); g != nil {
		return g.Admit(n)
	}
	return 0
}

// TryAcquire asks for n records of a partition: see [Gate.TryAcquire].
func (p *Partitioned) TryAcquire(partition int32, n int64) bool {
	g := p.gate(partition)
	return g != nil && g.TryAcquire(n)
}

// Acquire waits until n records of a partition may be sent: see [Gate.Acquire]. If the
// gate has no such partition, the error wraps [ErrNever].
func (p *Partitioned) Acquire(ctx context.Context, partition int32, n int64) error {
	if g := p.gate(partition); g != nil {
		return g.Acquire(ctx, n)
	}
	return fmt.Errorf("backpressure: %w: there is no partition %d: the gate has %d", ErrNever, partition, len(p.gates))
}

// Done is [Gate.Done] for records of a partition.
func (p *Partitioned) Done(partition int32, n int64) {
	if g := p.gate(partition); g != nil {
		g.Done(n)
	}
}

// Unsure is [Gate.Unsure] for records of a partition.
func (p *Partitioned) Unsure(partition int32, n int64) {
	if g := p.gate(partition); g != nil {
		g.Unsure(n)
	}
}

// Acked reports the offset of an admitted record: see [Gate.Acked].
func (p *Partitioned) Acked(topic string, partition int32, offset int64) {
	if g := p.gate(partition); g != nil {
		g.Acked(topic, partition, offset)
	}
}

// Marks are the marks of all partitions.
type Marks []Mark

// Mark returns what Report needs with the next reading: see [Gate.Mark].
func (p *Partitioned) Mark() Marks {
	marks := make(Marks, len(p.gates))
	for i, g := range p.gates {
		marks[i] = g.Mark()
	}
	return marks
}

// Report gives each partition's controller its part of the reading: see [Gate.Report]. A partition
// that is not in the reading counts as missed. If all partitions become blind, or all see again,
// that counts as one change. An empty reading stands for a topic that does not exist yet: all
// partitions have a lag of 0.
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
			return g.missed(fmt.Errorf("partition %d is missing from the reading", i))
		}
		return g.report(m[i], Reading{Partitions: []Partition{*byID[i]}})
	})
}

// Missed reports that a reading failed or, with nil, that time has passed: see
// [Gate.Missed].
func (p *Partitioned) Missed(err error) []Change {
	return p.each(func(_ int, g *Gate) *Change { return g.missed(err) })
}

// Advance updates the ceilings between two readings: see [Gate.Advance].
func (p *Partitioned) Advance() {
	p.each(func(_ int, g *Gate) *Change { return g.advance() })
}

// Watch reads the lag from the source until ctx ends: see [Gate.Watch].
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

// Open reports whether Admit would admit a record of a partition now.
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

// PartitionStats returns the stats of one partition's gate; zero if it does not exist.
func (p *Partitioned) PartitionStats(partition int32) Stats {
	if g := p.gate(partition); g != nil {
		return g.Stats()
	}
	return Stats{}
}

// Stats combines the stats of all partitions' gates. Records, calls, changes, ceilings and bounds
// are sums. Reports, Missed, Share and times are the largest of any partition. Open and BlindNow
// report whether any gate is.
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

func (p *Partitioned) gate(partition int32) *Gate {
	if partition < 0 || int(partition) >= len(p.gates) {
		return nil
	}
	return p.gates[partition]
}

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
