// Package step names the moments at which a crash would matter, so that a test can end
// the process at each of them.
//
// Files to know: step.go.
package step

// Step is a moment in the life of a record.
type Step string

// The steps of the engines.
const (
	Polled     Step = "polled"      // fetched, before anything was written of it
	Started    Step = "started"     // its start marker is durable
	Committed  Step = "committed"   // the offsets of a poll, or of acknowledgements, are committed
	Handed     Step = "handed"      // in the application's hands
	Acked      Step = "acked"       // acknowledged, nothing written of it
	Ended      Step = "ended"       // its end marker is durable
	BeforeCopy Step = "before copy" // to be copied to the tail, or to the dead-letter topic
	Copied     Step = "copied"      // the copy is durable, its end is not written
	CopyEnded  Step = "copy ended"  // the end of the copied record is durable
	Revoking   Step = "revoking"    // partitions are being taken away, nothing flushed
	Flushed    Step = "flushed"     // flushed on revocation, not committed
)

// All are the steps.
var All = []Step{Polled, Started, Committed, Handed, Acked, Ended, BeforeCopy, Copied, CopyEnded, Revoking, Flushed}

// Hook is called at every step if it is set. Set it before the first queue is opened.
var Hook func(Step)

// At says that a step is reached.
func At(s Step) {
	if Hook != nil {
		Hook(s)
	}
}
