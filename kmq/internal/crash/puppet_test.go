package crash

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

type worker interface {
	ended(within time.Duration) bool
	// killed: it ended at its step.
	killed() bool
	kill()
	close() error
	String() string
}

// called at each step; or nil
var atStep atomic.Pointer[func(step.Step)]

// showLabels makes stacks show the labels of their goroutine.
func showLabels() error { return os.Setenv("GODEBUG", os.Getenv("GODEBUG")+",tracebacklabels=1") }

// puppet is a worker in this process. It dies by losing its network and its journal.
type puppet struct {
	spec    childSpec
	journal *journal
	wire    *cutWire
	finish  context.CancelFunc
	perish  context.CancelFunc
	death   chan struct{} // closed at its step
	once    sync.Once
	done    chan struct{}
	failed  error
}

func (v *world) puppet(spec childSpec) worker {
	v.t.Helper()
	j, err := openJournal(spec.Journal, spec.Name)
	if err != nil {
		v.t.Fatal(err)
	}
	p := &puppet{journal: j, wire: &cutWire{under: spec.Queue.dial}, death: make(chan struct{}), done: make(chan struct{})}
	spec.Queue.dial = p.wire.dial
	p.spec = spec
	if spec.Kill != "" {
		p.dieAt(spec.Kill, int64(spec.KillAt))
	}
	life, perish := context.WithCancel(context.Background())
	ctx, finish := context.WithCancel(life)
	p.finish, p.perish = finish, perish
	c := &child{spec: spec, journal: j, life: life}
	run := c.consume
	if spec.Role == roleTracker {
		run = c.track
	}
	go pprof.Do(ctx, pprof.Labels("worker", spec.Name), func(ctx context.Context) {
		defer close(p.done)
		if p.failed = run(ctx); p.failed == nil {
			j.write(lineClosed)
		}
	})
	v.t.Cleanup(func() {
		p.kill()
		<-p.done
		j.file.Close()
	})
	return p
}

func (p *puppet) dieAt(at step.Step, n int64) {
	var times atomic.Int64
	atStep.Store(new(func(s step.Step) {
		if s == at && p.here() && times.Add(1) == n {
			p.journal.write(lineKilled, s, n)
			p.die()
			close(p.death)
		}
	}))
}

// here reports whether a goroutine of the puppet calls it. Goroutines inherit the label of the
// goroutine that started them; see showLabels.
func (p *puppet) here() bool {
	var stack [256]byte
	goroutine, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(goroutine, []byte(strconv.Quote(p.spec.Name)))
}

func (p *puppet) die() {
	p.once.Do(func() {
		p.journal.dying.Store(true)
		p.wire.cut()
		p.journal.dead.Store(true) // after the cut: what a broker receives must be in the journal
		p.finish()
		p.perish()
	})
}

func (p *puppet) ended(within time.Duration) bool {
	select {
	case <-p.death:
		return true
	case <-p.done:
		return true
	case <-time.After(within):
		return false
	}
}

func (p *puppet) killed() bool {
	select {
	case <-p.death:
		return true
	default:
		return false
	}
}

func (p *puppet) kill() {
	if p.spec.Kill != "" {
		atStep.Store(nil)
	}
	p.die()
}

func (p *puppet) close() error {
	p.finish()
	<-p.done
	return p.failed
}

func (p *puppet) String() string { return p.spec.Name }

type cutWire struct {
	under access.Dial
	mu    sync.Mutex
	conns map[net.Conn]bool
	gone  bool
}

func (w *cutWire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.under(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if w.add(conn) {
		return conn, nil
	}
	conn.Close()
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	return nil, errors.New("the process is dead")
}

func (w *cutWire) add(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return false
	}
	if w.conns == nil {
		w.conns = make(map[net.Conn]bool)
	}
	w.conns[conn] = true
	return true
}

func (w *cutWire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	for conn := range maps.Keys(w.conns) {
		conn.Close()
	}
}
