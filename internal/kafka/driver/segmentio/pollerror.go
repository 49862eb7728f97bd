package segmentio

import (
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// Errors that end a consumer.
//
// The client retries after every error, but some retries can never succeed. Errors of authorization end the consumer,
// and errors of a setting that the broker or the group does not accept. A topic that stays unknown ends it too. All
// other errors go to OnError. A topic that is deleted under a Reader is not noticed: the client waits for it without a
// message.

// unknownTopicPatience is how long a topic may be unknown: a new one may take a moment until all brokers know it.
const unknownTopicPatience = 15 * time.Second

// dead are Kafka's errors that no retry can change.
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

// ends reports whether err ends the consumer. The caller holds c.mu.
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
