//go:build full

package echo

import (
	"net"
	"testing"
	"time"
)

func TestLoopback(t *testing.T) {
	boot, err := ReadBoot()
	if err != nil {
		t.Fatal(err)
	}
	if ns, shared := boot.Offset(boot); ns != 0 || shared != (boot.ID != "") {
		t.Errorf("this process is %d ns from itself, %v", ns, shared)
	}
	var nodes []*Node
	for number := range uint32(2) {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, start(t, Config{Conn: conn, Clock: Machine(), Key: []byte("key"), Number: number}))
	}
	asks, peer := nodes[0], uint32(1)
	if err := asks.Ask(Peer{peer, nodes[1].Addr()}); err != nil {
		t.Fatal(err)
	}
	for asks.Counts().Proved == 0 {
		time.Sleep(time.Millisecond)
	}
	at := Machine().NowNs()
	bound, known := asks.Over(peer, at, at, 0)
	for !known { // until the next answer
		time.Sleep(time.Millisecond)
		bound, known = asks.Over(peer, at, at, 0)
	}
	t.Logf("the error is %d ns", bound.ErrorNs)
	if now, known := asks.At(peer, Machine().NowNs()); !known || max(now.OffsetNs, -now.OffsetNs) > now.ErrorNs {
		t.Errorf("the offset of the same clock is %+v (%v)", now, known)
	}
}
