package backpressure

import "fmt"

// Excess is what becomes of records that the gate does not admit at once. Each
// is honest if it is counted: what waits has a response time that counts from
// when it was meant to go, and what is dropped is a number with a reason.
//
// These three are what a [Pipe] can do, in which a record that waits holds up those
// behind it. Package kgogate has an Excess of its own with a fourth: there a
// record waits either in its caller (Block) or in a queue (Defer).
type Excess int

// What can become of excess records.
const (
	// Defer lets them wait. Whatever they wait in must have a bound; of a Pipe it
	// is the channel that it takes from.
	Defer Excess = iota
	// Shed drops them.
	Shed
	// Degrade asks the application for less: a sample, a summary, or nothing.
	Degrade
)

// String is the policy's name in lower case.
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

// Why a record can be dropped.
const (
	ShedByGate    ShedReason = "gate"    // the gate had no room for it
	ShedByQueue   ShedReason = "queue"   // the queue of those that wait was full
	ShedByDegrade ShedReason = "degrade" // the application chose to do without it
	ShedBySize    ShedReason = "size"    // it is more records than the bound can hold at once
	ShedByClose   ShedReason = "close"   // what it waited in came to its end
)
