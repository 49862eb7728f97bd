package kgogate

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What became of a record whose promise got an error.
//
// The gate may forget a record only if it will never be in the log. Most errors
// don't say so: kgo.ErrRecordTimeout, a context that ended and kgo.ErrClientClosed
// are the errors of records that never left the client and of records that were
// written without an answer. So a record is of unknown fate, and counts against
// the bound until the gate's time of doubt has passed, unless its error is one of
// these:
//
//	the client refused it   before it was in a batch
//	a broker refused it     before it appended, for a reason that holds for
//	                        every attempt: what is in the batch, or who asks
//
// The second kind speaks for the record alone only where batches are appended in
// order (an idempotent client, or one request in flight): otherwise the client
// gives one batch's error to the batches behind it, which may be in the log.

// refusals are the answers of the second kind. Answers that the client retries
// (not leader, not enough replicas) are not among them: what is reported in the
// end is not what became of the first attempt.
var refusals = []error{
	kerr.MessageTooLarge,
	kerr.RecordListTooLarge,
	kerr.InvalidRecord,
	kerr.InvalidTimestamp,
	kerr.UnsupportedForMessageFormat,
	kerr.UnsupportedCompressionType,
	kerr.PolicyViolation,
	kerr.InvalidRequiredAcks,
	kerr.UnsupportedVersion,
	kerr.InvalidTopicException,
	kerr.TopicAuthorizationFailed,
	kerr.ClusterAuthorizationFailed,
	// No topic, hence no log.
	kerr.UnknownTopicOrPartition,
	kerr.UnknownTopicID,
}

// neverInLog tells an error of a record that is certainly not in the log and
// never will be. ordered says that batches are appended in order.
func neverInLog(err error, ordered bool) bool {
	if errors.Is(err, kgo.ErrMaxBuffered) {
		return true
	}
	if !ordered {
		return false
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// appendsInOrder tells whether a client's batches for a partition are appended
// one after the other or not at all.
func appendsInOrder(client *kgo.Client) bool {
	return client.OptValue(kgo.DisableIdempotentWrite) == false ||
		client.OptValue(kgo.MaxProduceRequestsInflightPerBroker) == 1
}
