package franz

import (
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// The outcome of a record without an ack.
//
// The client returns one error for a record, and most errors do not say whether an earlier attempt may have reached
// the log. So the driver also uses the client's traffic since Produce. In this order:
//
//	nothing sent      The client has not begun to write a produce request since
//	                  Produce: Failed, whatever the error.
//	client refused    The client rejected the record (too large for a batch, no
//	                  such partition): Failed.
//	broker refused    The broker rejects with this error before it appends (the
//	                  table below): Failed, with two exceptions. An earlier
//	                  unanswered request may have contained the record. And if
//	                  requests may overtake each other, the client gives one
//	                  batch's error to all the batches behind it, which may be
//	                  in the log.
//	all else          Unknown: timed out or disconnected after a write, closed
//	                  with requests in flight, or an ambiguous answer.
//
// One case is invisible: an ambiguous answer (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND) and then a
// refusal of the retry. The client reports only the refusal.

// refusals are the errors that a broker returns before it appends anything. They omit errors that a
// broker can return during or after the append (UNKNOWN_SERVER_ERROR, KAFKA_STORAGE_ERROR,
// REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND), errors that the client retries, and errors
// of sequence numbers, after which the log's content is uncertain.
var refusals = []error{
	// The batch's content: a retry of the same bytes gets the same answer.
	kerr.MessageTooLarge,
	kerr.RecordListTooLarge,
	kerr.InvalidRecord,
	kerr.InvalidTimestamp,
	kerr.CorruptMessage, // not retried; checked before the append
	kerr.UnsupportedForMessageFormat,
	kerr.UnsupportedCompressionType,
	kerr.PolicyViolation,
	// The request.
	kerr.InvalidRequiredAcks,
	kerr.UnsupportedVersion,
	kerr.InvalidTopicException,
	// The user; checked before anything else.
	kerr.TopicAuthorizationFailed,
	kerr.ClusterAuthorizationFailed,
	kerr.SaslAuthenticationFailed,
	// The topic does not exist, so there is no log. The client gives up after a few retries.
	kerr.UnknownTopicOrPartition,
	kerr.UnknownTopicID,
}

// during is the client's traffic since Produce. ordered means that a batch is appended only after the one before
// it.
func outcome(err error, during meter.Traffic, ordered bool) driver.Outcome {
	switch {
	case during.Began == 0:
		return driver.Failed
	case refusedByClient(err):
		return driver.Failed
	case refusedByBroker(err) && during.Unanswered == 0 && ordered:
		return driver.Failed
	default:
		return driver.Unknown
	}
}

// The client has no type for these errors. Its own "message too large" has no compressed size, unlike the broker's.
func refusedByClient(err error) bool {
	text := err.Error()
	if errors.Is(err, kerr.MessageTooLarge) {
		return !strings.Contains(text, " compressed_bytes=")
	}
	return strings.HasPrefix(text, "invalid record partitioning choice")
}

func refusedByBroker(err error) bool {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// code returns 0 if no broker's code is in err.
func code(err error) int16 {
	var known *kerr.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return 0
}
