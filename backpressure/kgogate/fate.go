package kgogate

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What became of a record whose promise got an error.
//
// The gate may forget a record only if it will never be in the log. Most errors
// don't say so. A promise gets the error of the last attempt, and an attempt before
// it may have been written without an answer: kgo.ErrRecordTimeout, a context that
// ended and kgo.ErrClientClosed say nothing about that, and no more does a refusal
// for a reason that comes and goes. A topic that is not there may be a broker that has
// not heard of it yet, an authorization may have been revoked between two attempts,
// and a timestamp becomes too old. So a record is of unknown fate, and counts
// against the bound until the gate's time of doubt has passed, unless its error is
// one of these:
//
//	the client refused it   before it was in a batch
//	a broker refused it     for what the batch is, which holds for every attempt
//
// The second kind takes it that nobody tightens the topic's settings, such as
// max.message.bytes, between two attempts of which the first lost its answer. And it
// speaks for the record alone only where batches are appended in order (an
// idempotent client, or one request in flight): otherwise the client gives one
// batch's error to the batches behind it, which may be in the log.

// refusals are the answers of the second kind.
var refusals = []error{
	kerr.MessageTooLarge,
	kerr.RecordListTooLarge,
	kerr.InvalidRecord,
	kerr.InvalidRequiredAcks,
	kerr.InvalidTopicException,
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
