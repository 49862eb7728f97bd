package segmentio

import (
	"context"
	"net"
	"strconv"

	franz "github.com/twmb/franz-go/pkg/sasl"

	"github.com/segmentio/kafka-go/sasl"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

func dialer(dial meter.Dial, m *meter.Meter, a access.Access) meter.Dial {
	return m.Watch(a.Secure(m.Count(dial)))
}

// login returns nil without credentials.
func login(a access.Access) sasl.Mechanism {
	if a.SASL == nil {
		return nil
	}
	return mechanism{a.SASL.Login()}
}

// mechanism passes an access's login to the client, which has no OAUTHBEARER of its own.
type mechanism struct{ franz.Mechanism }

func (m mechanism) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	broker := sasl.MetadataFromContext(ctx)
	session, first, err := m.Authenticate(ctx, net.JoinHostPort(broker.Host, strconv.Itoa(broker.Port)))
	return conversation{session}, first, err
}

type conversation struct{ franz.Session }

func (c conversation) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	return c.Challenge(challenge)
}
