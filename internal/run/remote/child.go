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

// A child that takes longer is useless for a measurement.
const (
	answerTimeout = 10 * time.Second // for an answer that waits for nothing
	endTimeout    = 2 * time.Second  // to end after its standard input is closed
)

// Child is a child process and the connection to it. Its methods may be called from several
// goroutines.
type Child struct {
	name   string
	access access.Handover
	why    func(ended error) error
	worker worker
	stdin  io.Closer
	client *rpc.Client
	said   *tail
	gone   chan struct{}

	// State of its producers, as it reported. spending is valid after spent is closed.
	done, spent chan struct{}
	spending    snapshot.Spending
	followed    chan struct{} // closed after the last report

	// waiting counts calls that wait for an answer; after rests is set no call is added. No lock is
	// held during a call.
	waiting sync.WaitGroup

	mu    sync.Mutex
	ended bool
	err   error
	// owed is closed when the answer arrives for which a sampler no longer waits; nil if no sampler
	// gave up waiting.
	owed <-chan struct{}
	// rests reports that the child must not be asked any more.
	rests bool
	// last is the part's last snapshot, and times are histograms that no collector has taken.
	partitions int
	last       snapshot.Snapshot
	times      []latency.Encoded
}

type worker interface {
	pid() int
	stand() error
	goOn() error
	kill()
	wait() error
}

// Start says how to start a child.
type Start struct {
	Name    string
	Command []string // it must serve (Serve) on its standard input and output
	Env     []string // in addition to what the program and Access need (package childenv)
	// Why returns why the process ended, if more is known than its exit status; nil if not.
	Why func(ended error) error
	// Tell receives the events of the process, and Died why it ended unexpectedly; nil drops them.
	// Both are called from one goroutine, which has ended when End or Kill returns.
	Tell   func(result.Event)
	Died   func(why error)
	Access access.Handover
	// Here runs the child in this process instead of Command; nil starts a process.
	Here InProcess
}

// InProcess runs a named child in this process: it calls Serve with in and out until in is closed.
// ctx ends with the child.
type InProcess func(ctx context.Context, name string, in io.Reader, out io.WriteCloser) error

// StartChild starts a process by its command line. number, from 0, names it in messages.
func StartChild(number int, command []string) (*Child, error) {
	return Start{Command: command}.numbered(number).Child()
}

func (s Start) numbered(number int) Start {
	s.Name = fmt.Sprintf("process %d", number)
	return s
}

// Child starts the process in its own process group, so that a terminal's signals reach only the
// parent. A paused child is resumed when its parent dies.
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

func (c *Child) connect(out io.Reader, in io.WriteCloser) { c.client = rpc.NewClient(duplex{out, in}) }

type duplex struct {
	io.Reader
	io.WriteCloser
}

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

func (c *Child) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.err != nil {
		return
	}
	c.err = fmt.Errorf("%s (pid %d): %w%s", c.name, c.PID(), why, c.said.last())
}

// PID returns the process ID.
func (c *Child) PID() int { return c.worker.pid() }

func (c *Child) stand() error { return c.worker.stand() }

func (c *Child) goOn() error { return c.worker.goOn() }

// Err returns why the child ended before End or Kill; nil if it did not.
func (c *Child) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Call sends a request and waits for the answer. If none comes in time, Call ends the child. After
// an error, reply is invalid.
func (c *Child) Call(method string, args, reply any) error {
	return c.call(method, args, reply, answerTimeout)
}

func (c *Child) call(method string, args, reply any, limit time.Duration) error {
	answered := make(chan error, 1)
	// A child that does not read also blocks writing.
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

// Await is Call without a time limit; it returns when the child ends.
func (c *Child) Await(method string, args, reply any) error {
	err := c.client.Call(method, args, reply)
	var refused rpc.ServerError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	// The connection is broken, so the child is useless.
	c.worker.kill()
	<-c.gone
	if failed := c.Err(); failed != nil {
		return failed
	}
	return err
}

// End closes the child's standard input, and kills the child if it does not end in time. It returns
// when the process has ended. Further calls do nothing.
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

// Kill kills the child.
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

// StartChildren starts n processes as start says, and names them by their numbers. After an error
// no process is left.
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

// Each calls a function for each child in parallel, and joins the errors.
func (cs Children) Each(do func(i int, c *Child) error) error {
	errs := make([]error, len(cs))
	var doing sync.WaitGroup
	for i, c := range cs {
		doing.Go(func() { errs[i] = do(i, c) })
	}
	doing.Wait()
	return errors.Join(errs...)
}

// Parts returns the children as parts of a run.
func (cs Children) Parts() []Part {
	parts := make([]Part, len(cs))
	for i, c := range cs {
		parts[i] = c
	}
	return parts
}

// Snapshots returns the last snapshot of each child. The error names the children that ended
// unexpectedly.
func (cs Children) Snapshots(w Want) ([]snapshot.Snapshot, error) {
	all := make([]snapshot.Snapshot, len(cs))
	err := cs.Each(func(i int, c *Child) (err error) {
		all[i], err = c.Snapshot(w)
		return err
	})
	return all, err
}

// End ends all children.
func (cs Children) End() {
	_ = cs.Each(func(_ int, c *Child) error {
		c.End()
		return nil
	})
}
