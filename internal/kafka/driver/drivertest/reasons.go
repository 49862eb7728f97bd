package drivertest

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestReasons: the error of a record begins with Kafka's name of the broker's error code. The
// broker's own message follows; without one, as without the ability to read it, the client's or
// Kafka's words do.
func (o Outcomes) TestReasons(t *testing.T) {
	const own = "Compacted topic cannot accept message without key in topic partition t-0"
	for _, test := range []struct {
		code          *kerr.Error
		batch, record string // messages of the broker
		want          string
	}{
		{kerr.InvalidRecord, "One or more records have been rejected", own + ".", "INVALID_RECORD: " + own},
		{kerr.InvalidRecord, own, "", "INVALID_RECORD: " + own},
		{kerr.PolicyViolation, "", "", "POLICY_VIOLATION: "},
	} {
		o.Place(t, func(t *testing.T, c Cluster) {
			c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				return refused(req.(*kmsg.ProduceRequest), test.code.Code, test.batch, test.record), nil, true
			})
			cfg := o.Config(c)
			cfg.DeliveryTimeout = 10 * time.Second
			want := test.want
			if o.DropsReasons {
				want = test.code.Message + ": "
			}
			d, _ := o.ProduceOne(t, cfg)
			if d.Err == nil || len(d.Err.Error()) < len(want) || d.Err.Error()[:len(want)] != want {
				t.Errorf("%v, want %s", d.Err, want)
			}
		}, Topics(1)...)
	}
}

func refused(req *kmsg.ProduceRequest, code int16, batch, record string) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range req.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode, partition.BaseOffset = p.Partition, code, -1
			if batch != "" {
				partition.ErrorMessage = &batch
			}
			if record != "" {
				first := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				first.ErrorMessage = &record
				partition.ErrorRecords = append(partition.ErrorRecords, first)
			}
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}
