package backpressure

import "fmt"

// Excess is what a [Pipe] does with records that the gate does not admit at once. A record that
// waits delays the records behind it; measure a record's response time from when it was due.
type Excess int

// The policies for excess records.
const (
	// Defer lets them wait in the Pipe's input channel; when it is full, its senders wait.
	Defer Excess = iota
	// Shed drops them.
	Shed
	// Degrade lets the application replace or drop them.
	Degrade
)

// String returns the policy's name in lower case.
func (e Excess) String() string {
	switch e {
	case Defer:
		return "defer"
	case Shed:
		return "shed"
	case Degrade:
		return "degrade"
	}
	return fmt.Sprintf("Excess(%d)", int(e))
}

// ShedReason says why a record was dropped.
type ShedReason string

// The reasons for dropping a record.
const (
	ShedByGate    ShedReason = "gate"    // the gate had no room for it
	ShedByQueue   ShedReason = "queue"   // the queue of waiting records was full
	ShedByDegrade ShedReason = "degrade" // the application dropped it
	ShedBySize    ShedReason = "size"    // it counts as more records than the bound can ever hold
	ShedByClose   ShedReason = "close"   // its pipe or producer ended while it waited
)
