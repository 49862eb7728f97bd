package sarama

import (
	"errors"
	"slices"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// What became of a record that was not acknowledged.
//
// The client gives the error of the last attempt, which does not say whether an
// attempt before it may have reached the log. So it is read together with what
// crossed the wire while the client had the record. In order:
//
//	nothing left      No produce request of this client began to leave it since
//	                  the record was handed over: Failed, whatever the error.
//	client refused    The client itself did not take the record (larger than a
//	                  batch may be, no such partition): Failed.
//	broker refused    The answer was one that a broker gives before it appends
//	                  (the table below): Failed, unless a request went unanswered
//	                  meanwhile, which may have carried the record.
//	all else          Unknown.
//
// The client has one batch of a partition in flight at a time, so an answer never
// speaks for another batch than its own. One case remains that cannot be seen: an
// answer that leaves it open (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND),
// followed on the retry by a refusal. The client reports the refusal alone.

// refusals are the answers that a broker gives before it appends anything. Those
// that the client retries are in it only where no retry can have been appended
// without the last one being so, too: NOT_LEADER_FOR_PARTITION and its like are not.
var refusals = []ibm.KError{
	// What is in the batch; a retry of the same bytes meets the same answer.
	ibm.ErrMessageSizeTooLarge,
	ibm.ErrMessageSetSizeTooLarge,
	ibm.ErrInvalidMessage, // the checksum
	ibm.ErrInvalidMessageSize,
	ibm.ErrInvalidTimestamp,
	ibm.ErrInvalidRecord,
	ibm.ErrUnsupportedForMessageFormat,
	ibm.ErrUnsupportedCompressionType,
	ibm.ErrPolicyViolation,
	// What is asked for.
	ibm.ErrInvalidRequiredAcks,
	ibm.ErrUnsupportedVersion,
	ibm.ErrInvalidTopic,
	// Who asks; checked before anything else.
	ibm.ErrTopicAuthorizationFailed,
	ibm.ErrClusterAuthorizationFailed,
	ibm.ErrSASLAuthenticationFailed,
	// There is no such topic, hence no log.
	ibm.ErrUnknownTopicOrPartition,
}

// outcome decides what became of a record that ended with err. during is the
// client's traffic while it had the record.
func outcome(err error, during meter.Traffic) driver.Outcome {
	switch {
	case during.Began == 0:
		return driver.Failed
	case refusedByClient(err):
		return driver.Failed
	case refusedByBroker(err) && during.Unanswered == 0:
		return driver.Failed
	default:
		return driver.Unknown
	}
}

// refusedByClient tells an error that the client raises for a record before it puts
// it into a batch.
func refusedByClient(err error) bool {
	var config ibm.ConfigurationError // "attempt to produce message larger than …"
	return errors.As(err, &config) || errors.Is(err, ibm.ErrInvalidPartition)
}

func refusedByBroker(err error) bool {
	return slices.ContainsFunc(refusals, func(refusal ibm.KError) bool { return errors.Is(err, refusal) })
}
