package segmentio

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

type tape struct {
	net.Conn
	pieces [][]byte
}

func (t *tape) Write(b []byte) (int, error) { return len(b), nil }

func (t *tape) Read(b []byte) (int, error) {
	n := copy(b, t.pieces[0])
	t.pieces = t.pieces[1:]
	return n, nil
}

type seenBatch struct {
	records, bytes int
	compressed     bool
}

func (s seenBatch) encode() []byte {
	b := make([]byte, batchHeader+s.bytes)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-uncountedBytes))
	b[16] = 2
	if s.compressed {
		b[22] = 4
	}
	binary.BigEndian.PutUint32(b[57:], uint32(s.records))
	return b
}

func TestFetchedBatchesAreSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want, got []seenBatch
		conn := &fetchingConn{Conn: &tape{}, seen: func(records, bytes int, compressed bool) {
			got = append(got, seenBatch{records, bytes, compressed})
		}}
		conn.frame()
		for correlation := range int32(rapid.IntRange(1, 4).Draw(t, "responses")) {
			fetch := rapid.Bool().Draw(t, "fetch")
			var batches []byte
			for range rapid.IntRange(0, 3).Draw(t, "batches") {
				b := seenBatch{rapid.IntRange(1, 99).Draw(t, "records"), rapid.IntRange(0, 300).Draw(t, "bytes"), rapid.Bool().Draw(t, "compressed")}
				if batches = append(batches, b.encode()...); fetch {
					want = append(want, b)
				}
			}
			if whole := (seenBatch{records: 5, bytes: 50}).encode(); rapid.Bool().Draw(t, "cut off") {
				batches = append(batches, whole[:rapid.IntRange(1, len(whole)-1).Draw(t, "cut")]...)
			}
			play(t, conn, correlation, fetch, batches)
		}
		if len(got) != len(want) {
			t.Fatalf("saw %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("saw %v, want %v", got, want)
			}
		}
	})
}

func play(t *rapid.T, conn *fetchingConn, correlation int32, fetch bool, batches []byte) {
	var request kmsg.Request = kmsg.NewPtrMetadataRequest()
	response := batches
	if fetch {
		r := kmsg.NewPtrFetchRequest()
		r.Version = fetchVersion
		request = r
		response = fetchResponse(t, batches)
	}
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, request, correlation+100)); err != nil {
		t.Fatal(err)
	}
	framed := binary.BigEndian.AppendUint32(nil, uint32(4+len(response)))
	framed = binary.BigEndian.AppendUint32(framed, uint32(correlation+100))
	framed = append(framed, response...)
	stream, buffer := conn.Conn.(*tape), make([]byte, 4096)
	for len(framed) > 0 {
		n := rapid.IntRange(1, min(len(framed), len(buffer))).Draw(t, "piece")
		stream.pieces = [][]byte{framed[:n]}
		if _, err := conn.Read(buffer); err != nil {
			t.Fatal(err)
		}
		framed = framed[n:]
	}
}

func fetchResponse(t *rapid.T, batches []byte) []byte {
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.RecordBatches = batches
	for range rapid.IntRange(0, 2).Draw(t, "aborted") {
		partition.AbortedTransactions = append(partition.AbortedTransactions, kmsg.NewFetchResponseTopicPartitionAbortedTransaction())
	}
	topic := kmsg.NewFetchResponseTopic()
	topic.Topic, topic.Partitions = rapid.StringN(1, 20, 100).Draw(t, "topic"), append(topic.Partitions, partition)
	r := kmsg.NewPtrFetchResponse()
	r.Version, r.Topics = fetchVersion, append(r.Topics, topic)
	return r.AppendTo(nil)
}
