//go:build librdkafka && cgo

package librdkafka

import (
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// Errors that end a consumer.
//
// The client retries after nearly every error, but some retries can never succeed. A consumer ends at
//
//   - an error that the client calls fatal;
//   - an error of authorization;
//   - a setting that the broker does not accept;
//   - a batch that can't be read;
//   - a topic that is unknown for unknownTopicPatience.
//
// All other errors go to OnError.

// A new topic may take a moment until all brokers know it.
const unknownTopicPatience = 15 * time.Second

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

// The client reports an unknown topic once and then retries without a message.
type patience struct {
	since time.Time // zero while the topic is known
	err   error
}

func (p *patience) begin(err error) {
	if p.since.IsZero() {
		p.since, p.err = time.Now(), err
	}
}

func (p *patience) end() { *p = patience{} }

func (p *patience) over() error {
	if p.since.IsZero() || time.Since(p.since) <= unknownTopicPatience {
		return nil
	}
	return p.err
}
