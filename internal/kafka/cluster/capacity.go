package cluster

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// capacity is a cap on what the embedded brokers take, all of them and all
// connections together: they serve produce requests as one queue that needs a
// fixed time for each record, and holds a request back until its records are
// served. Whatever is offered, no more than the cap gets in, and no less while
// requests wait; idle time is not saved up. When a request is due is arithmetic, so
// that late timers cost no capacity.
type capacity struct {
	perRecord time.Duration // 0 is without bound

	mu   sync.Mutex
	free time.Time // when everything that has come is served
}

// newCapacity is a cap of so many records a second.
func newCapacity(perSecond int64) *capacity {
	if perSecond == 0 {
		return &capacity{}
	}
	return &capacity{perRecord: time.Second / time.Duration(perSecond)}
}

// serve takes a produce request in and returns when it is served.
func (c *capacity) serve(frame []byte, now time.Time) time.Time {
	if c.perRecord == 0 {
		return now
	}
	work := time.Duration(producedRecords(frame)) * c.perRecord
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free.Before(now) {
		c.free = now
	}
	c.free = c.free.Add(work)
	return c.free
}

// firstFlexible is the first version of Produce whose header has tags.
const firstFlexible = 9

// producedRecords counts the records of a produce request, whose header is length
// (4), API key (2), version (2), correlation ID (4), client ID (2 and as many as
// it says), and tags, of which clients send none. What cannot be read has no
// records: the broker will say what is wrong with it.
func producedRecords(frame []byte) (records int) {
	if len(frame) < 14 {
		return 0
	}
	request := kmsg.NewPtrProduceRequest()
	request.Version = int16(binary.BigEndian.Uint16(frame[6:]))
	body := frame[14:]
	if length := int16(binary.BigEndian.Uint16(frame[12:])); length > 0 {
		body = body[min(int(length), len(body)):]
	}
	if request.Version >= firstFlexible {
		if len(body) == 0 || body[0] != 0 {
			return 0
		}
		body = body[1:]
	}
	if request.ReadFrom(body) != nil {
		return 0
	}
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			records += batchRecords(p.Records)
		}
	}
	return records
}

// batchRecords is the number of records that a batch says it has.
func batchRecords(batch []byte) int {
	const atNumRecords = 57
	if len(batch) < atNumRecords+4 {
		return 0
	}
	return max(0, int(int32(binary.BigEndian.Uint32(batch[atNumRecords:]))))
}
