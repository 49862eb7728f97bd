//go:build librdkafka && cgo

package librdkafka

import (
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// Errors that end a consumer.
//
// The client retries after nearly every error, but some retries can never succeed. Errors that the client calls fatal
// end the consumer, and so do errors of authorization and of settings that the broker does not accept. A batch that
// can't be read ends it too, and a topic that is still unknown after unknownTopicPatience. All other errors go to
// OnError.

// unknownTopicPatience is how long a topic may be unknown: a new one may take a moment until all brokers know it.
const unknownTopicPatience = 15 * time.Second

// dead are the errors that no retry can change.
var dead = map[kafka.ErrorCode]bool{
	kafka.ErrTopicAuthorizationFailed:   true,
	kafka.ErrGroupAuthorizationFailed:   true,
	kafka.ErrClusterAuthorizationFailed: true,
	kafka.ErrSaslAuthenticationFailed:   true,
	kafka.ErrUnsupportedSaslMechanism:   true,
	kafka.ErrAuthentication:             true, // the client's own
	kafka.ErrInvalidGroupID:             true,
	kafka.ErrInvalidSessionTimeout:      true,
	kafka.ErrInconsistentGroupProtocol:  true,
	kafka.ErrUnsupportedAssignor:        true,
	kafka.ErrFencedInstanceID:           true,
	kafka.ErrTopicException:             true,
	kafka.ErrUnsupportedVersion:         true,
	kafka.ErrUnsupportedFeature:         true, // of the client, for example the group protocol
	kafka.ErrUnknownTopicID:             true,
	kafka.ErrUnsupportedCompressionType: true,
	kafka.ErrBadMsg:                     true,
	kafka.ErrBadCompression:             true,
}

func ends(err kafka.Error) bool { return err.IsFatal() || dead[err.Code()] }

// patience limits how long a topic may be unknown. The client reports that once and then retries without a message.
type patience struct {
	since time.Time // zero while the topic is known
	err   error     // the client's error
}

// begin starts the wait for the topic, unless it has begun.
func (p *patience) begin(err error) {
	if p.since.IsZero() {
		p.since, p.err = time.Now(), err
	}
}

func (p *patience) end() { *p = patience{} }

// over returns the error after the wait was too long, and otherwise nil.
func (p *patience) over() error {
	if p.since.IsZero() || time.Since(p.since) <= unknownTopicPatience {
		return nil
	}
	return p.err
}
