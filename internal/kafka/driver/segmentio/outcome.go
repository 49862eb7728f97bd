package segmentio

import (
	"slices"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// What became of a record that was not acknowledged.
//
// The Writer gives one error for a batch, that of its last attempt, after it has made
// up to so many attempts without a word. So the error alone does not decide; each
// attempt is looked at as it ends (attempts.go), and is one of three:
//
//	never written   The request was not encoded to its end, and a request is written
//	                only after that: a broker that cannot be reached, a partition
//	                without a leader or that there is not, a login that failed, a
//	                timeout before that. It is not in the log.
//	refused         The answer was one that a broker gives before it appends (the
//	                table below). It is not in the log.
//	open            All else: timed out or cut off after that, or an answer that
//	                leaves it open. It may be in the log, or still be on its way.
//
// A record whose batch had one open attempt is Unknown, whatever came after; without
// one it is Failed. A record that is acknowledged after an open attempt is Acked, and
// may be in the log twice: kafka-go is not idempotent.

// refusals are the answers that a broker gives before it appends anything.
//
// Those that are left out, and why: UNKNOWN_SERVER_ERROR and KAFKA_STORAGE_ERROR can
// come out of the append itself. REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS_AFTER_APPEND
// come after it.
var refusals = []kafka.Error{
	// What is in the batch.
	kafka.MessageSizeTooLarge,
	kafka.RecordListTooLarge,
	kafka.InvalidRecord,
	kafka.InvalidTimestamp,
	kafka.InvalidMessage, // CORRUPT_MESSAGE; checked before the append
	kafka.UnsupportedForMessageFormat,
	kafka.UnsupportedCompressionType,
	kafka.PolicyViolation,
	// What is asked for.
	kafka.InvalidRequiredAcks,
	kafka.UnsupportedVersion,
	kafka.InvalidTopic,
	// Who asks.
	kafka.TopicAuthorizationFailed,
	kafka.ClusterAuthorizationFailed,
	kafka.SASLAuthenticationFailed,
	// The replicas, as the leader sees them before it appends.
	kafka.NotEnoughReplicas,
}

// atOnce are the answers that come before the append where the leader answers as soon
// as it has appended. At acks all they also come to a leader that has appended, waits
// for its followers, and is not the leader any more.
var atOnce = []kafka.Error{
	kafka.NotLeaderForPartition,
	kafka.UnknownTopicOrPartition,
	kafka.LeaderNotAvailable,
	kafka.FencedLeaderEpoch,
}

// refuses tells whether code says that nothing was appended.
func refuses(code kafka.Error, acks driver.Acks) bool {
	return slices.Contains(refusals, code) || acks != driver.AcksAll && slices.Contains(atOnce, code)
}
