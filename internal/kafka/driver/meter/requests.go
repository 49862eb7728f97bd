package meter

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"
)

const (
	apiProduce = 0
	apiFetch   = 1
)

// Watch wraps dial, and counts and times the requests on the connections that it opens: from before
// the first byte of a request is written until the last byte of its response is read. A produce
// request counts before any of it can leave.
func (m *Meter) Watch(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newWatchedConn(conn, m), nil
	}
}

// As on every connection of Kafka, one goroutine at a time writes and one reads.
type watchedConn struct {
	net.Conn
	meter *Meter
	out   frames
	in    frames

	mu      sync.Mutex
	waiting []request
	closed  bool
	carried [2]bool // produce, fetch
}

type request struct {
	key         int16
	version     int16
	correlation int32
	began       time.Time
}

func newWatchedConn(conn net.Conn, m *Meter) *watchedConn {
	c := &watchedConn{Conn: conn, meter: m}
	// A request begins with its API key, its version and its correlation ID; a response begins with that ID.
	c.out = frames{headBytes: 8, begin: c.requested}
	c.in = frames{headBytes: 4, begin: c.responding, end: c.responded}
	return c
}

func (c *watchedConn) Write(b []byte) (int, error) {
	c.out.read(b)
	return c.Conn.Write(b)
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.in.read(b[:n])
	if err != nil {
		c.abandon()
	}
	return n, err
}

func (c *watchedConn) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.waiting {
		if r.key == apiProduce {
			c.meter.unanswered.Add(1)
		}
	}
	c.waiting = nil
}

func (c *watchedConn) Close() error {
	c.abandon()
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		for key, carried := range c.carried {
			if carried {
				c.meter.sums(int16(key)).connections.Add(-1)
			}
		}
	}
	c.mu.Unlock()
	return c.Conn.Close()
}

func (c *watchedConn) requested(head []byte) body {
	r := request{
		key:         int16(binary.BigEndian.Uint16(head)),
		version:     int16(binary.BigEndian.Uint16(head[2:])),
		correlation: int32(binary.BigEndian.Uint32(head[4:])),
		began:       time.Now(),
	}
	if r.key == apiProduce {
		c.meter.began.Add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if r.key == apiProduce || r.key == apiFetch {
		if !c.carried[r.key] {
			c.carried[r.key] = true
			c.meter.sums(r.key).connections.Add(1)
		}
	}
	if r.key == apiProduce && c.meter.NoAcks {
		c.meter.produce.count.Add(1) // nothing to time
	} else {
		c.waiting = append(c.waiting, r)
	}
	if r.key != apiProduce {
		return nil
	}
	return c.batches(r)
}

// batches returns nil if the request's record batches are not counted.
func (c *watchedConn) batches(r request) body {
	if !c.meter.Batches {
		return nil
	}
	if b := newBatches(c.meter, r.key, r.version); b != nil {
		return b.read
	}
	return nil
}

// Brokers answer in order. responding still compares the correlation ID, because a login may write bytes that are
// not a request.
func (c *watchedConn) responding(head []byte) body {
	correlation := int32(binary.BigEndian.Uint32(head))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.waiting {
		if r.correlation == correlation {
			c.waiting = c.waiting[:copy(c.waiting, c.waiting[i:])]
			if r.key != apiFetch {
				return nil
			}
			return c.batches(r)
		}
	}
	return nil
}

func (c *watchedConn) responded(head []byte) {
	correlation := int32(binary.BigEndian.Uint32(head))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 || c.waiting[0].correlation != correlation {
		return
	}
	r := c.waiting[0]
	c.waiting = c.waiting[:copy(c.waiting, c.waiting[1:])]
	if sums := c.meter.sums(r.key); sums != nil {
		sums.count.Add(1)
		sums.nanoseconds.Add(int64(time.Since(r.began)))
	}
}

// sums returns nil for a type of request that is not counted.
func (m *Meter) sums(key int16) *sums {
	switch key {
	case apiProduce:
		return &m.produce
	case apiFetch:
		return &m.fetch
	}
	return nil
}
