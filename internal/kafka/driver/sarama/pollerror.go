package sarama

import (
	"errors"
	"slices"

	ibm "github.com/IBM/sarama"
)

// Which errors end a consumer: those after which the client only repeats what cannot
// succeed, and a run that waits for it would wait for nothing. Everything else is
// reported and passes.

// dead are Kafka's answers that no retry will change.
var dead = []ibm.KError{
	ibm.ErrTopicAuthorizationFailed,
	ibm.ErrGroupAuthorizationFailed,
	ibm.ErrClusterAuthorizationFailed,
	ibm.ErrSASLAuthenticationFailed,
	ibm.ErrUnsupportedSASLMechanism,
	ibm.ErrInvalidGroupId,
	ibm.ErrInvalidSessionTimeout,
	ibm.ErrInconsistentGroupProtocol,
	ibm.ErrFencedInstancedId,
	ibm.ErrInvalidTopic,
	ibm.ErrUnsupportedVersion,
	ibm.ErrUnsupportedCompressionType,
}

// isDead tells whether the consumer is of no more use after err.
func isDead(err error) bool {
	var unreadable ibm.PacketDecodingError
	return errors.As(err, &unreadable) ||
		slices.ContainsFunc(dead, func(d ibm.KError) bool { return errors.Is(err, d) })
}
