package segmentio

import (
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// Which errors end a consumer.
//
// The client tries again after every error, also where that cannot succeed. Those that
// do not pass end the consumer: what the client may not do, what the broker or the
// group does not accept, and a topic that stays unknown. Everything else is reported
// and passes. A topic that is deleted under a Reader is not noticed: the client waits
// for it to come back, without a word.

// unknownTopicPatience is how long a topic may be unknown: a new one may take a moment
// until all brokers know it.
const unknownTopicPatience = 15 * time.Second

// dead are Kafka's answers that no retry will change.
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

// ends tells whether the consumer is of no more use after err. The caller holds the
// lock.
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
