package sarama

import (
	"errors"
	"slices"

	ibm "github.com/IBM/sarama"
)

// dead are Kafka's errors that no retry can change. All others go to OnError.
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

func isDead(err error) bool {
	var unreadable ibm.PacketDecodingError
	return errors.As(err, &unreadable) ||
		slices.ContainsFunc(dead, func(d ibm.KError) bool { return errors.Is(err, d) })
}
