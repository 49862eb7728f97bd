package probe

import "time"

// CoreTime is how a thread spent the time in which it could run.
type CoreTime struct{ Ran, Waited time.Duration }

// Threads is the core time of all threads of a process since each started, by ID.
type Threads map[int]CoreTime

// WaitRatio is the part of the time after an earlier reading in which threads waited for
// a core, of that in which they could run; nil where none could. Threads that ended in
// between are left out.
//
// It tells being slow from being kept waiting: a process that shares its cores with
// others takes 1 ÷ (1 − ratio) times as long for the same work.
func (t Threads) WaitRatio(before Threads) *float64 {
	var ran, waited time.Duration
	for id, after := range t {
		ran += after.Ran - before[id].Ran
		waited += after.Waited - before[id].Waited
	}
	if ran < 0 || waited < 0 || ran+waited == 0 { // an ID was given to another thread
		return nil
	}
	r := waited.Seconds() / (ran + waited).Seconds()
	return &r
}
