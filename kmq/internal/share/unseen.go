package share

import "kafkabench.example/kafka-bench/kmq/internal/lease"

// unseen counts deliveries that ended before an application had the record: the broker counts them, the queue does
// not.
type unseen struct {
	newer, older map[lease.ID]int
}

const mostUnseen = 100_000

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

func (u *unseen) of(at lease.ID) int { return u.newer[at] + u.older[at] }

func (u *unseen) forget(at lease.ID) {
	delete(u.newer, at)
	delete(u.older, at)
}
