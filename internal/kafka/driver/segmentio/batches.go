package segmentio

import (
	"context"
	"encoding/binary"
	"net"

	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// The client reports neither the compressed size of its batches nor the number of fetched ones. So the driver
// parses its traffic above TLS, up to the headers of batches. Each request or response has one partition.

// The length in a batch's header (record batch format v2) excludes the first twelve bytes.
const (
	batchHeader    = 61
	uncountedBytes = 12
)

// watchProduce calls written for each written batch, with the size of its records.
func watchProduce(dial meter.Dial, clientID, topic string, written func(partition int32, bytes int)) meter.Dial {
	// The head's fields: length, API, version, correlation; client; transaction, acks, timeout, topics;
	// topic; partitions, partition, length of the batch.
	head := 4 + 2 + 2 + 4 + 2 + len(clientID) + 2 + 2 + 4 + 4 + 2 + len(topic) + 4 + 4 + 4
	return wrap(dial, func(conn net.Conn) net.Conn { return &producingConn{Conn: conn, head: head, written: written} })
}

func wrap(dial meter.Dial, with func(net.Conn) net.Conn) meter.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return with(conn), nil
	}
}

// The first Write of each request contains at least the request's head.
type producingConn struct {
	net.Conn
	head    int
	left    int
	written func(partition int32, bytes int)
}

func (c *producingConn) Write(b []byte) (int, error) {
	if c.left == 0 && len(b) >= c.head && binary.BigEndian.Uint16(b[4:]) == 0 {
		tail := b[c.head-8:]
		c.written(int32(binary.BigEndian.Uint32(tail)), int(binary.BigEndian.Uint32(tail[4:]))-batchHeader)
	}
	if c.left == 0 && len(b) >= 4 {
		c.left = 4 + int(binary.BigEndian.Uint32(b))
	}
	c.left -= min(c.left, len(b))
	return c.Conn.Write(b)
}

// The version is the client's newest, which every broker since Kafka 2.1 supports.
const (
	apiFetch     = 1
	fetchVersion = 10
)

type batchSeen func(records, bytes int, compressed bool)

func watchFetch(dial meter.Dial, seen batchSeen) meter.Dial {
	return wrap(dial, func(conn net.Conn) net.Conn {
		c := &fetchingConn{Conn: conn, seen: seen}
		c.frame()
		return c
	})
}

// fetchingConn parses a Reader's fetch responses, which come in pieces of any size.
type fetchingConn struct {
	net.Conn
	seen        batchSeen
	correlation uint32 // of the last fetch

	left int
	skip int
	need int
	have []byte
	step func([]byte)
}

func (c *fetchingConn) Write(b []byte) (int, error) {
	if len(b) >= 12 && binary.BigEndian.Uint16(b[4:]) == apiFetch && binary.BigEndian.Uint16(b[6:]) == fetchVersion {
		c.correlation = binary.BigEndian.Uint32(b[8:])
	}
	return c.Conn.Write(b)
}

func (c *fetchingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.follow(b[:n])
	return n, err
}

func (c *fetchingConn) follow(b []byte) {
	for len(b) > 0 {
		if n := min(c.skip, len(b)); n > 0 {
			c.skip -= n
			b = b[n:]
			continue
		}
		n := min(c.need-len(c.have), len(b))
		c.have = append(c.have, b[:n]...)
		b = b[n:]
		if len(c.have) == c.need {
			have := c.have
			c.have = c.have[:0]
			c.step(have)
		}
	}
}

func (c *fetchingConn) frame() {
	c.need, c.step = 8, func(b []byte) {
		c.left = int(binary.BigEndian.Uint32(b)) - 4
		if binary.BigEndian.Uint32(b[4:]) != c.correlation {
			c.rest()
			return
		}
		// throttle time, error, session, topics, length of the topic's name
		c.next(0, 16, c.topic)
	}
}

// At the end of the response, next calls rest.
func (c *fetchingConn) next(skip, need int, step func([]byte)) {
	if skip < 0 || need < 0 || skip+need > c.left {
		c.rest()
		return
	}
	c.left -= skip + need
	c.skip, c.need, c.step = skip, need, step
}

func (c *fetchingConn) rest() {
	c.skip = max(c.left, 0)
	c.frame()
}

func (c *fetchingConn) topic(b []byte) {
	name := int(int16(binary.BigEndian.Uint16(b[14:])))
	// partitions, partition, error, high watermark, last stable offset, start; then the number of aborted transactions
	c.next(name+4+4+2+8+8+8, 4, c.aborted)
}

func (c *fetchingConn) aborted(b []byte) {
	n := max(int(int32(binary.BigEndian.Uint32(b))), 0)
	c.next(n*16, 4, func([]byte) { c.next(0, batchHeader, c.batch) })
}

func (c *fetchingConn) batch(b []byte) {
	bytes := int(binary.BigEndian.Uint32(b[8:])) + uncountedBytes - batchHeader
	magic, attributes, records := b[16], binary.BigEndian.Uint16(b[21:]), int(binary.BigEndian.Uint32(b[57:]))
	if magic != 2 || bytes < 0 || bytes > c.left { // the broker may truncate the last batch
		c.rest()
		return
	}
	c.seen(records, bytes, attributes&7 != 0)
	c.next(bytes, batchHeader, c.batch)
}
