package franz

import (
	"context"
	"errors"
	"net"
	"sync"

	"kafka-bench/internal/driver"
)

// errKilled is what a consumer returns that was killed.
var errKilled = errors.New("the consumer was killed")

// lifeline is what a consumer's life hangs on: its connections, and the callbacks
// by which it tells of itself. Once it is cut, the sockets are closed as the kernel
// closes those of a process that was killed, none is opened any more, and nobody
// hears of the client again, whatever goes on within it.
type lifeline struct {
	mu     sync.Mutex
	open   map[*hungConn]struct{}
	killed bool
}

func newLifeline() *lifeline { return &lifeline{open: make(map[*hungConn]struct{})} }

func (l *lifeline) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.killed
}

// cut closes all connections for good.
func (l *lifeline) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
	for conn := range l.open {
		_ = conn.Conn.Close() // the client closes it again
	}
	clear(l.open)
}

// dialer returns a dial function whose connections hang on the line.
func (l *lifeline) dialer(dial dialFunc) dialFunc {
	plain := dial.orPlain()
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.isCut() {
			return nil, errKilled
		}
		conn, err := plain(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return l.hang(conn)
	}
}

// hang makes a new connection one of the line's, unless the line was cut while it
// came about.
func (l *lifeline) hang(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killed {
		_ = conn.Close()
		return nil, errKilled
	}
	hung := &hungConn{Conn: conn, line: l}
	l.open[hung] = struct{}{}
	return hung, nil
}

// hungConn is a connection that hangs on a lifeline.
type hungConn struct {
	net.Conn
	line *lifeline
}

// Close closes the connection and takes it off the line.
func (c *hungConn) Close() error {
	c.line.mu.Lock()
	delete(c.line.open, c)
	c.line.mu.Unlock()
	return c.Conn.Close()
}

// callbacks returns cfg with callbacks that are all there, and silent once the line
// is cut: a process that was killed is told of nothing.
func (l *lifeline) callbacks(cfg driver.ConsumerConfig) driver.ConsumerConfig {
	onAssigned, onRevoked, onError := cfg.OnAssigned, cfg.OnRevoked, cfg.OnError
	cfg.OnAssigned = func(partitions []int32) {
		if onAssigned != nil && !l.isCut() {
			onAssigned(partitions)
		}
	}
	cfg.OnRevoked = func(partitions []int32, lost bool) {
		if onRevoked != nil && !l.isCut() {
			onRevoked(partitions, lost)
		}
	}
	cfg.OnError = func(err error) {
		if onError != nil && !l.isCut() {
			onError(err)
		}
	}
	return cfg
}
