package observe

import (
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// lookEvery is how often it is looked while a controller settles.
const lookEvery = 100 * time.Millisecond

// maxLooks bounds what is kept; when it is full, every second look goes, and from
// then on the looks are twice as far apart.
const maxLooks = 1 << 14

// Looks are taken over the measured window, at how much has been delivered.
type Looks struct {
	Axis   *load.Axis
	Groups remote.Groups

	all  []judge.Look
	skip int // of every so many looks, one is kept; a power of two, 0 is 1
	seen int
}

func (l *Looks) add(next judge.Look) {
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

// Watch looks until the measured window ends, or the observer is stopped.
func (l *Looks) Watch(o *Observer) {
	for at := int64(0); at <= l.Axis.End(); at += int64(lookEvery) {
		if o.WaitUntil(at) {
			return
		}
		now, received := l.Axis.Now(), l.Groups.Received()
		l.add(judge.Look{
			AtNs: now, Delivered: received.Unique, Timed: received.Timed, ServiceNs: received.ServiceNs,
		})
	}
}

// Seen returns the looks that were kept, once they have ended.
func (l *Looks) Seen() []judge.Look { return l.all }
