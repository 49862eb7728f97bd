package franz

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

type pipe struct{ net.Conn }

func (pipe) Write(b []byte) (int, error) { return len(b), nil }

func TestProduceRequestsAreCountedAtTheFirstByte(t *testing.T) {
	formatter := kmsg.NewRequestFormatter()
	for _, test := range []struct {
		request kmsg.Request
		want    int64
	}{
		{kmsg.NewPtrProduceRequest(), 1},
		{kmsg.NewPtrMetadataRequest(), 0},
		{kmsg.NewPtrFetchRequest(), 0},
	} {
		var w wire
		dial := func(context.Context, string, string) (net.Conn, error) { return pipe{}, nil }
		conn, err := w.dialer(dial, access.Access{})(context.Background(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		b := formatter.AppendRequest(nil, test.request, 1)
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		if got := w.traffic().Began; got != test.want || w.meter.Wire().WrittenBytes != int64(len(b)) {
			t.Errorf("%T: counted %d produce requests in %d bytes, want %d in %d",
				test.request, got, w.meter.Wire().WrittenBytes, test.want, len(b))
		}
		if _, err := conn.Write(bytes.Repeat([]byte{0}, 5)); err != nil || w.traffic().Began != test.want {
			t.Errorf("counted a write of five bytes as a request (%v)", err)
		}
	}
}

func TestWireUnderTLS(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", ca.Server(t, false))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	arrived := make(chan int64)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			close(arrived)
			return
		}
		n, _ := io.Copy(io.Discard, conn)
		conn.Close()
		arrived <- n
	}()
	var w wire
	a := accesstest.Access(t, append(ca.Trust(t), "security.protocol="+access.ProtocolTLS)...)
	conn, err := w.dialer((&net.Dialer{}).DialContext, a)(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	request := kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrProduceRequest(), 1)
	before := w.meter.Wire()
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	written := w.meter.Wire().Sub(before).WrittenBytes
	conn.Close()
	if n := <-arrived; n != int64(len(request)) {
		t.Errorf("%d bytes arrived of %d", n, len(request))
	}
	if w.traffic().Began != 1 || before.WrittenBytes == 0 || before.ReadBytes == 0 || written <= int64(len(request)) || written > int64(len(request))+64 {
		t.Errorf("counted %d produce requests and %d bytes for one of %d, after a handshake of %+v", w.traffic().Began, written, len(request), before)
	}
}
