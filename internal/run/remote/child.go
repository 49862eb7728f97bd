package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// Bounds on how long a child may take. One that was stopped, or thrashes, is as
// good as dead for a measurement.
const (
	answerTimeout = 10 * time.Second // for an answer that needs no waiting
	endTimeout    = 2 * time.Second  // to end once its standard input is closed
)

// Child is a process that works for this one, and the connection to it. Its
// methods may be called from several goroutines.
type Child struct {
	name   string
	access access.Handover
	why    func(ended error) error
	worker worker
	stdin  io.Closer
	client *rpc.Client
	said   *tail
	gone   chan struct{} // closed when the process has ended

	// What its producers did, as it told (follow).
	done, spent chan struct{}
	spending    snapshot.Spending // once spent is closed
	followed    chan struct{}     // closed when nothing more is told

	// waiting are those who wait for an answer. None joins them once the child rests: who
	// has it stand still or end waits for them, so that nobody waits for an answer that
	// does not come. No lock is held meanwhile, and everybody else goes by what was told last.
	waiting sync.WaitGroup

	mu    sync.Mutex
	ended bool  // it was told to
	err   error // why it is of no more use
	// owed is closed when the answer is there that a sampler gave up waiting for last; nil
	// if none ever did.
	owed <-chan struct{}
	// rests is that it is asked by nobody any more; see rest.
	rests bool
	// What the part last told, and the histograms of it that nobody has taken yet.
	partitions int
	last       snapshot.Snapshot
	times      []latency.Encoded
}

// worker is who works for a Child: a process, or one who serves in this process.
type worker interface {
	pid() int
	stand() error // SIGSTOP
	goOn() error  // SIGCONT
	kill()        // one that is gone already is as good
	wait() error  // for the end
}

// Start says how a child is started.
type Start struct {
	Name    string   // as a person is told of it
	Command []string // it must serve (Serve) on its standard input and output
	Env     []string // besides what this process has
	// Why says why the process ended, for whoever knows more of that than its exit
	// status tells; nil is nobody.
	Why func(ended error) error
	// Tell is told of what happens in the process, and Died why it ended before it was to;
	// nil is nobody. Both are called from one goroutine, which has ended when End or Kill
	// returns.
	Tell func(result.Event)
	Died func(why error)
	// Access is how the cluster lets the process in.
	Access access.Handover
	// Here works in this process, in place of Command; nil starts a process.
	Here InProcess
}

// InProcess serves (Serve) a child of a name on in and out until in ends. ctx ends with the
// child too, however it ends.
type InProcess func(ctx context.Context, name string, in io.Reader, out io.WriteCloser) error

// StartChild starts a process by its command line, the one of that number, from 0
// on.
func StartChild(number int, command []string) (*Child, error) {
	return Start{Command: command}.numbered(number).Child()
}

// numbered is how the child of a number is started.
func (s Start) numbered(number int) Start {
	s.Name = fmt.Sprintf("process %d", number)
	return s
}

// Child starts the process. It is in a process group of its own: what a terminal
// sends to this one is the parent's to answer, and one that stands still when its
// parent dies is woken to end.
func (s Start) Child() (*Child, error) {
	c := newChild(s)
	start := c.startCommand
	if s.Here != nil {
		start = c.serveHere
	}
	if err := start(s); err != nil {
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	go c.follow(s)
	return c, nil
}

func newChild(s Start) *Child {
	return &Child{
		name: s.Name, access: s.Access, why: s.Why, said: &tail{}, gone: make(chan struct{}),
		done: make(chan struct{}), spent: make(chan struct{}), followed: make(chan struct{}),
	}
}

// connect makes the connection to the child out of what it writes and reads.
func (c *Child) connect(out io.Reader, in io.WriteCloser) { c.client = rpc.NewClient(duplex{out, in}) }

// duplex is two pipes as one connection.
type duplex struct {
	io.Reader
	io.WriteCloser
}

// await waits for the end of the process.
func (c *Child) await() {
	err := c.worker.wait()
	if err == nil {
		err = errors.New("it ended by itself")
	}
	if c.why != nil {
		err = c.why(err)
	}
	c.fail(err)
	close(c.gone)
	_ = c.client.Close()
}

// fail notes why the child is of no more use: the first reason, and none once it
// was told to end.
func (c *Child) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.err != nil {
		return
	}
	c.err = fmt.Errorf("%s (pid %d): %w%s", c.name, c.PID(), why, c.said.last())
}

