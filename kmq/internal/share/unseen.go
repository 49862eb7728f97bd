package share

import "kafkabench.example/kafka-bench/kmq/internal/lease"

// unseen is how many deliveries of a record ended here before anybody was handed it: the
// broker counts them, the queue does not. What another member settles is never forgotten
// here, so the records that were noted longest ago make room for others: at least the last
// mostUnseen/2 are known, and at most mostUnseen.
type unseen struct {
	newer, older map[lease.ID]int
}

// mostUnseen is of how many records it is known at most.
const mostUnseen = 100_000

// note counts one more of a record.
func (u *unseen) note(at lease.ID) {
	n := u.of(at) + 1
	if _, known := u.newer[at]; !known && len(u.newer) >= mostUnseen/2 {
		u.newer, u.older = nil, u.newer
	}
	if u.newer == nil {
		u.newer = make(map[lease.ID]int)
	}
	delete(u.older, at)
	u.newer[at] = n
}

func (u *unseen) of(at lease.ID) int { return u.newer[at] + u.older[at] } // it is in one of them

// forget ends what was noted of a record that is done.
func (u *unseen) forget(at lease.ID) {
	delete(u.newer, at)
	delete(u.older, at)
}
