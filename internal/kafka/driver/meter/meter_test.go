package meter

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func recordBatch(records, size int, codec int16) []byte {
	b := make([]byte, batchHeadBytes+size)
	binary.BigEndian.PutUint32(b[batchLengthAt:], uint32(len(b)-batchLengthAfter))
	b[16] = 2
	binary.BigEndian.PutUint16(b[attributesAt:], uint16(codec))
	binary.BigEndian.PutUint32(b[recordCountAt:], uint32(records))
	return b
}

type counted struct{ batches, records, bytes, requests int64 }

func (c *counted) draw(t *rapid.T) []byte {
	records, size := rapid.IntRange(1, 5).Draw(t, "records"), rapid.IntRange(0, 300).Draw(t, "size")
	c.batches++
	c.records += int64(records)
	c.bytes += int64(size)
	return recordBatch(records, size, 0)
}

func TestProducedBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want counted
		var stream []byte
		formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("a client"))
		for i := range rapid.IntRange(1, 4).Draw(t, "requests") {
			var request kmsg.Request = kmsg.NewPtrMetadataRequest()
			if rapid.Bool().Draw(t, "produce") {
				request = drawProduce(t, &want)
				want.requests++
			}
			stream = append(stream, formatter.AppendRequest(nil, request, int32(i))...)
		}
		m := Meter{Batches: true}
		conn := newWatchedConn(discard{}, &m)
		inPieces(t, stream, func(piece []byte) { _, _ = conn.Write(piece) })
		checkCounted(t, &m, want, m.Traffic().Began)
	})
}

func drawProduce(t *rapid.T, want *counted) kmsg.Request {
	r := kmsg.NewPtrProduceRequest()
	r.Version = int16(rapid.IntRange(3, lastProduce).Draw(t, "version"))
	if rapid.Bool().Draw(t, "transactional") {
		r.TransactionID = kmsg.StringPtr("a transaction")
	}
	for range rapid.IntRange(0, 2).Draw(t, "topics") {
		topic := kmsg.NewProduceRequestTopic()
		topic.Topic = rapid.StringN(1, 200, 200).Draw(t, "topic")
		for range rapid.IntRange(0, 3).Draw(t, "partitions") {
			partition := kmsg.NewProduceRequestTopicPartition()
			partition.Records = want.draw(t)
			topic.Partitions = append(topic.Partitions, partition)
		}
		r.Topics = append(r.Topics, topic)
	}
	return r
}

func TestFetchedBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want counted
		m := Meter{Batches: true}
		var stream []byte
		conn := newWatchedConn(&feed{}, &m)
		formatter := kmsg.NewRequestFormatter()
		for i := range rapid.IntRange(1, 3).Draw(t, "responses") {
			version := int16(rapid.IntRange(4, lastFetch).Draw(t, "version"))
			request := kmsg.NewPtrFetchRequest()
			request.Version = version
			if _, err := conn.Write(formatter.AppendRequest(nil, request, int32(i))); err != nil {
				t.Fatal(err)
			}
			stream = append(stream, drawFetched(t, &want, version, int32(i))...)
			want.requests++
		}
		inPieces(t, stream, func(piece []byte) {
			conn.Conn.(*feed).next = piece
			_, _ = conn.Read(make([]byte, len(piece)))
		})
		checkCounted(t, &m, want, m.Requests().Fetch.Count)
	})
}

func drawFetched(t *rapid.T, want *counted, version int16, correlation int32) []byte {
	r := kmsg.NewPtrFetchResponse()
	r.Version = version
	for range rapid.IntRange(0, 2).Draw(t, "topics") {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = rapid.StringN(1, 200, 200).Draw(t, "topic")
		for range rapid.IntRange(0, 3).Draw(t, "partitions") {
			topic.Partitions = append(topic.Partitions, drawPartition(t, want))
		}
		r.Topics = append(r.Topics, topic)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 4), uint32(correlation))
	if version >= 12 {
		frame = append(frame, 0) // no tagged fields
	}
	frame = r.AppendTo(frame)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

func drawPartition(t *rapid.T, want *counted) kmsg.FetchResponseTopicPartition {
	p := kmsg.NewFetchResponseTopicPartition()
	for range rapid.IntRange(0, 2).Draw(t, "aborted") {
		p.AbortedTransactions = append(p.AbortedTransactions, kmsg.NewFetchResponseTopicPartitionAbortedTransaction())
	}
	for range rapid.IntRange(0, 3).Draw(t, "batches") {
		p.RecordBatches = append(p.RecordBatches, want.draw(t)...)
	}
	if rapid.Bool().Draw(t, "cut off") {
		whole := recordBatch(1, 100, 0)
		p.RecordBatches = append(p.RecordBatches, whole[:rapid.IntRange(1, len(whole)-1).Draw(t, "left")]...)
	}
	return p
}

