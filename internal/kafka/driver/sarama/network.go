package sarama

import (
	"context"
	"net"
	"time"

	ibm "github.com/IBM/sarama"
	"github.com/xdg-go/scram"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// network is what lies between a client and its brokers: everything is counted, and
// it can be cut.
type network struct {
	meter  meter.Meter
	line   meter.Line
	access access.Access
	// timeout bounds the opening of a connection.
	timeout time.Duration
}

// Dial is for ibm.Config.Net.Proxy, which is where the client takes a dialer. TLS is
// spoken here and not in the client, so that bytes are counted below it and requests
// above it.
func (n *network) Dial(protocol, address string) (net.Conn, error) {
	dial := n.line.Hang(n.access.Dialer(n.timeout))
	dial = n.meter.Watch(n.access.Secure(n.meter.Count(dial)))
	return dial(context.Background(), protocol, address)
}

// newConfig is the client's configuration as far as producers and consumers share
// it. A backoff ends at once when the network was cut: the client would sleep
// through it before it finds out.
func newConfig(n *network, clientID string, a access.Access) *ibm.Config {
	config := ibm.NewConfig()
	if clientID != "" {
		config.ClientID = clientID
	}
	// Metadata of the one topic, when it is first asked for: so that a client opens
	// without a broker.
	config.Metadata.Full = false
	config.Metadata.AllowAutoTopicCreation = false
	n.access = a
	config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, n
	setLogin(config, a.SASL)
	config.Metadata.Retry.BackoffFunc = func(int, int) time.Duration {
		return n.unlessCut(config.Metadata.Retry.Backoff)
	}
	return config
}

// unlessCut is d, or nothing when there is no more to wait for.
func (n *network) unlessCut(d time.Duration) time.Duration {
	if n.line.IsCut() {
		return 0
	}
	return d
}

// setLogin has the client authenticate itself, if it does.
func setLogin(config *ibm.Config, login *access.SASL) {
	if login == nil {
		return
	}
	sasl := &config.Net.SASL
	sasl.Enable = true
	sasl.Mechanism = ibm.SASLMechanism(login.Mechanism) // both as Kafka names them
	sasl.User, sasl.Password = login.Username, string(login.Password)
	switch login.Mechanism {
	case access.MechanismScram256:
		sasl.SCRAMClientGeneratorFunc = func() ibm.SCRAMClient { return &scramClient{hash: scram.SHA256} }
	case access.MechanismScram512:
		sasl.SCRAMClientGeneratorFunc = func() ibm.SCRAMClient { return &scramClient{hash: scram.SHA512} }
	}
}

// scramClient is one login with SCRAM (RFC 5802), which the client leaves to its
// caller.
type scramClient struct {
	hash         scram.HashGeneratorFcn
	conversation *scram.ClientConversation
}

// Begin starts the conversation.
func (s *scramClient) Begin(user, password, authorization string) error {
	client, err := s.hash.NewClient(user, password, authorization)
	if err != nil {
		return err
	}
	s.conversation = client.NewConversation()
	return nil
}

// Step answers the broker.
func (s *scramClient) Step(challenge string) (string, error) { return s.conversation.Step(challenge) }

// Done tells whether nothing is left to say.
func (s *scramClient) Done() bool { return s.conversation.Done() }