// PID is the number of the process.
func (c *Child) PID() int { return c.worker.pid() }

// stand has the process stand still where it is, until it is let go.
func (c *Child) stand() error { return c.worker.stand() }

// goOn lets the process go on.
func (c *Child) goOn() error { return c.worker.goOn() }

// Err is why the child ended, or had to be ended, before it was told to; nil if it
// was not.
func (c *Child) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Call asks the child and waits for the answer. One that does not come in time is
// the end of the child. On an error, reply is not to be read.
func (c *Child) Call(method string, args, reply any) error {
	return c.call(method, args, reply, answerTimeout)
}

func (c *Child) call(method string, args, reply any, limit time.Duration) error {
	answered := make(chan error, 1)
	// Apart, because a child that does not read holds up the writing too.
	go func() { answered <- c.Await(method, args, reply) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-answered:
		return err
	case <-timer.C:
	}
	c.fail(fmt.Errorf("it did not answer for %v and was ended", limit))
	c.worker.kill()
	<-c.gone
	return c.Err()
}

// Await asks the child for something that takes as long as it takes. It ends with
// the child at the latest.
func (c *Child) Await(method string, args, reply any) error {
	err := c.client.Call(method, args, reply)
	var refused rpc.ServerError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	// The connection is of no more use, and so the child is none.
	c.worker.kill()
	<-c.gone
	if failed := c.Err(); failed != nil {
		return failed
	}
	return err
}

// End ends the child: gently, by the end of its standard input, and otherwise by
// force. It returns when the process is gone. Ending it again does nothing.
func (c *Child) End() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	_ = c.stdin.Close()
	timer := time.NewTimer(endTimeout)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
		c.worker.kill()
		<-c.gone
	}
	<-c.followed
}

// Kill ends the child by force, as one that was told to end.
func (c *Child) Kill() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.worker.kill()
	<-c.gone
	<-c.followed
}

// Children are the processes of a run.
type Children []*Child

// StartChildren starts n processes, each as start says for its number, and gives them
// names by their numbers. On an error none is left.
func StartChildren(n int, start func(number int) Start) (Children, error) {
	var cs Children
	for number := range n {
		c, err := start(number).numbered(number).Child()
		if err != nil {
			cs.End()
			return nil, err
		}
		cs = append(cs, c)
	}
	return cs, nil
}

// Each does the same with each child at the same time, waits for all, and returns
// the errors joined.
func (cs Children) Each(do func(i int, c *Child) error) error {
	errs := make([]error, len(cs))
	var doing sync.WaitGroup
	for i, c := range cs {
		doing.Go(func() { errs[i] = do(i, c) })
	}
	doing.Wait()
	return errors.Join(errs...)
}

// Parts are the children as parts of a run.
func (cs Children) Parts() []Part {
	parts := make([]Part, len(cs))
	for i, c := range cs {
		parts[i] = c
	}
	return parts
}

// Snapshots are how each of them stands. An error says which have ended that were not to:
// of those it is how they stood when they last told.
func (cs Children) Snapshots(w Want) ([]snapshot.Snapshot, error) {
	all := make([]snapshot.Snapshot, len(cs))
	err := cs.Each(func(i int, c *Child) (err error) {
		all[i], err = c.Snapshot(w)
		return err
	})
	return all, err
}

// End ends all of them.
func (cs Children) End() {
	_ = cs.Each(func(_ int, c *Child) error {
		c.End()
		return nil
	})
}
