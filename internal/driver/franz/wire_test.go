package franz

import (
	"bytes"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// pipe is a connection that takes everything and gives nothing.
type pipe struct{ net.Conn }

func (pipe) Write(b []byte) (int, error) { return len(b), nil }

// TestProduceRequestsAreCountedAtTheFirstByte builds requests as the client
// writes them and counts them on their way out.
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
		conn := countedConn{Conn: pipe{}, wire: &w}
		b := formatter.AppendRequest(nil, test.request, 1)
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		if got := w.producing.Load(); got != test.want || w.writtenBytes.Load() != int64(len(b)) {
			t.Errorf("%T: counted %d produce requests in %d bytes, want %d in %d",
				test.request, got, w.writtenBytes.Load(), test.want, len(b))
		}
		if _, err := conn.Write(bytes.Repeat([]byte{0}, 5)); err != nil || w.producing.Load() != test.want {
			t.Errorf("counted a write of five bytes as a request (%v)", err)
		}
	}
}
