package franz

import (
	"context"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

type watched struct {
	net.Conn
	write func()
}

func (w watched) Write(b []byte) (int, error) {
	w.write()
	return len(b), nil
}

func TestProduceRequestCountsBeforeItsWrite(t *testing.T) {
	var w wire
	began := int64(-1)
	dial := func(context.Context, string, string) (net.Conn, error) {
		return watched{write: func() { began = w.traffic().Began }}, nil
	}
	conn, err := w.dialer(dial, access.Access{})(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrProduceRequest(), 1)); err != nil {
		t.Fatal(err)
	}
	if began != 1 {
		t.Errorf("%d requests had begun when the first byte left, want 1", began)
	}
}
