package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// Cluster is a fake cluster, and how clients reach it.
type Cluster struct {
	*kfake.Cluster
	Access access.Access
}

// Place runs a test with a fake cluster: Virtual or Loopback.
type Place func(t *testing.T, f func(t *testing.T, c Cluster), options ...kfake.Opt)

// settle is virtual time for the remaining timers of closed clients.
const settle = time.Minute

// Virtual calls f in a synctest bubble, with a cluster on an in-memory network. It fails the test if a goroutine of
// a client is left.
func Virtual(t *testing.T, f func(t *testing.T, c Cluster), options ...kfake.Opt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(settle) })
		memory := &memory{port: 9092}
		fake := Fake(t, append(options[:len(options):len(options)], kfake.ListenFn(memory.listen))...)
		f(t, Cluster{fake, access.Access{Dial: memory.dial}})
	})
}

// Loopback calls f with a cluster on this machine's loopback.
func Loopback(t *testing.T, f func(t *testing.T, c Cluster), options ...kfake.Opt) {
	t.Helper()
	f(t, Cluster{Cluster: Fake(t, options...)})
}

// memory is an in-memory network on which each broker has the next port.
type memory struct {
	network kfake.VirtualNetwork
	port    int
}

func (m *memory) listen(network, _ string) (net.Listener, error) {
	m.port++
	return m.network.Listen(network, fmt.Sprintf("localhost:%d", m.port))
}

func (m *memory) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := m.network.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	b := &buffered{Conn: conn, sent: make(chan []byte, sendBuffer), closed: make(chan struct{})}
	go b.pass()
	return b, nil
}

const sendBuffer = 64

// buffered's writes, as with TCP, do not wait for the broker. A client may hold a lock while it writes, and a lock
// stops virtual time.
type buffered struct {
	net.Conn
	sent   chan []byte
	close  sync.Once
	closed chan struct{}
}

func (b *buffered) Write(p []byte) (int, error) {
	select {
	case b.sent <- bytes.Clone(p):
		return len(p), nil
	case <-b.closed:
		return 0, net.ErrClosed
	}
}

func (b *buffered) pass() {
	defer b.Close()
	for {
		select {
		case p := <-b.sent:
			if _, err := b.Conn.Write(p); err != nil {
				return
			}
		case <-b.closed:
			return
		}
	}
}

func (b *buffered) Close() error {
	b.close.Do(func() { close(b.closed) })
	return b.Conn.Close()
}
