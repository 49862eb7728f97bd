package truth

import (
	"strings"
	"sync"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// outsider sends signals to one process of a run, which nothing in the run has planned.
type outsider struct {
	who   string                           // as the event of its start begins
	sends map[time.Duration]syscall.Signal // by when, in the measured window

	mu  sync.Mutex
	pid int
}

var _ bench.Watcher = (*outsider)(nil)

// killer kills a process 300 ms into the measured window.
func killer(who string) *outsider {
	return &outsider{who: who, sends: map[time.Duration]syscall.Signal{300 * time.Millisecond: syscall.SIGKILL}}
}

func (o *outsider) Began(string)             {}
func (o *outsider) Interval(result.Interval) {}
func (o *outsider) Event(e result.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Kind == "process" && strings.HasPrefix(e.What, o.who) && strings.HasSuffix(e.What, " started"):
		o.pid, _ = e.Data["pid"].(int)
	case e.Kind == "phase" && e.What == "measure":
		pid := o.pid
		for after, signal := range o.sends {
			time.AfterFunc(after, func() { _ = syscall.Kill(pid, signal) })
		}
	}
}
