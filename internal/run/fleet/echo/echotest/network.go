// Package echotest carries the packets of echoes in memory, for tests in virtual time.
package echotest

import (
	"net"
	"slices"
	"sync"
	"time"
)

// Network carries packets in a synctest bubble.
type Network struct {
	mu    sync.Mutex
	conns map[string]*conn
	// carry decides a packet's fate: it calls arrive, with a delay, for each arrival.
	carry func(from, to string, packet []byte, arrive func(packet []byte, after time.Duration))
}

// Address is the address of a connection in a Network.
type Address string

// Network returns "memory".
func (a Address) Network() string { return "memory" }

// String returns the address.
func (a Address) String() string { return string(a) }

type datagram struct {
	from   net.Addr
	packet []byte
}

type conn struct {
	net.PacketConn
	network *Network
	at      Address
	in      chan datagram
	closed  chan struct{}
	end     sync.Once
}

// Listen returns the connection at an address.
func (n *Network) Listen(at string) net.PacketConn {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &conn{network: n, at: Address(at), in: make(chan datagram, 1000), closed: make(chan struct{})}
	if n.conns == nil {
		n.conns = make(map[string]*conn)
	}
	n.conns[at] = c
	return c
}

// Set sets the fate of packets.
func (n *Network) Set(carry func(from, to string, packet []byte, arrive func([]byte, time.Duration))) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.carry = carry
}

func (c *conn) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case d := <-c.in:
		return copy(b, d.packet), d.from, nil
	case <-c.closed:
		return 0, nil, net.ErrClosed
	}
}

func (c *conn) WriteTo(b []byte, to net.Addr) (int, error) {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	there := c.network.conns[to.String()]
	if there == nil {
		return len(b), nil
	}
	c.network.carry(string(c.at), to.String(), slices.Clone(b), func(packet []byte, after time.Duration) {
		time.AfterFunc(after, func() { there.in <- datagram{c.at, packet} })
	})
	return len(b), nil
}

func (c *conn) LocalAddr() net.Addr { return c.at }

func (c *conn) Close() error {
	c.end.Do(func() { close(c.closed) })
	return nil
}
