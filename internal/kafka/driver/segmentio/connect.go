package segmentio

import (
	"fmt"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

func dialer(dial meter.Dial, m *meter.Meter, a access.Access) meter.Dial {
	return m.Watch(a.Secure(m.Count(dial)))
}

// login returns nil without credentials.
func login(a access.Access) (sasl.Mechanism, error) {
	if a.SASL == nil {
		return nil, nil //nolint:nilnil // the client's own word for no login
	}
	user, password := a.SASL.Username, string(a.SASL.Password)
	algorithm := scram.SHA512
	switch a.SASL.Mechanism {
	case access.MechanismPlain:
		return plain.Mechanism{Username: user, Password: password}, nil
	case access.MechanismScram256:
		algorithm = scram.SHA256
	}
	mechanism, err := scram.Mechanism(algorithm, user, password)
	if err != nil { // the library's error may quote a secret
		return nil, fmt.Errorf("%w: the user name or the password cannot be used with %s", driver.ErrConfig,
			a.SASL.Mechanism)
	}
	return mechanism, nil
}
