package remote

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
)

func virtually(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // lets pending timers end
		f(t)
	})
}

func virtualAxis() *load.Axis {
	return load.NewAxis(func() int64 { return time.Now().UnixNano() })
}

// noPID is above every process ID of the system.
const noPID = 1 << 30

func inside(number int) (*Child, error) {
	i := insider{number: number, in: newLine(), out: newLine(), ended: make(chan error, 1)}
	c := newChild(Start{}.numbered(number))
	c.stdin, c.worker = i.in, i
	c.connect(i.out, i.in)
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := Serve(i.in, i.out, served(ctx, virtualAxis))
		_ = i.out.Close()
		i.ended <- err
	}()
	go c.await()
	go c.follow(Start{})
	return c, nil
}

type insider struct {
	number  int
	in, out *line
	ended   chan error
}

func (i insider) pid() int     { return noPID + i.number }
func (i insider) stand() error { i.in.hold(true); return nil }
func (i insider) goOn() error  { i.in.hold(false); return nil }
func (i insider) wait() error  { return <-i.ended }
func (i insider) kill() {
	_ = i.out.Close()
	_ = i.in.Close()
}

type line struct {
	mu     sync.Mutex
	change *sync.Cond
	text   []byte
	held   bool
	closed bool
}

func newLine() *line {
	l := &line{}
	l.change = sync.NewCond(&l.mu)
	return l
}

func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.change.Broadcast()
	if l.closed {
		return 0, io.ErrClosedPipe
	}
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *line) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (l.held || len(l.text) == 0) {
		l.change.Wait()
	}
	n := copy(p, l.text)
	l.text = l.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (l *line) hold(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
	l.change.Broadcast()
}

func (l *line) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.change.Broadcast()
	return nil
}

func insiders(t *testing.T, n int) (cs Children) {
	t.Helper()
	for number := range n {
		c, err := inside(number)
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	t.Cleanup(cs.End)
	return cs
}
