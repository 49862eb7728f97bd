package send

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// Excess is what a worker does with due records that the gate does not admit at once.
type Excess int

// The policies for excess records.
const (
	Defer   Excess = iota // they wait at the source
	Shed                  // they are dropped
	Degrade               // one of Config.Keep waits, the others are dropped
)

// Only the worker's goroutine uses admission.
type admission struct {
	gate    *lagcontrol.Gate // nil: no backpressure
	offsets bool
	topic   string
	excess  Excess
	keep    int64 // degrade keeps one in so many refused records

	done, unsure int64 // completed records that tell has not reported
}

func newAdmission(cfg Config) admission {
	return admission{
		gate: cfg.Gate, offsets: cfg.TellOffsets, topic: cfg.Client.Topic, excess: cfg.Excess, keep: max(1, cfg.Keep),
	}
}

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

// note counts a completed record for tell. It reports an acked record's offset at once, because the
// gate must know the offset before tell reports the record as done.
func (a *admission) note(partition int32, d *completion) {
	if d.outcome == driver.Unknown {
		a.unsure++
		return
	}
	if d.outcome == driver.Acked && a.offsets && d.offset >= 0 { // acks 0 gives no offset
		a.gate.Acked(a.topic, partition, d.offset)
	}
	a.done++
}

func (a *admission) tell() {
	a.gate.Done(a.done)
	a.gate.Unsure(a.unsure)
	a.done, a.unsure = 0, 0
}
