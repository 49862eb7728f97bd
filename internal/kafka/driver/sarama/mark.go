package sarama

import (
	"errors"

	ibm "github.com/IBM/sarama"
)

// push makes the client send the records that it holds back; the client has no call for this. Each
// partition gets a mark as large as a whole batch. The mark fits into no batch, so the client sends
// the current batch. Then encoding the mark fails, and the client returns it.
func (p *producer) push(client ibm.AsyncProducer) {
	partitions, err := p.metadata.Partitions(p.topic)
	if err != nil {
		return // the client holds nothing back yet
	}
	for _, partition := range partitions {
		client.Input() <- &ibm.ProducerMessage{
			Topic: p.topic, Partition: partition, Value: mark(p.metadata.Config().Producer.MaxMessageBytes),
		}
	}
}

// mark is a value whose record has the given size by the client's estimate.
type mark int

var errMark = errors.New("a mark")

func (m mark) Encode() ([]byte, error) { return nil, errMark }
func (m mark) Length() int             { return int(m) - (&ibm.ProducerMessage{}).ByteSize(2) }