func inPieces(t *rapid.T, stream []byte, give func([]byte)) {
	for len(stream) > 0 {
		n := rapid.IntRange(1, len(stream)).Draw(t, "piece")
		give(stream[:n])
		stream = stream[n:]
	}
}

func checkCounted(t *rapid.T, m *Meter, want counted, requests int64) {
	w := m.Wire()
	if got := (counted{w.Batches, w.BatchRecords, w.CompressedBytes, requests}); got != want || w.UncompressedBytes != want.bytes {
		t.Fatalf("counted %+v, want %+v", got, want)
	}
}

func TestContent(t *testing.T) {
	var m Meter
	m.countBatch(2, 100, false)
	if w := m.Wire(); w.UncompressedBytes != 100 {
		t.Errorf("%d bytes before, of a batch that was not compressed", w.UncompressedBytes)
	}
	m.CountContent(500)
	m.countBatch(2, 100, true)
	if w := m.Wire(); w.UncompressedBytes != 500 || w.CompressedBytes != 200 {
		t.Errorf("%d bytes before and %d after, want 500 and 200", w.UncompressedBytes, w.CompressedBytes)
	}
}

type discard struct{ net.Conn }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

type feed struct {
	discard
	next []byte
	err  error
}

func (f *feed) Read(b []byte) (int, error) { return copy(b, f.next), f.err }

func TestRequestsAreTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Meter
		in := &feed{}
		conn := newWatchedConn(in, &m)
		formatter := kmsg.NewRequestFormatter()
		produce := func(correlation int32) {
			_, _ = conn.Write(formatter.AppendRequest(nil, kmsg.NewPtrProduceRequest(), correlation))
		}
		read := func(bytes ...byte) {
			in.next = bytes
			_, _ = conn.Read(make([]byte, len(bytes)))
		}
		produce(7)
		time.Sleep(time.Second)
		produce(8)
		time.Sleep(time.Second)
		read(0, 0, 0, 6, 0, 0, 0, 7, 1)
		time.Sleep(time.Second)
		if got := m.Requests().Produce; got.Count != 0 {
			t.Errorf("%d requests are answered while a byte is missing", got.Count)
		}
		read(1)
		read(0, 0, 0, 4, 0, 0, 0, 8)
		if got := m.Requests().Produce; got != (driver.RequestSum{Count: 2, Time: 5 * time.Second, Connections: 1}) {
			t.Errorf("%+v", got)
		}
		produce(9)
		_ = conn.Close()
		_ = conn.Close()
		if got, want := m.Traffic(), (Traffic{Began: 3, Unanswered: 1}); got != want || m.Requests().Produce.Connections != 0 {
			t.Errorf("traffic %+v, want %+v; %d connections", got, want, m.Requests().Produce.Connections)
		}
	})
}

func TestUnansweredAtAnError(t *testing.T) {
	var m Meter
	conn := newWatchedConn(&feed{err: errors.New("reset")}, &m)
	_, _ = conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrProduceRequest(), 1))
	_, _ = conn.Read(make([]byte, 4))
	if got := m.Traffic(); got.Unanswered != 1 {
		t.Errorf("traffic %+v, want one unanswered", got)
	}
}

func TestLine(t *testing.T) {
	var l Line
	here, there := net.Pipe()
	dial := l.Hang(func(context.Context, string, string) (net.Conn, error) { return here, nil })
	conn, err := dial(context.Background(), "tcp", "a:1")
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	cfg := l.Callbacks(driver.ConsumerConfig{OnError: func(error) { told++ }})
	cfg.OnError(errors.New("one"))
	cfg.OnAssigned(nil)
	cfg.OnRevoked(nil, false)
	l.Cut()
	cfg.OnError(errors.New("two"))
	if told != 1 {
		t.Errorf("told of %d errors, want the one before the cut", told)
	}
	if _, err := there.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open after the cut")
	}
	if _, err := dial(context.Background(), "tcp", "a:1"); !errors.Is(err, ErrKilled) {
		t.Errorf("dialled after the cut: %v", err)
	}
	_ = conn.Close()
	if len(l.open) != 0 {
		t.Errorf("%d connections hang on a line that was cut", len(l.open))
	}
}
