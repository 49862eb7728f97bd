package cluster

import (
	"encoding/binary"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// parting hides the end of a connection from kfake while a JoinGroup on it waits for an answer.
//
// Kafka starts a member's session when it answers the JoinGroup, even if the answer does not arrive, and removes a
// dead member when the session times out. If the answer does not arrive, kfake starts no session
// for about half of the new members, and these would keep their partitions for ever.
//
// A connection whose JoinGroup is never answered stays until the cluster stops.
type parting struct {
	under func(network, address string) (net.Listener, error)
}

func (p parting) listen(network, address string) (net.Listener, error) {
	listener, err := p.under(network, address)
	if err != nil {
		return nil, err
	}
	return partingListener{listener}, nil
}

type partingListener struct{ net.Listener }

func (l partingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &partingConn{Conn: conn, closed: make(chan struct{})}, nil
}

// The broker reads from a partingConn in one goroutine at a time.
type partingConn struct {
	net.Conn
	head []byte
	rest int

	mu       sync.Mutex
	join     uint32        // correlation ID of the last JoinGroup
	answered chan struct{} // closed when that is answered; nil before the first

	once   sync.Once
	closed chan struct{}
}

// In bytes: length (4), API key (2), version (2), correlation ID (4).
const requestHead = 12

func (c *partingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.look(p[:n])
	if err == nil {
		return n, nil
	}
	c.mu.Lock()
	answered := c.answered
	c.mu.Unlock()
	if answered != nil {
		select {
		case <-answered:
		case <-c.closed:
		}
	}
	return n, err
}

func (c *partingConn) look(b []byte) {
	for len(b) > 0 {
		if c.rest > 0 {
			n := min(c.rest, len(b))
			c.rest, b = c.rest-n, b[n:]
			continue
		}
		n := min(requestHead-len(c.head), len(b))
		c.head, b = append(c.head, b[:n]...), b[n:]
		if len(c.head) < requestHead {
			return
		}
		c.rest = 4 + int(binary.BigEndian.Uint32(c.head)) - requestHead
		if kmsg.Key(binary.BigEndian.Uint16(c.head[4:])) == kmsg.JoinGroup {
			c.mu.Lock()
			c.join, c.answered = binary.BigEndian.Uint32(c.head[8:]), make(chan struct{})
			c.mu.Unlock()
		}
		c.head = c.head[:0]
	}
}

// Write expects one response per call: its length (4 bytes), then its correlation ID (4 bytes).
func (c *partingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if len(p) < 8 {
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered != nil && binary.BigEndian.Uint32(p[4:]) == c.join {
		close(c.answered)
		c.answered = nil
	}
	return n, err
}

func (c *partingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
