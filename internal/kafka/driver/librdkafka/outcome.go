//go:build librdkafka && cgo

package librdkafka

import (
	"errors"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// The outcome of a record without an ack.
//
// librdkafka knows whether a record may have reached a log (rd_kafka_message_status), but its Go API does not
// report it. So the driver has only the record's error and the client's errors since Produce. In this order:
//
//	not taken         Produce returned an error (too large, no such partition):
//	                  Failed. producer.go decides that.
//	refused           The client or the broker rejects with this error before
//	                  anything is appended (the table below), and the client
//	                  reported no trouble since Produce, so no earlier request can
//	                  have contained the record: Failed. The client reports a lost
//	                  connection or an unanswered request before it sends a record
//	                  again.
//	all else          Unknown: timed out, purged by Close, a fatal error, or an
//	                  ambiguous answer.
//
// So a record that never left the client because no broker was reachable is Unknown: its ERR__MSG_TIMED_OUT has
// other causes too. One case is invisible: an ambiguous answer (REQUEST_TIMED_OUT,
// NOT_ENOUGH_REPLICAS_AFTER_APPEND) and then a refusal of the retry. The client reports only the refusal.

// refusals are the errors that come before anything is appended, without those that the client retries.
var refusals = map[kafka.ErrorCode]bool{
	// The batch's content.
	kafka.ErrMsgSizeTooLarge:             true,
	kafka.ErrRecordListTooLarge:          true,
	kafka.ErrInvalidRecord:               true,
	kafka.ErrInvalidTimestamp:            true,
	kafka.ErrUnsupportedForMessageFormat: true,
	kafka.ErrUnsupportedCompressionType:  true,
	kafka.ErrPolicyViolation:             true,
	// The request.
	kafka.ErrInvalidRequiredAcks: true,
	kafka.ErrUnsupportedVersion:  true,
	kafka.ErrTopicException:      true,
	// The user.
	kafka.ErrTopicAuthorizationFailed:   true,
	kafka.ErrClusterAuthorizationFailed: true,
	// The topic or partition does not exist, so there is no log.
	kafka.ErrUnknownTopic:       true,
	kafka.ErrUnknownPartition:   true,
	kafka.ErrUnknownTopicOrPart: true,
}

// troubled reports whether the client reported an error of its own since Produce.
func outcome(err error, troubled bool) driver.Outcome {
	if !troubled && refusals[code(err)] {
		return driver.Failed
	}
	return driver.Unknown
}

func code(err error) kafka.ErrorCode {
	var known kafka.Error
	if errors.As(err, &known) {
		return known.Code()
	}
	return kafka.ErrUnknown
}

// explained puts Kafka's name of a broker's error code first. The Go API drops the broker's message.
func explained(err error) error {
	var none meter.Answers
	if c := code(err); c > 0 { // the client's own are negative
		return none.Explain(0, int16(c), err)
	}
	return err
}
