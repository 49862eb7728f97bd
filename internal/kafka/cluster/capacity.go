package cluster

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// capacity limits the record rate of all embedded brokers together. It simulates a queue that serves each record in
// a fixed time and holds a produce request until its records are served. Idle time is not saved.
type capacity struct {
	perRecord time.Duration // 0 means unlimited

	mu   sync.Mutex
	free time.Time // when everything received is served
}

func newCapacity(perSecond int64) *capacity {
	if perSecond == 0 {
		return &capacity{}
	}
	return &capacity{perRecord: time.Second / time.Duration(perSecond)}
}

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

const firstFlexible = 9

// producedRecords returns 0 for a malformed request. The header is, in bytes: length (4), API key
// (2), version (2), correlation ID (4), client ID (2 and its length), and empty tags.
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

func batchRecords(batch []byte) int {
	const atNumRecords = 57
	if len(batch) < atNumRecords+4 {
		return 0
	}
	return max(0, int(int32(binary.BigEndian.Uint32(batch[atNumRecords:]))))
}
