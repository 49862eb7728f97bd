package segmentio

import (
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// Errors that end a consumer.
//
// The client retries after every error, but some retries can never succeed. A consumer ends at errors of
// authorization and of settings that the broker or the group does not accept, and at a topic that stays unknown.
// All other errors go to OnError. A topic that is deleted under a Reader is not noticed: the client waits for it
// without a message.

// A new topic may take a moment until all brokers know it.
const unknownTopicPatience = 15 * time.Second

var dead = []kafka.Error{
	kafka.TopicAuthorizationFailed,
	kafka.GroupAuthorizationFailed,
	kafka.ClusterAuthorizationFailed,
	kafka.SASLAuthenticationFailed,
	kafka.UnsupportedSASLMechanism,
	kafka.InvalidGroupId,
	kafka.InvalidSessionTimeout,
	kafka.InconsistentGroupProtocol,
	kafka.FencedInstanceID,
	kafka.InvalidTopic,
	kafka.UnsupportedVersion,
	kafka.UnsupportedCompressionType,
}

// The caller of ends holds c.mu.
func (c *consumer) ends(err error) bool {
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		if c.unknownSince.IsZero() {
			c.unknownSince = time.Now()
		}
		return time.Since(c.unknownSince) > unknownTopicPatience
	}
	c.unknownSince = time.Time{}
	var code kafka.Error
	return errors.As(err, &code) && slices.Contains(dead, code)
}
