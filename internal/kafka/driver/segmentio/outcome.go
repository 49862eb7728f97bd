package segmentio

import (
	"errors"
	"slices"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The outcome of a record without an ack.
//
// The Writer returns only the error of a batch's last attempt. So attempts.go classifies each attempt when it ends:
//
//	never written   The request was not completely encoded, and only a complete
//	                request is written. Examples: no broker is reachable, the
//	                partition has no leader or does not exist, the login failed,
//	                or a timeout came first. The batch is not in the log.
//	refused         The broker rejects with this error before it appends (the
//	                table below). The batch is not in the log.
//	open            All else: timed out or disconnected later, or an ambiguous
//	                answer. The batch may be in the log, or still arrive.
//
// A record whose batch had an open attempt is Unknown; otherwise it is Failed. A record that is acknowledged after
// an open attempt is Acked, and may be in the log twice: kafka-go is not idempotent.

// refusals are the errors that a broker returns before it appends anything. They omit UNKNOWN_SERVER_ERROR,
// KAFKA_STORAGE_ERROR, REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS_AFTER_APPEND, which a broker can
// return during or after the append.
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

// With acks all, a leader may append before it returns these errors: it appends, waits for its
// followers, and loses its leadership.
var atOnce = []kafka.Error{
	kafka.NotLeaderForPartition,
	kafka.UnknownTopicOrPartition,
	kafka.LeaderNotAvailable,
	kafka.FencedLeaderEpoch,
}

func refuses(code kafka.Error, acks driver.Acks) bool {
	return slices.Contains(refusals, code) || acks != driver.AcksAll && slices.Contains(atOnce, code)
}

// code returns 0 if no broker's code is in err.
func code(err error) int16 {
	var known kafka.Error
	if errors.As(err, &known) {
		return int16(known)
	}
	return 0
}
