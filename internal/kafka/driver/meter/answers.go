package meter

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Answers keeps, for each partition, the error that a broker answered last to a produce request,
// with the broker's own message, which clients drop. An acknowledgement removes it.
type Answers struct {
	mu   sync.Mutex
	last map[int32]answer
}

type answer struct {
	code    int16
	message string // of the broker; empty if it gave none
}

// Watch wraps dial, and reads the answers on the connections that it opens. Do not use it with acks
// 0: no answer follows then.
func (a *Answers) Watch(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &answeredConn{Conn: conn, answers: a, asked: make(map[int32]int16)}
		c.out = frames{headBytes: 8, begin: c.requested}
		c.in = frames{headBytes: 4, begin: c.answering, end: c.answered}
		return c, nil
	}
}

// Explain puts Kafka's name of an error code before the words of a record's error, and the
// broker's own message in the place of the client's. code is the one of err, 0 if err has none, as
// after a timeout: then what the broker answered last comes before err.
func (a *Answers) Explain(partition int32, code int16, err error) error {
	a.mu.Lock()
	last, answered := a.last[partition]
	a.mu.Unlock()
	switch {
	case code == 0 && answered:
		return &explained{last.text() + "; then: " + err.Error(), err}
	case code == 0:
		return err
	case answered && last.code == code && last.message != "":
		return &explained{last.text(), err}
	}
	own := answer{code: code}
	if strings.HasPrefix(err.Error(), own.name()) {
		return err
	}
	return &explained{own.text(), err}
}

type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

func (a answer) name() string { return kerr.TypedErrorForCode(a.code).Message }

func (a answer) text() string {
	if a.message != "" {
		return a.name() + ": " + a.message
	}
	return a.name() + ": " + strings.TrimSuffix(kerr.TypedErrorForCode(a.code).Description, ".")
}

// note keeps the message of the first refused record, which says more than the one of the batch.
func (a *Answers) note(p *kmsg.ProduceResponseTopicPartition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.ErrorCode == 0 {
		delete(a.last, p.Partition)
		return
	}
	now := answer{code: p.ErrorCode}
	message := p.ErrorMessage
	if len(p.ErrorRecords) > 0 && p.ErrorRecords[0].ErrorMessage != nil {
		message = p.ErrorRecords[0].ErrorMessage
	}
	if message != nil && *message != now.name() {
		now.message = strings.TrimSuffix(*message, ".")
	}
	if a.last == nil {
		a.last = make(map[int32]answer)
	}
	a.last[p.Partition] = now
}

// As on every connection of Kafka, one goroutine at a time writes and one reads.
type answeredConn struct {
	net.Conn
	answers *Answers
	out, in frames

	mu    sync.Mutex
	asked map[int32]int16 // versions of the produce requests under way, by correlation ID

	response   kmsg.ProduceResponse
	body       []byte
	collecting bool
}

// maxAnswer bounds the answers that are read: thousands of partitions.
const maxAnswer = 256 << 10

func (c *answeredConn) Write(b []byte) (int, error) {
	c.out.read(b)
	return c.Conn.Write(b)
}

func (c *answeredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.in.read(b[:n])
	return n, err
}

func (c *answeredConn) requested(head []byte) body {
	if int16(binary.BigEndian.Uint16(head)) == apiProduce {
		c.mu.Lock()
		c.asked[int32(binary.BigEndian.Uint32(head[4:]))] = int16(binary.BigEndian.Uint16(head[2:]))
		c.mu.Unlock()
	}
	return nil
}

func (c *answeredConn) answering(head []byte) body {
	correlation := int32(binary.BigEndian.Uint32(head))
	c.mu.Lock()
	version, asked := c.asked[correlation]
	delete(c.asked, correlation)
	c.mu.Unlock()
	if c.collecting = asked; !asked {
		return nil
	}
	c.response.SetVersion(version)
	c.body = c.body[:0]
	return func(piece []byte) {
		if c.collecting = len(c.body)+len(piece) <= maxAnswer; c.collecting {
			c.body = append(c.body, piece...)
		}
	}
}

func (c *answeredConn) answered([]byte) {
	if !c.collecting {
		return
	}
	rest := c.body
	if c.response.IsFlexible() {
		head := kbin.Reader{Src: rest}
		kmsg.SkipTags(&head)
		rest = head.Src
	}
	if c.response.ReadFrom(rest) != nil {
		return // the client reports it
	}
	for i := range c.response.Topics {
		for j := range c.response.Topics[i].Partitions {
			c.answers.note(&c.response.Topics[i].Partitions[j])
		}
	}
}
