package sarama

import (
	"cmp"
	"context"
	"net"
	"time"

	ibm "github.com/IBM/sarama"
	"github.com/xdg-go/scram"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

type network struct {
	meter   meter.Meter
	answers *meter.Answers // nil if none are read
	line    meter.Line
	access  access.Access
	timeout time.Duration
}

// Dial does TLS itself, so that bytes are counted below TLS and requests above it.
func (n *network) Dial(protocol, address string) (net.Conn, error) {
	dial := n.line.Hang(n.access.Dialer(n.timeout))
	dial = n.meter.Watch(n.access.Secure(n.meter.Count(dial)))
	if n.answers != nil {
		dial = n.answers.Watch(dial)
	}
	return dial(context.Background(), protocol, address)
}

// After a cut a backoff is 0, because the client would otherwise sleep before it notices the cut.
func newConfig(n *network, brokers []string, clientID string, a access.Access) *ibm.Config {
	config := ibm.NewConfig()
	if clientID != "" {
		config.ClientID = clientID
	}
	// The client reads metadata of its one topic only, at first use, so that it opens without a broker.
	config.Metadata.Full = false
	config.Metadata.AllowAutoTopicCreation = false
	n.access = a
	config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, n
	setLogin(config, a.SASL, brokers)
	config.Metadata.Retry.BackoffFunc = func(int, int) time.Duration {
		return n.unlessCut(config.Metadata.Retry.Backoff)
	}
	return config
}

func (n *network) unlessCut(d time.Duration) time.Duration {
	if n.line.IsCut() {
		return 0
	}
	return d
}

func setLogin(config *ibm.Config, login *access.SASL, brokers []string) {
	if login == nil {
		return
	}
	sasl := &config.Net.SASL
	sasl.Enable = true
	sasl.Mechanism = ibm.SASLMechanism(login.Mechanism)
	sasl.User, sasl.Password = login.Username, string(login.Password)
	switch login.Mechanism {
	case access.MechanismScram256:
		sasl.SCRAMClientGeneratorFunc = func() ibm.SCRAMClient { return &scramClient{hash: scram.SHA256} }
	case access.MechanismScram512:
		sasl.SCRAMClientGeneratorFunc = func() ibm.SCRAMClient { return &scramClient{hash: scram.SHA512} }
	case access.MechanismToken, access.MechanismAWS:
		sasl.Mechanism, sasl.TokenProvider = ibm.SASLTypeOAuth, tokens{login.Tokens, brokers[0]}
	case access.MechanismKerberos:
		setKerberos(&sasl.GSSAPI, login.Kerberos)
	}
}

func setKerberos(config *ibm.GSSAPIConfig, k *access.Kerberos) {
	*config = ibm.GSSAPIConfig{
		AuthType: ibm.KRB5_CCACHE_AUTH, CCachePath: k.Cache, KeyTabPath: k.KeyTab, KerberosConfigPath: k.Config,
		ServiceName: k.Service, Username: cmp.Or(k.User, "of the cache"), Realm: cmp.Or(k.DefaultRealm(), "of the cache"),
		DisablePAFXFAST: true,
	}
	if k.KeyTab != "" {
		config.AuthType = ibm.KRB5_KEYTAB_AUTH
	}
}

// tokens asks for tokens in the client's way, which names no broker.
type tokens struct {
	source *access.Tokens
	broker string
}

func (t tokens) Token() (*ibm.AccessToken, error) {
	token, err := t.source.Token(context.Background(), t.broker)
	if err != nil {
		return nil, err
	}
	return &ibm.AccessToken{Token: string(token.Text), Extensions: token.Extensions}, nil
}

// scramClient is one SCRAM login (RFC 5802), which the client leaves to its caller.
type scramClient struct {
	hash         scram.HashGeneratorFcn
	conversation *scram.ClientConversation
}

func (s *scramClient) Begin(user, password, authorization string) error {
	client, err := s.hash.NewClient(user, password, authorization)
	if err != nil {
		return err
	}
	s.conversation = client.NewConversation()
	return nil
}

func (s *scramClient) Step(challenge string) (string, error) { return s.conversation.Step(challenge) }

func (s *scramClient) Done() bool { return s.conversation.Done() }
