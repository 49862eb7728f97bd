package franz

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Errors that end a consumer.
//
// The client retries after nearly every error, but some retries can never succeed. These errors end the consumer:
//
//	rights              authorization and authentication
//	settings            a group ID, session timeout, assignor or protocol that the
//	                    broker or the group does not accept
//	topic               deleted or recreated, or still unknown after
//	                    unknownTopicPatience
//	batch               does not parse or decompress
//	client              closed
//
// All other errors go to OnError.

const unknownTopicPatience = 15 * time.Second

var dead = []error{
	kerr.TopicAuthorizationFailed,
	kerr.GroupAuthorizationFailed,
	kerr.ClusterAuthorizationFailed,
	kerr.SaslAuthenticationFailed,
	kerr.UnsupportedSaslMechanism,
	kerr.InvalidGroupID,
	kerr.InvalidSessionTimeout,
	kerr.InconsistentGroupProtocol,
	kerr.UnsupportedAssignor,
	kerr.FencedInstanceID,
	kerr.InvalidTopicException,
	kerr.UnsupportedVersion,
	kerr.UnknownTopicID, // the client reports it only when it is certain
	kerr.InconsistentTopicID,
	kerr.UnsupportedCompressionType,
}

type watch struct {
	onError      func(error)
	serverSide   bool // the group protocol is "consumer"
	fellBack     atomic.Bool
	unknownSince time.Time // of the topic; zero while it is known
}

var (
	_ kgo.HookBrokerConnect = (*watch)(nil)
	_ kgo.HookBrokerWrite   = (*watch)(nil)
)

// OnBrokerConnect reports failed connections, which the client only retries.
func (w *watch) OnBrokerConnect(broker kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		w.onError(fmt.Errorf("connect to %s:%d: %w", broker.Host, broker.Port, err))
	}
}

// The client silently joins a classic group if a broker does not support KIP-848.
func (w *watch) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if w.serverSide && key == int16(kmsg.JoinGroup) {
		w.fellBack.Store(true)
	}
}

func (w *watch) failure() error {
	if w.fellBack.Load() {
		return fmt.Errorf("the broker does not offer the group protocol %s (KIP-848, Kafka 4.0 and later); use %s",
			driver.ProtocolConsumer, driver.ProtocolClassic)
	}
	return nil
}

func (w *watch) ends(err error) bool {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		if w.unknownSince.IsZero() {
			w.unknownSince = time.Now()
		}
		return time.Since(w.unknownSince) > unknownTopicPatience
	}
	w.unknownSince = time.Time{}
	if errors.Is(err, kgo.ErrClientClosed) || isDead(err) {
		return true
	}
	return !passes(err)
}

func isDead(err error) bool {
	return slices.ContainsFunc(dead, func(d error) bool { return errors.Is(err, d) })
}

func passes(err error) bool {
	var known *kerr.Error
	var loss *kgo.ErrDataLoss
	var session *kgo.ErrGroupSession
	var network net.Error
	return errors.As(err, &known) ||
		errors.As(err, &loss) ||
		errors.As(err, &session) ||
		errors.As(err, &network) ||
		kgo.IsRetryableBrokerErr(err)
}
