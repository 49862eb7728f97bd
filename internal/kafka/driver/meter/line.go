package meter

import (
	"context"
	"errors"
	"net"
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// ErrKilled is what a consumer returns that was killed.
var ErrKilled = errors.New("the consumer was killed")

// Line is what a consumer's life hangs on: its connections, and the callbacks by
// which it tells of itself. Once it is cut, the sockets are closed as the kernel
// closes those of a process that was killed, none is opened any more, and nobody
// hears of the client again, whatever goes on within it. It is what driver.Killer
// needs of a client that can't be killed itself. The zero value is whole.
type Line struct {
	mu     sync.Mutex
	open   map[*hungConn]struct{}
	killed bool
}

// IsCut tells whether Cut was called.
func (l *Line) IsCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.killed
}

// Cut closes all connections for good.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
	for conn := range l.open {
		_ = conn.Conn.Close() // the client closes it again
	}
	clear(l.open)
}

// Hang returns dial with connections that hang on the line. After a cut it opens
// none, and its error is ErrKilled.
func (l *Line) Hang(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.IsCut() {
			return nil, ErrKilled
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return l.hang(conn)
	}
}

// hang makes a new connection one of the line's, unless the line was cut while it
// came about.
func (l *Line) hang(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killed {
		_ = conn.Close()
		return nil, ErrKilled
	}
	if l.open == nil {
		l.open = make(map[*hungConn]struct{})
	}
	hung := &hungConn{Conn: conn, line: l}
	l.open[hung] = struct{}{}
	return hung, nil
}

// hungConn is a connection that hangs on a line.
type hungConn struct {
	net.Conn
	line *Line
}

// Close closes the connection and takes it off the line.
func (c *hungConn) Close() error {
	c.line.mu.Lock()
	delete(c.line.open, c)
	c.line.mu.Unlock()
	return c.Conn.Close()
}

// Callbacks returns cfg with callbacks that are all there, and silent once the line
// is cut: a process that was killed is told of nothing.
func (l *Line) Callbacks(cfg driver.ConsumerConfig) driver.ConsumerConfig {
	onAssigned, onRevoked, onError := cfg.OnAssigned, cfg.OnRevoked, cfg.OnError
	cfg.OnAssigned = func(partitions []int32) {
		if onAssigned != nil && !l.IsCut() {
			onAssigned(partitions)
		}
	}
	cfg.OnRevoked = func(partitions []int32, lost bool) {
		if onRevoked != nil && !l.IsCut() {
			onRevoked(partitions, lost)
		}
	}
	cfg.OnError = func(err error) {
		if onError != nil && !l.IsCut() {
			onError(err)
		}
	}
	return cfg
}
