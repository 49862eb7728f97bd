//go:build librdkafka && cgo

package librdkafka

import (
	"errors"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// What became of a record that was not acknowledged.
//
// librdkafka knows of each whether it may have reached a log
// (rd_kafka_message_status), but its Go face does not hand that on: it frees the
// delivery report before Go sees it, and interceptors, which could read it before, can
// only be added while the library makes the client. There is the error alone. So the error is read
// together with what the client said about
// itself while it had the record. In order:
//
//	not taken         The call that hands over the record returned an error (too
//	                  large, no such partition): Failed. That is decided in
//	                  producer.go.
//	refused           The error is one that client or broker gives before anything
//	                  is appended (the table below), and the client had no trouble
//	                  meanwhile, so that no earlier request can have carried the
//	                  record: Failed. The client tells of a lost connection and of
//	                  a request without an answer before it sends a record again.
//	all else          Unknown: timed out, purged by Close, a fatal error, an answer
//	                  that leaves it open.
//
// So a record that never left the client because no broker could be reached is
// Unknown here: it ends by ERR__MSG_TIMED_OUT like one that was written and not
// answered. What remains unseen is an answer that leaves it open
// (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND), followed on the retry by a
// refusal, of which the client reports the refusal alone.

// refusals are the errors that come before anything is appended. Errors that the
// client retries are not among them: it reports ERR__MSG_TIMED_OUT in the end,
// which hides what went before.
var refusals = map[kafka.ErrorCode]bool{
	// What is in the batch.
	kafka.ErrMsgSizeTooLarge:             true,
	kafka.ErrRecordListTooLarge:          true,
	kafka.ErrInvalidRecord:               true,
	kafka.ErrInvalidTimestamp:            true,
	kafka.ErrUnsupportedForMessageFormat: true,
	kafka.ErrUnsupportedCompressionType:  true,
	kafka.ErrPolicyViolation:             true,
	// What is asked for.
	kafka.ErrInvalidRequiredAcks: true,
	kafka.ErrUnsupportedVersion:  true,
	kafka.ErrTopicException:      true,
	// Who asks.
	kafka.ErrTopicAuthorizationFailed:   true,
	kafka.ErrClusterAuthorizationFailed: true,
	// There is no such topic or partition, hence no log; the first two are the
	// client's own.
	kafka.ErrUnknownTopic:       true,
	kafka.ErrUnknownPartition:   true,
	kafka.ErrUnknownTopicOrPart: true,
}

// outcome decides what became of a record that the client had taken and that ended
// with err; troubled says that the client reported an error of its own meanwhile.
func outcome(err error, troubled bool) driver.Outcome {
	if !troubled && refusals[code(err)] {
		return driver.Failed
	}
	return driver.Unknown
}

// code is the client's number for an error.
func code(err error) kafka.ErrorCode {
	var known kafka.Error
	if errors.As(err, &known) {
		return known.Code()
	}
	return kafka.ErrUnknown
}
