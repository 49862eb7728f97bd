//go:build librdkafka && cgo && full

package librdkafka

import (
	"testing"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

type closedClient struct{ t *testing.T }

func (c closedClient) SetOAuthBearerToken(kafka.OAuthBearerToken) error {
	c.t.Error("a closed client got a token")
	return nil
}

func (c closedClient) SetOAuthBearerTokenFailure(reason string) error {
	c.t.Errorf("a closed client got the failure %q", reason)
	return nil
}

// A client that is closed may still ask for a token. It gets none, because its handle is destroyed.
func TestNoTokenAfterClose(t *testing.T) {
	a := access.Access{SASL: &access.SASL{Tokens: new(access.Tokens)}}
	r := newRefresher(closedClient{t}, a, []string{"localhost:9092"})
	r.close()
	r.refresh()
	r.running.Wait()
}
