package observe

import (
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

const lookEvery = 100 * time.Millisecond

// At this bound, every second look is dropped and the period doubles.
const maxLooks = 1 << 14

// Looks reads over the measured window how much was delivered.
type Looks struct {
	Axis   *load.Axis
	Groups remote.Groups

	all  []judge.Look
	skip int // a power of two, 0 means 1; one look in every skip looks is kept
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

// Watch reads until the measured window ends or the observer stops.
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

// Seen returns the kept looks. Call it after Watch has returned.
func (l *Looks) Seen() []judge.Look { return l.all }
