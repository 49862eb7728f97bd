package kgogate

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The gate may forget a record only if it will never be in the log. A promise gets the error of the
// last attempt, but an earlier attempt may have been written without an answer. So most errors
// leave the fate unknown: timeouts, an ended context, a closed client, and refusals that may come
// and go (a missing topic, an authorization, an old timestamp). A record is certainly not in the
// log only if
//
//	the client refused it   before it was in a batch
//	a broker refused it     for its content, which is the same in every attempt
//
// The second kind assumes that the topic's settings are not tightened between two attempts. It
// applies only if batches are appended in order (an idempotent client, or one request in flight).
// Otherwise the client gives one batch's error also to the batches behind it, which may be in the
// log.

var refusals = []error{
	kerr.MessageTooLarge,
	kerr.RecordListTooLarge,
	kerr.InvalidRecord,
	kerr.InvalidRequiredAcks,
	kerr.InvalidTopicException,
}

// ordered means that batches are appended in order.
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

func appendsInOrder(client *kgo.Client) bool {
	return client.OptValue(kgo.DisableIdempotentWrite) == false ||
		client.OptValue(kgo.MaxProduceRequestsInflightPerBroker) == 1
}
