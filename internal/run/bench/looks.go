package bench

import (
	"time"

	"kafkabench.example/kafka-bench/internal/run/judge"
)

// lookEvery is how often it is looked while a controller settles.
const lookEvery = 100 * time.Millisecond

// maxLooks bounds what is kept; when it is full, every second look goes, and from
// then on the looks are twice as far apart.
const maxLooks = 1 << 14

// looks are taken over the measured window.
type looks struct {
	all  []judge.Look
	skip int // of every so many looks, one is kept; a power of two, 0 is 1
	seen int
}

func (l *looks) add(next judge.Look) {
	l.skip = max(1, l.skip)
	if l.seen++; l.seen%l.skip != 0 {
		return
	}
	if len(l.all) >= maxLooks {
		for i := range maxLooks / 2 {
			l.all[i] = l.all[2*i]
		}
		l.all, l.skip = l.all[:maxLooks/2], 2*l.skip
	}
	l.all = append(l.all, next)
}

// watchSettling looks at what is delivered until the measured window ends.
func (r *run) watchSettling() {
	for at := int64(0); at <= r.axis.End(); at += int64(lookEvery) {
		if r.waitForInterval(at) {
			return
		}
		now, received := r.axis.Now(), r.groups.received()
		r.looks.add(judge.Look{AtNs: now, Delivered: received.Unique, Timed: received.Timed, ServiceNs: received.ServiceNs})
	}
}
