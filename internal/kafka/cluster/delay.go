package cluster

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// delays adds a fixed delay between the clients and the embedded brokers. Requests keep their order, and any number
// may be delayed at once. A delay is never too short, and about a millisecond longer if a Go timer is late.
type delays struct {
	under    func(network, address string) (net.Listener, error)
	produce  time.Duration // of requests
	fetch    time.Duration // of responses
	capacity *capacity
}

const (
	heldFrames = 1024
	// frameMaxBytes is Kafka's own limit (socket.request.max.bytes).
	frameMaxBytes = 100 << 20
)

func (d delays) listen(network, address string) (net.Listener, error) {
	listener, err := d.under(network, address)
	if err != nil {
		return nil, err
	}
	return &delayedListener{Listener: listener, delays: d}, nil
}

type delayedListener struct {
	net.Listener
	delays delays
}

func (l *delayedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &delayedConn{
		Conn: conn, delays: l.delays, fetches: make(map[uint32]bool),
		requests: make(chan heldFrame, heldFrames), responses: make(chan heldFrame, heldFrames),
		closed: make(chan struct{}),
	}
	go c.receive()
	go c.send()
	return c, nil
}

type delayedConn struct {
	net.Conn
	delays    delays
	requests  chan heldFrame
	responses chan heldFrame

	reading []byte
	writing []byte

	mu      sync.Mutex
	fetches map[uint32]bool // correlation IDs of the fetches without a response

	once   sync.Once
	closed chan struct{}
}

type heldFrame struct {
	due   time.Time
	bytes []byte
}

func (c *delayedConn) receive() {
	defer close(c.requests)
	for {
		frame, err := readFrame(c.Conn)
		if err != nil {
			return
		}
		select {
		case c.requests <- heldFrame{due: c.requestDue(frame, time.Now()), bytes: frame}:
		case <-c.closed:
			return
		}
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > frameMaxBytes {
		return nil, fmt.Errorf("a request of %d bytes", size)
	}
	frame := make([]byte, 4+size)
	copy(frame, length[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// The header is, in bytes: length (4), API key (2), version (2), correlation ID (4).
func (c *delayedConn) requestDue(frame []byte, now time.Time) time.Time {
	if len(frame) < 12 {
		return now
	}
	switch kmsg.Key(binary.BigEndian.Uint16(frame[4:])) {
	case kmsg.Produce:
		return c.delays.capacity.serve(frame, now).Add(c.delays.produce)
	case kmsg.Fetch, kmsg.ShareFetch:
		c.mu.Lock()
		c.fetches[binary.BigEndian.Uint32(frame[8:])] = true
		c.mu.Unlock()
	}
	return now
}

func (c *delayedConn) Read(p []byte) (int, error) {
	if len(c.reading) == 0 {
		frame, ok := <-c.requests
		if !ok || !c.hold(frame.due) {
			return 0, io.EOF
		}
		c.reading = frame.bytes
	}
	n := copy(p, c.reading)
	c.reading = c.reading[n:]
	return n, nil
}

func (c *delayedConn) Write(p []byte) (int, error) {
	c.writing = append(c.writing, p...)
	for len(c.writing) >= 8 {
		size := 4 + int(binary.BigEndian.Uint32(c.writing))
		if len(c.writing) < size {
			break
		}
		frame := append([]byte(nil), c.writing[:size]...)
		c.writing = c.writing[size:]
		select {
		case c.responses <- heldFrame{due: time.Now().Add(c.responseDelay(frame)), bytes: frame}:
		case <-c.closed:
			return 0, net.ErrClosed
		}
	}
	return len(p), nil
}

// The header is, in bytes: length (4), correlation ID (4).
func (c *delayedConn) responseDelay(frame []byte) time.Duration {
	id := binary.BigEndian.Uint32(frame[4:])
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fetches[id] {
		return 0
	}
	delete(c.fetches, id)
	return c.delays.fetch
}

func (c *delayedConn) send() {
	for {
		select {
		case frame := <-c.responses:
			if !c.hold(frame.due) {
				return
			}
			if _, err := c.Conn.Write(frame.bytes); err != nil {
				_ = c.Close()
				return
			}
		case <-c.closed:
			return
		}
	}
}

// hold waits until due; false means that the connection ended before.
func (c *delayedConn) hold(due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return true // no timer: Go 1.26's race detector crashes if two late timers of a synctest bubble are received at once
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.closed:
		return false
	}
}

func (c *delayedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
