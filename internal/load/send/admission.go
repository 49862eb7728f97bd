package send

import (
	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Only the worker's goroutine uses admission.
type admission struct {
	gate        *backpressure.Gate
	partitioned *backpressure.Partitioned
	offsets     bool
	topic       string
	excess      backpressure.Excess
	keep        int64 // degrade keeps one in so many refused records

	fates []fates // by partition if each has a gate, else one
}

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

func (a *admission) gated() bool { return a.gate != nil || a.partitioned != nil }

func (a *admission) admit(n int64) int64 {
	if a.gate == nil || n == 0 {
		return n
	}
	return a.gate.Admit(n)
}

func (a *admission) giveBack(n int64) {
	if a.gate != nil && n > 0 {
		a.gate.Done(n)
	}
}

func (a *admission) admits(partition int32) bool { return a.partitioned.Admit(partition, 1) == 1 }

// note counts a completed record for tell. It reports an acked record's offset at once, because the
// gate must know the offset before tell reports the record as done.
func (a *admission) note(partition int32, d *completion) {
	f := &a.fates[0]
	if a.partitioned != nil {
		f = &a.fates[partition]
	}
	switch {
	case d.outcome == driver.Unknown:
		f.unsure++
		return
	case d.outcome == driver.Failed || !a.offsets || d.offset < 0: // acks 0 gives no offset
	case a.partitioned != nil:
		a.partitioned.Acked(a.topic, partition, d.offset)
	default:
		a.gate.Acked(a.topic, partition, d.offset)
	}
	f.done++
}

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
