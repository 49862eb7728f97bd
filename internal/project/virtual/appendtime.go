package virtual

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Places in a record batch of version 2 (KIP-98), in bytes.
const (
	crcAt            = 17 // covers all from attributesAt on
	attributesAt     = 21
	firstTimestampAt = 27
	maxTimestampAt   = 35
	recordsAt        = 61

	codecBits = 7 // of the attributes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SetClock sets the brokers' clocks ahead of the bubble's, or with a negative duration behind it.
// Only the times of records in topics with message.timestamp.type=LogAppendTime show it.
func (c *Cluster) SetClock(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// stampAppends writes the time of their append into the records of topics with
// message.timestamp.type=LogAppendTime, as Kafka does. kfake would keep the client's time, which is
// that of its first try, however often a batch was refused since. Compressed records keep their
// distances in time.
func (c *Cluster) stampAppends() {
	fake := c.Fake()
	fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		at := time.Now().Add(time.Duration(c.ahead.Load()))
		for _, topic := range req.(*kmsg.ProduceRequest).Topics {
			info := fake.TopicInfo(topic.Topic)
			if info == nil {
				info = fake.TopicIDInfo(topic.TopicID)
			}
			if info == nil {
				continue
			}
			if kind := info.Configs["message.timestamp.type"]; kind == nil || *kind != "LogAppendTime" {
				continue
			}
			for _, partition := range topic.Partitions {
				stamp(partition.Records, uint64(at.UnixMilli()))
			}
		}
		return nil, nil, false
	})
}

func stamp(batch []byte, at uint64) {
	if len(batch) < recordsAt {
		return
	}
	binary.BigEndian.PutUint64(batch[firstTimestampAt:], at)
	binary.BigEndian.PutUint64(batch[maxTimestampAt:], at)
	if binary.BigEndian.Uint16(batch[attributesAt:])&codecBits == 0 {
		clearDeltas(batch[recordsAt:])
	}
	binary.BigEndian.PutUint32(batch[crcAt:], crc32.Checksum(batch[attributesAt:], castagnoli))
}

// A record begins with its length (a varint), its attributes (a byte) and its time after the
// batch's (a varint). Here that becomes 0, in as many bytes as before.
func clearDeltas(records []byte) {
	for len(records) > 0 {
		length, n := binary.Varint(records)
		delta := records[n+1:]
		_, last := binary.Varint(delta)
		for i := range last - 1 {
			delta[i] = 0x80
		}
		delta[last-1] = 0
		records = records[n+int(length):]
	}
}
