package meter

import (
	"context"
	"errors"
	"net"
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// ErrKilled is the error of a killed consumer.
var ErrKilled = errors.New("the consumer was killed")

// Line controls a consumer's connections and callbacks. Cut closes the sockets as the kernel does for a killed
// process, allows no new connections, and silences the callbacks. The zero value is not cut.
type Line struct {
	mu     sync.Mutex
	open   map[*hungConn]struct{}
	killed bool
}

// IsCut reports whether Cut was called.
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

// Hang wraps dial: Cut closes the connections that it opens. After a Cut, the error is ErrKilled.
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

// hang closes the connection if Cut was called during the dial.
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

type hungConn struct {
	net.Conn
	line *Line
}

func (c *hungConn) Close() error {
	c.line.mu.Lock()
	delete(c.line.open, c)
	c.line.mu.Unlock()
	return c.Conn.Close()
}

// Callbacks returns cfg with every callback set. They do nothing after Cut.
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
