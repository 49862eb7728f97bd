package sarama

import (
	"errors"
	"slices"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// The outcome of a record without an ack.
//
// The client returns the error of the last attempt, which does not say whether an earlier attempt may have reached
// the log. So the driver also uses the client's traffic since it got the record. In this order:
//
//	nothing sent      The client has not begun to write a produce request since
//	                  it got the record: Failed, whatever the error.
//	client refused    The client rejected the record (larger than a batch may
//	                  be, no such partition): Failed.
//	broker refused    The broker rejects with this error before it appends (the
//	                  table below): Failed, unless a request went unanswered
//	                  meanwhile, which may have contained the record.
//	all else          Unknown.
//
// The client has one batch of a partition in flight at a time, so an answer is never about another batch. One case
// is invisible: an ambiguous answer (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND) and then a refusal of the
// retry.

// refusals are the errors that a broker returns before it appends anything. An error that the client retries is
// among them only if it shows that no earlier attempt was appended; NOT_LEADER_FOR_PARTITION does
// not show that.
var refusals = []ibm.KError{
	// The batch's content: a retry of the same bytes gets the same answer.
	ibm.ErrMessageSizeTooLarge,
	ibm.ErrMessageSetSizeTooLarge,
	ibm.ErrInvalidMessage, // the checksum
	ibm.ErrInvalidMessageSize,
	ibm.ErrInvalidTimestamp,
	ibm.ErrInvalidRecord,
	ibm.ErrUnsupportedForMessageFormat,
	ibm.ErrUnsupportedCompressionType,
	ibm.ErrPolicyViolation,
	// The request.
	ibm.ErrInvalidRequiredAcks,
	ibm.ErrUnsupportedVersion,
	ibm.ErrInvalidTopic,
	// The user; checked before anything else.
	ibm.ErrTopicAuthorizationFailed,
	ibm.ErrClusterAuthorizationFailed,
	ibm.ErrSASLAuthenticationFailed,
	// The topic does not exist, so there is no log.
	ibm.ErrUnknownTopicOrPartition,
}

// during is the client's traffic since it got the record.
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

func refusedByClient(err error) bool {
	var config ibm.ConfigurationError // "attempt to produce message larger than …"
	return errors.As(err, &config) || errors.Is(err, ibm.ErrInvalidPartition)
}

func refusedByBroker(err error) bool {
	return slices.ContainsFunc(refusals, func(refusal ibm.KError) bool { return errors.Is(err, refusal) })
}

// code returns 0 if no broker's code is in err.
func code(err error) int16 {
	var known ibm.KError
	if errors.As(err, &known) {
		return int16(known)
	}
	return 0
}
