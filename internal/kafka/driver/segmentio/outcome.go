package segmentio

import (
	"slices"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The outcome of a record without an ack.
//
// After several silent attempts, the Writer returns one error for a batch, that of the last attempt. So attempts.go
// classifies each attempt when it ends:
//
//	never written   The request was not completely encoded, and only a complete
//	                request is written. Examples: no broker is reachable, the
//	                partition has no leader or does not exist, the login failed,
//	                or a timeout came first. It is not in the log.
//	refused         The broker rejects with this error before it appends (the
//	                table below). It is not in the log.
//	open            All else: timed out or disconnected later, or an ambiguous
//	                answer. It may be in the log, or still arrive.
//
// A record whose batch had an open attempt is Unknown, whatever came after; otherwise it is Failed. A record that is
// acknowledged after an open attempt is Acked, and may be in the log twice: kafka-go is not idempotent.

// refusals are the errors that a broker returns before it appends anything. They omit UNKNOWN_SERVER_ERROR and
// KAFKA_STORAGE_ERROR, which can come from the append itself, and REQUEST_TIMED_OUT and
// NOT_ENOUGH_REPLICAS_AFTER_APPEND, which come after it.
var refusals = []kafka.Error{
	// The batch's content.
	kafka.MessageSizeTooLarge,
	kafka.RecordListTooLarge,
	kafka.InvalidRecord,
	kafka.InvalidTimestamp,
	kafka.InvalidMessage, // CORRUPT_MESSAGE; checked before the append
	kafka.UnsupportedForMessageFormat,
	kafka.UnsupportedCompressionType,
	kafka.PolicyViolation,
	// The request.
	kafka.InvalidRequiredAcks,
	kafka.UnsupportedVersion,
	kafka.InvalidTopic,
	// The user.
	kafka.TopicAuthorizationFailed,
	kafka.ClusterAuthorizationFailed,
	kafka.SASLAuthenticationFailed,
	// The replicas, which the leader checks before it appends.
	kafka.NotEnoughReplicas,
}

// atOnce are the errors that come before the append, except with acks all: a leader may then append, wait for its
// followers, and lose its leadership.
var atOnce = []kafka.Error{
	kafka.NotLeaderForPartition,
	kafka.UnknownTopicOrPartition,
	kafka.LeaderNotAvailable,
	kafka.FencedLeaderEpoch,
}

// refuses reports whether code means that nothing was appended.
func refuses(code kafka.Error, acks driver.Acks) bool {
	return slices.Contains(refusals, code) || acks != driver.AcksAll && slices.Contains(atOnce, code)
}
