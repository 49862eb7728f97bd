package segmentio

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var errClosed = errors.New("the producer was closed")

var errExpired = errors.New("the delivery timeout has passed")

var errGivenUp = errors.New("the request was given up before it was encoded")

// attempts is the Writer's transport. It also keeps the results of all attempts at each partition's
// current batch, because the Writer reports only the last. It ends a batch at the delivery timeout
// of its oldest record, and all batches at Close. After an attempt has ended, it prevents the
// client from reading the records, because their owner will overwrite them.
type attempts struct {
	transport kafka.RoundTripper
	closing   context.Context
	delivery  time.Duration // 0 means no timeout
	acks      driver.Acks
	acked     func(records, uncompressed, compressed int)

	mu         sync.Mutex
	partitions map[int32]*trial
}

var _ kafka.RoundTripper = (*attempts)(nil)

func (a *attempts) of(partition int32) *trial {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.partitions[partition]
	if t == nil {
		t = &trial{}
		a.partitions[partition] = t
	}
	return t
}

// expect notes the times of Produce of records that the Writer will get; withdraw removes the times
// again. One goroutine calls both.
func (a *attempts) expect(messages []kafka.Message) {
	if a.delivery == 0 {
		return
	}
	for i := range messages {
		s := slotOf(&messages[i])
		a.of(s.partition).push(s.since)
	}
}

func (a *attempts) withdraw(messages []kafka.Message) {
	if a.delivery == 0 {
		return
	}
	for i := range messages {
		a.of(slotOf(&messages[i]).partition).pull()
	}
}

// RoundTrip makes one attempt at a batch, and passes other requests through.
func (a *attempts) RoundTrip(ctx context.Context, addr net.Addr, request kafka.Request) (kafka.Response, error) {
	r, ok := request.(*produce.Request)
	if !ok || len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return a.transport.RoundTrip(ctx, addr, request)
	}
	return a.try(ctx, addr, r)
}

func (a *attempts) try(ctx context.Context, addr net.Addr, r *produce.Request) (kafka.Response, error) {
	partition := &r.Topics[0].Partitions[0]
	t := a.of(partition.Partition)
	until, bounded := t.until(a.delivery)
	switch {
	case a.closing.Err() != nil:
		return nil, errClosed
	case bounded && !time.Now().Before(until):
		return nil, t.expired()
	}
	ctx, cancel := bound(ctx, until, bounded)
	defer cancel()
	defer context.AfterFunc(a.closing, cancel)()
	records := guard(partition.RecordSet.Records)
	partition.RecordSet.Records = records
	response, err := a.transport.RoundTrip(ctx, addr, r)
	encoded := records.giveUp()
	switch code := errorCode(response); {
	case err != nil && encoded, code != 0 && !refuses(code, a.acks):
		t.open, t.last = true, err
	case err != nil:
		t.last = err
	case code == 0:
		a.acked(records.count, records.bytes, int(t.written.Load()))
	}
	if err != nil && a.closing.Err() != nil {
		return nil, errClosed // the Writer would retry a context's error
	}
	return response, err
}

func bound(ctx context.Context, until time.Time, bounded bool) (context.Context, context.CancelFunc) {
	if bounded {
		return context.WithDeadline(ctx, until)
	}
	return context.WithCancel(ctx)
}

// errorCode is 0 with acks 0.
func errorCode(response kafka.Response) kafka.Error {
	r, ok := response.(*produce.Response)
	if !ok || r == nil || len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		return 0
	}
	return kafka.Error(r.Topics[0].Partitions[0].ErrorCode)
}

// guarded holds the records of one attempt. The client encodes all of them before it writes any,
// maybe after the attempt has ended because its context ended. The encoder holds turn from the
// first record to the end, so giveUp waits for a running encoding, which takes microseconds, and
// prevents a later one.
type guarded struct {
	records kafka.RecordReader

	turn    chan struct{} // holds one token, which guards the fields below
	begun   bool
	encoded bool // to the end; the client then writes it
	given   bool
	count   int
	bytes   int // before compression
	base    int64
}

func guard(records kafka.RecordReader) *guarded {
	return &guarded{records: records, turn: make(chan struct{}, 1)}
}

func (g *guarded) ReadRecord() (*kafka.Record, error) {
	if !g.begun {
		g.turn <- struct{}{}
		if g.given {
			<-g.turn
			return nil, errGivenUp
		}
		g.begun = true
	}
	r, err := g.records.ReadRecord()
	if err != nil {
		g.encoded = errors.Is(err, io.EOF)
		<-g.turn
		return nil, err
	}
	g.note(r)
	return r, nil
}

// giveUp reports whether the records were encoded, and so may have been written.
func (g *guarded) giveUp() bool {
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	g.given = true
	return g.encoded
}

func (g *guarded) note(r *kafka.Record) {
	at := r.Time.UnixMilli()
	if g.count == 0 {
		g.base = at
	}
	body := 1 + varint(at-g.base) + varint(int64(g.count)) + field(r.Key) + field(r.Value) + headerBytes(r.Headers)
	g.bytes += varint(int64(body)) + body
	g.count++
}

func field(b protocol.Bytes) int {
	if b == nil {
		return 1
	}
	return varint(int64(b.Len())) + b.Len()
}

// varint returns the encoded size of a number: zigzag, seven bits to a byte.
func varint(n int64) int {
	length := 1
	for z := uint64(n<<1) ^ uint64(n>>63); z >= 0x80; z >>= 7 {
		length++
	}
	return length
}

// recordBytes returns the smallest size of a record in a batch.
func recordBytes(m *kafka.Message) int {
	key, value := len(m.Key), len(m.Value)
	body := 1 + 1 + 1 + varint(int64(key)) + key + varint(int64(value)) + value + headerBytes(m.Headers)
	return varint(int64(body)) + body
}

func headerBytes(headers []kafka.Header) int {
	bytes := varint(int64(len(headers)))
	for _, h := range headers {
		bytes += varint(int64(len(h.Key))) + len(h.Key) + varint(int64(len(h.Value))) + len(h.Value)
	}
	return bytes
}
