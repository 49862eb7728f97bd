package sarama

import (
	"errors"

	ibm "github.com/IBM/sarama"
)

// push makes the client send what it holds back, for which it has no call: each
// partition is given a mark as large as a batch may be, which no batch has room for,
// so that the one before it is sent. Then the mark's encoding fails, and it comes
// back.
func (p *producer) push(client ibm.AsyncProducer) {
	partitions, err := p.metadata.Partitions(p.topic)
	if err != nil {
		return // nor has the client got as far as to hold anything back
	}
	for _, partition := range partitions {
		client.Input() <- &ibm.ProducerMessage{
			Topic: p.topic, Partition: partition, Value: mark(p.metadata.Config().Producer.MaxMessageBytes),
		}
	}
}

// mark is a value of that many bytes together with what the client reckons for a
// record without one.
type mark int

var errMark = errors.New("the mark of a flush")

func (m mark) Encode() ([]byte, error) { return nil, errMark }
func (m mark) Length() int             { return int(m) - (&ibm.ProducerMessage{}).ByteSize(2) }
