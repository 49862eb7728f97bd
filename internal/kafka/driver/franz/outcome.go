package franz

import (
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// What became of a record that was not acknowledged.
//
// The client gives one error for a record, and most errors do not say whether an
// attempt before the last one may have reached the log. ErrRecordTimeout is the
// plainest case: it is the error both of a record that never left the client and
// of one that was written five times without an answer. So the error alone does
// not decide; it is read together with what crossed the wire while the client
// had the record. In order:
//
//	nothing left      No produce request of this client began to leave it since
//	                  the record was handed over. Whatever the error, the record
//	                  is not in the log: Failed. This is the broker that cannot
//	                  be reached, and the client closed before it sent.
//	client refused    The client itself did not take the record (too large for a
//	                  batch, no such partition): Failed.
//	broker refused    The answer was one that a broker gives before it appends
//	                  (the table below): Failed, if it speaks for the record. It
//	                  does not if an earlier request went unanswered, which may
//	                  have carried the record; nor if requests overtake each
//	                  other, because the client gives one batch's error to all
//	                  the batches behind it, which may be in the log.
//	all else          Unknown: timed out or cut off after a write, closed with
//	                  requests in flight, an answer that leaves it open.
//
// One case remains that cannot be seen: an answer that leaves it open
// (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND), followed on the retry
// by a refusal. The client reports the refusal alone, and so does this driver.

// refusals are the answers that a broker gives before it appends anything.
//
// Those that are left out, and why: UNKNOWN_SERVER_ERROR and KAFKA_STORAGE_ERROR
// can come out of the append itself. REQUEST_TIMED_OUT and
// NOT_ENOUGH_REPLICAS_AFTER_APPEND come after it. NOT_ENOUGH_REPLICAS,
// NOT_LEADER_OR_FOLLOWER and their like come before it, but the client retries
// them and reports ErrRecordTimeout in the end, which hides what went before.
// The errors of sequence numbers (OUT_OF_ORDER_SEQUENCE_NUMBER and its like) say
// that broker and client disagree about what is in the log.
var refusals = []error{
	// What is in the batch; a retry of the same bytes meets the same answer.
	kerr.MessageTooLarge,
	kerr.RecordListTooLarge,
	kerr.InvalidRecord,
	kerr.InvalidTimestamp,
	kerr.CorruptMessage, // not retried; checked before the append
	kerr.UnsupportedForMessageFormat,
	kerr.UnsupportedCompressionType,
	kerr.PolicyViolation,
	// What is asked for.
	kerr.InvalidRequiredAcks,
	kerr.UnsupportedVersion,
	kerr.InvalidTopicException,
	// Who asks; checked before anything else.
	kerr.TopicAuthorizationFailed,
	kerr.ClusterAuthorizationFailed,
	kerr.SaslAuthenticationFailed,
	// There is no such topic, hence no log. The client gives up on it after a
	// few retries.
	kerr.UnknownTopicOrPartition,
	kerr.UnknownTopicID,
}

// outcome decides what became of a record that ended with err. during is the
// client's traffic while it had the record; ordered says that a batch is only
// ever appended after the one before it (one request in flight, or idempotent).
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

// refusedByClient tells an error that the client raises for a record before it
// puts it into a batch. The client has no type for them, but it words them
// differently: a record too large for a batch has no compressed size yet, while
// the broker's refusal of a batch names it.
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
