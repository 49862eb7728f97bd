// Package step names the moments at which a crash would matter, so that a test can end the process
// at each of them.
//
// Files to know: step.go.
package step

// Step is a moment in the processing of a record.
type Step string

// The steps of the engines.
const (
	Polled     Step = "polled"      // nothing is written about it
	Started    Step = "started"     // its start marker is durable
	Committed  Step = "committed"   // offsets of a poll or of acknowledgements are committed
	Handed     Step = "handed"      // delivered to the application
	Acked      Step = "acked"       // nothing is written about that
	Ended      Step = "ended"       // its end marker is durable
	BeforeCopy Step = "before copy" // before a copy to the end of the partition or to the dead-letter topic
	Copied     Step = "copied"      // the copy is durable, and the record's end is not written
	CopyEnded  Step = "copy ended"  // the end of the copied record is durable
	Revoking   Step = "revoking"    // nothing is flushed
	Flushed    Step = "flushed"     // flushed on revocation, not committed
)

// All lists all steps.
var All = []Step{Polled, Started, Committed, Handed, Acked, Ended, BeforeCopy, Copied, CopyEnded, Revoking, Flushed}

// Hook is called at every step unless it is nil. Set it before the first queue is opened.
var Hook func(Step)

// At reports that a step is reached.
func At(s Step) {
	if Hook != nil {
		Hook(s)
	}
}
