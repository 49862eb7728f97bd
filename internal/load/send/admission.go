package send

import (
	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// admission is how one worker asks for leave to send, and tells what became of
// what it sent. It has one of the two kinds of gate, or none, which admits
// everything. Only the worker's goroutine uses it.
type admission struct {
	gate        *backpressure.Gate
	partitioned *backpressure.Partitioned
	offsets     bool // the gate wants to know where records went
	topic       string
	excess      backpressure.Excess
	keep        int64 // of degrade: one of so many is kept

	fates []fates // by partition, where each has a gate; else of all
}

// fates are how many records had their fate known since the gate was last told.
type fates struct{ done, unsure int64 }

func newAdmission(cfg Config) admission {
	a := admission{
		gate: cfg.Gate, partitioned: cfg.Partitioned, offsets: cfg.TellOffsets, topic: cfg.Client.Topic,
		excess: cfg.Excess, keep: max(1, cfg.Keep), fates: make([]fates, 1),
	}
	if a.partitioned != nil {
		a.fates = make([]fates, cfg.Partitions)
	}
	return a
}

// gated tells whether there is a gate.
func (a *admission) gated() bool { return a.gate != nil || a.partitioned != nil }

// admit asks the topic's gate for n records, and returns how many may go.
func (a *admission) admit(n int64) int64 {
	if a.gate == nil || n == 0 {
		return n
	}
	return a.gate.Admit(n)
}

// giveBack gives back what the topic's gate admitted of n and nobody sends.
func (a *admission) giveBack(n int64) {
	if a.gate != nil && n > 0 {
		a.gate.Done(n)
	}
}

// admits asks a partition's gate for one record.
func (a *admission) admits(partition int32) bool { return a.partitioned.Admit(partition, 1) == 1 }

// note notes what the client reported of a record. Where it went is told at once:
// while its offset is not known to the gate, its fate must not be either.
func (a *admission) note(partition int32, d *completion) {
	f := &a.fates[0]
	if a.partitioned != nil {
		f = &a.fates[partition]
	}
	switch {
	case d.outcome == driver.Unknown:
		f.unsure++
		return
	case d.outcome == driver.Failed || !a.offsets || d.offset < 0: // at acks 0 nobody knows the offset
	case a.partitioned != nil:
		a.partitioned.Acked(a.topic, partition, d.offset)
	default:
		a.gate.Acked(a.topic, partition, d.offset)
	}
	f.done++
}

// tell tells the gates what was noted, all of a round at once.
func (a *admission) tell() {
	for id := range a.fates {
		f := a.fates[id]
		a.fates[id] = fates{}
		if f.done > 0 {
			if a.partitioned != nil {
				a.partitioned.Done(int32(id), f.done)
			} else {
				a.gate.Done(f.done)
			}
		}
		if f.unsure > 0 {
			if a.partitioned != nil {
				a.partitioned.Unsure(int32(id), f.unsure)
			} else {
				a.gate.Unsure(f.unsure)
			}
		}
	}
}
