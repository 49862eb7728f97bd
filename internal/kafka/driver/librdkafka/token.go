//go:build librdkafka && cgo

package librdkafka

import (
	"cmp"
	"context"
	"sync"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// refresher gives a client tokens when it asks for them (kafka.OAuthBearerTokenRefresh).
type refresher struct {
	client tokenTaker
	tokens *access.Tokens
	broker string

	mu       sync.Mutex      // no refresh begins after fetching has ended
	fetching context.Context //nolint:containedctx // ends when the client is closed
	stop     context.CancelFunc
	running  sync.WaitGroup
}

type tokenTaker interface {
	SetOAuthBearerToken(token kafka.OAuthBearerToken) error
	SetOAuthBearerTokenFailure(reason string) error
}

func newRefresher(client tokenTaker, a access.Access, brokers []string) *refresher {
	r := &refresher{client: client, broker: brokers[0]}
	if a.SASL != nil {
		r.tokens = a.SASL.Tokens
	}
	r.fetching, r.stop = context.WithCancel(context.Background())
	return r
}

// refresh does not wait for the token, so that delivery reports and polls go on.
func (r *refresher) refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tokens == nil || r.fetching.Err() != nil {
		return
	}
	r.running.Go(func() {
		token, err := r.tokens.Token(r.fetching, r.broker)
		if err == nil {
			err = r.client.SetOAuthBearerToken(kafka.OAuthBearerToken{
				TokenValue: string(token.Text), Expiration: token.Expires,
				Principal: cmp.Or(token.Principal, "unknown"), Extensions: token.Extensions,
			})
		}
		if err != nil {
			_ = r.client.SetOAuthBearerTokenFailure(err.Error()) // the client asks again after 10 s
		}
	})
}

// close waits until no refresh uses the client. A later one does nothing.
func (r *refresher) close() {
	r.mu.Lock()
	r.stop()
	r.mu.Unlock()
	r.running.Wait()
}
