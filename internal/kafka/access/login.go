package access

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/kerberos"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Login returns the option by which a client authenticates; nil without credentials.
func (a Access) Login() []kgo.Opt {
	if a.SASL == nil {
		return nil
	}
	return []kgo.Opt{kgo.SASL(a.SASL.Login())}
}

// Login returns the mechanism that authenticates one connection after the other.
func (s *SASL) Login() sasl.Mechanism {
	user, password := s.Username, string(s.Password)
	switch s.Mechanism {
	case MechanismScram256:
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case MechanismScram512:
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	case MechanismKerberos:
		return kerberos.Kerberos(s.Kerberos.auth)
	case MechanismToken, MechanismAWS:
		return tokenLogin{s.Tokens}
	default:
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	}
}

// tokenLogin asks for a token for each connection, and passes the broker's address on.
type tokenLogin struct{ tokens *Tokens }

func (tokenLogin) Name() string { return MechanismToken }

func (l tokenLogin) Authenticate(ctx context.Context, broker string) (sasl.Session, []byte, error) {
	token, err := l.tokens.Token(ctx, broker)
	if err != nil {
		return nil, nil, err
	}
	return oauth.Auth{Token: string(token.Text), Extensions: token.Extensions}.AsMechanism().Authenticate(ctx, broker)
}
