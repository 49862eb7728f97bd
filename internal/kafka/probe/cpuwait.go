package probe

import "time"

// CoreTime is how a thread spent the time in which it was runnable.
type CoreTime struct{ Ran, Waited time.Duration }

// Threads is the core time of a process's threads since each started, by ID.
type Threads map[int]CoreTime

// WaitRatio returns the time that threads waited for a core, divided by the time that they were runnable, since an
// earlier reading. It is nil if no thread was runnable. It ignores threads that ended in between. The same work
// takes 1 ÷ (1 − ratio) times as long.
func (t Threads) WaitRatio(before Threads) *float64 {
	var ran, waited time.Duration
	for id, after := range t {
		ran += after.Ran - before[id].Ran
		waited += after.Waited - before[id].Waited
	}
	if ran < 0 || waited < 0 || ran+waited == 0 { // an ID was reused by another thread
		return nil
	}
	r := waited.Seconds() / (ran + waited).Seconds()
	return &r
}
