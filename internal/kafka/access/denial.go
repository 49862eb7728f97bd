package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Denial is why a client could not connect to a broker.
type Denial struct {
	Reason string
	Remedy string
	// Answered reports whether the broker rejected the client. Otherwise the two did not agree on a protocol.
	Answered bool
	// Cause adds detail; nil if the client's own error would only be a guess.
	Cause error
}

const (
	protocolRemedy = "set " + keyProtocol +
		" in the file that --command-config names to the protocol of the broker's listener"
	plainRemedy  = protocolRemedy + " (PLAINTEXT or SASL_PLAINTEXT), or name its TLS port"
	tlsRemedy    = protocolRemedy + " (SSL or SASL_SSL), or name its plaintext port"
	saslRemedy   = protocolRemedy + " (SASL_SSL), or " + storesRemedy
	userRemedy   = "check username and password in " + keyJAAS + ", and that the user exists for this " + keyMechanism
	storesRemedy = "name a certificate that the broker trusts with " + keyStoreLocation
)

// Explain returns why a client with this access was rejected; nil if err has another cause.
func (a Access) Explain(err error) *Denial {
	var handshake *HandshakeError
	var first *kgo.ErrFirstReadEOF
	var remote *net.OpError
	var token *TokenError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &token):
		return &Denial{Reason: "there is no token to log in with: " + token.Reason, Remedy: token.Remedy}
	case errors.As(err, &remote) && remote.Op == "remote error":
		return refusedTLS(remote)
	case errors.As(err, &handshake):
		return explainHandshake(handshake.Err)
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return a.refusedLogin(err)
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return &Denial{Reason: "the broker does not offer this " + keyMechanism,
			Remedy: "set another one in the file that --command-config names", Answered: true}
	case errors.Is(err, kerr.IllegalSaslState):
		return &Denial{Reason: "the broker's listener does not use SASL",
			Remedy: protocolRemedy + " (PLAINTEXT or SSL), or name its SASL port", Answered: true}
	case isAlert(err):
		return &Denial{Reason: "the broker answered in TLS, and the client spoke plain text", Remedy: tlsRemedy}
	case errors.As(err, &first), isCutOff(err):
		return a.explainCutOff(err)
	}
	return nil
}

func (a Access) refusedLogin(err error) *Denial {
	what := "user name and password"
	switch {
	case a.SASL != nil && a.SASL.Tokens != nil:
		what = "token"
	case a.SASL != nil && a.SASL.Kerberos != nil:
		what = "ticket"
	}
	return &Denial{Reason: "the broker did not accept the " + what, Remedy: a.loginRemedy(), Answered: true,
		Cause: brokersWords(err)}
}

func (a Access) loginRemedy() string {
	switch {
	case a.SASL == nil:
		return userRemedy
	case a.SASL.Mechanism == MechanismAWS:
		return awsRemedy + ", and that its policy allows kafka-cluster:Connect"
	case a.SASL.Mechanism == MechanismToken:
		return "check scope, audience and issuer of the token with those that the broker expects"
	case a.SASL.Mechanism == MechanismKerberos:
		return "check " + keyService + ", and that the clocks agree"
	}
	return userRemedy
}

func explainHandshake(err error) *Denial {
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var certificate *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &authority):
		return &Denial{Reason: "the broker's certificate is not signed by an authority that is trusted here",
			Remedy: "put the authority's certificate into the store of " + keyTrustLocation}
	case errors.As(err, &name):
		return &Denial{
			Reason: "the broker's certificate is for another host name", Cause: name,
			Remedy: "name the broker as its certificate does, or switch the check off with an empty " +
				keyIdentification,
		}
	case errors.As(err, &invalid), errors.As(err, &certificate):
		return &Denial{Reason: "the broker's certificate is not valid", Cause: err,
			Remedy: "give the broker a valid certificate, and check the clock of this machine"}
	case errors.As(err, &record), isCutOff(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err,
		os.ErrDeadlineExceeded):
		return &Denial{Reason: "the broker does not speak TLS on this port", Remedy: plainRemedy}
	}
	return &Denial{Reason: "the TLS handshake failed", Cause: err,
		Remedy: "check that client and broker share a TLS version and a cipher suite"}
}

func refusedTLS(alert *net.OpError) *Denial {
	if strings.Contains(alert.Err.Error(), "certificate") {
		return &Denial{Reason: "the broker rejected the client's certificate, or the client has none", Cause: alert.Err,
			Remedy: storesRemedy, Answered: true}
	}
	return &Denial{Reason: "the broker refused TLS", Cause: alert.Err,
		Remedy: "check that client and broker share a TLS version and a cipher suite", Answered: true}
}

func (a Access) explainCutOff(err error) *Denial {
	var first *kgo.ErrFirstReadEOF
	switch {
	case a.SASL == nil && a.TLS != nil:
		return &Denial{Reason: "the broker closed the connection; it may require SASL or a client certificate", Remedy: saslRemedy}
	case a.SASL == nil:
		return &Denial{Reason: "the broker closed the connection; it may require TLS or SASL",
			Remedy: "give --command-config a file with the " + keyProtocol + " of the broker's listener"}
	case errors.As(err, &first) && a.TLS == nil:
		return &Denial{Reason: "the broker closed the connection; it may require TLS", Remedy: tlsRemedy}
	default:
		return &Denial{Reason: "the broker closed the connection while the client logged in", Remedy: a.loginRemedy(),
			Answered: true}
	}
}

func isCutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// isAlert reports whether the client read a TLS alert as a response's length; franz-go has no error
// type for this.
func isAlert(err error) bool { return strings.Contains(err.Error(), "appear to be a tls alert record") }

// brokersWords returns nil if the broker sent only an error code.
func brokersWords(err error) error {
	_, words, said := strings.Cut(err.Error(), kerr.SaslAuthenticationFailed.Error()+": ")
	if !said {
		return nil
	}
	return errors.New(words)
}
