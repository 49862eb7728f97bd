//go:build librdkafka && cgo

package librdkafka

import (
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// Which errors end a consumer.
//
// The client goes on by itself after nearly every error, but after some of them
// it only repeats what cannot succeed, and a run that waits for it would wait
// for nothing. Those end the consumer: what the client calls fatal, what the
// broker does not allow or does not accept, a batch that cannot be read, and a
// topic that is still unknown after unknownTopicPatience. Everything else is
// reported and passes.

// unknownTopicPatience is how long a topic may be unknown: a new one may take a
// moment until all brokers know it.
const unknownTopicPatience = 15 * time.Second

// dead are the errors that no retry will change.
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
	kafka.ErrUnsupportedFeature:         true, // of the client, for one: the group protocol
	kafka.ErrUnknownTopicID:             true,
	kafka.ErrUnsupportedCompressionType: true,
	kafka.ErrBadMsg:                     true,
	kafka.ErrBadCompression:             true,
}

// ends tells whether a consumer is of no more use after err.
func ends(err kafka.Error) bool { return err.IsFatal() || dead[err.Code()] }

// patience follows a topic that is unknown. The client says so once and goes on
// looking for it in silence.
type patience struct {
	since time.Time // zero while the topic is known
	err   error     // what the client said
}

// begin starts to wait for the topic, unless that has begun.
func (p *patience) begin(err error) {
	if p.since.IsZero() {
		p.since, p.err = time.Now(), err
	}
}

// end is called when the topic is known.
func (p *patience) end() { *p = patience{} }

// over returns the error once the wait was long enough.
func (p *patience) over() error {
	if p.since.IsZero() || time.Since(p.since) <= unknownTopicPatience {
		return nil
	}
	return p.err
}
