package echo

import (
	"net"
	"slices"
	"sync"
	"time"
)

// network is one of packets in memory, for a bubble of virtual time.
type network struct {
	mu    sync.Mutex
	conns map[string]*conn
	// carry is called with each packet and hands on what is to arrive, and after how long.
	carry func(from, to string, packet []byte, arrive func(packet []byte, after time.Duration))
}

type address string

func (a address) Network() string { return "memory" }
func (a address) String() string  { return string(a) }

type datagram struct {
	from   net.Addr
	packet []byte
}

type conn struct {
	net.PacketConn
	network *network
	at      address
	in      chan datagram
	closed  chan struct{}
	end     sync.Once
}

func (n *network) listen(at string) *conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &conn{network: n, at: address(at), in: make(chan datagram, 1000), closed: make(chan struct{})}
	if n.conns == nil {
		n.conns = make(map[string]*conn)
	}
	n.conns[at] = c
	return c
}

// set changes what becomes of packets.
func (n *network) set(carry func(from, to string, packet []byte, arrive func([]byte, time.Duration))) {
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
