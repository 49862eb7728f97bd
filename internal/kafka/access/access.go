// Package access reads how a client connects to a Kafka cluster: TLS and credentials, from Kafka's client
// properties file. That is the file that Kafka's own tools take with --command-config.
//
// No error, warning or printed form of this package's types holds a value from the file. A message names the line
// instead.
//
// Files to know: access.go, login.go, read.go, readtls.go, readsasl.go, stores.go, misuse.go (what people write
// instead), denial.go.
package access

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Access is how a client connects to a cluster. The zero value is Kafka's default: plain text without credentials.
type Access struct {
	// TLS configures encryption; nil means plain text. Without a ServerName, each broker must prove the host name
	// that the client dials.
	TLS *tls.Config
	// SASL holds the credentials; nil means that the client does not authenticate.
	SASL *SASL
	// Dial opens each connection, below TLS; nil means net.Dialer. Handover omits it.
	Dial Dial

	// origin is nil if the access was not read from a file.
	origin *origin
	// variables are those of the environment that the file takes.
	variables []string
	// authorities is the PEM text of TLS.RootCAs: an x509.CertPool can't return it.
	authorities string
}

// SASL holds a user's credentials.
type SASL struct {
	Mechanism string // one of the Mechanism constants
	Username  string // with PLAIN and SCRAM
	Password  Secret
	Tokens    *Tokens   // with OAUTHBEARER and AWS_MSK_IAM; nil otherwise
	Kerberos  *Kerberos // with GSSAPI; nil otherwise
}

// The SASL mechanisms, as Kafka names them (client setting "sasl.mechanism").
const (
	MechanismPlain    = "PLAIN"
	MechanismScram256 = "SCRAM-SHA-256"
	MechanismScram512 = "SCRAM-SHA-512"
	MechanismToken    = "OAUTHBEARER"
	MechanismAWS      = "AWS_MSK_IAM" // on the wire it is OAUTHBEARER, which MSK offers on the same port
	MechanismKerberos = "GSSAPI"
)

// The security protocols, as Kafka names them (client setting "security.protocol").
const (
	ProtocolPlaintext     = "PLAINTEXT"
	ProtocolTLS           = "SSL"
	ProtocolSASLPlaintext = "SASL_PLAINTEXT"
	ProtocolSASLTLS       = "SASL_SSL"
)

// Secret is text that is never printed or written: package fmt and text encoders show a mask.
type Secret string

const mask = "(hidden)"

// Format writes the mask, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// MarshalText returns the mask.
func (Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// HideUser returns a URL for messages, with a mask in the place of its user and password.
func HideUser(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	scheme, rest, found := strings.Cut(address, "://")
	if !found || strings.Contains(scheme, "@") {
		return mask + address[at:]
	}
	return scheme + "://" + mask + rest[strings.LastIndexByte(rest, '@'):]
}

// String describes the access without its secrets: "SASL_SSL (SCRAM-SHA-512)".
func (a Access) String() string {
	if a.SASL == nil {
		return a.Protocol()
	}
	return fmt.Sprintf("%s (%s)", a.Protocol(), a.SASL.Mechanism)
}

// Format writes what String returns: fmt would print the private keys of the TLS configuration.
func (a Access) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// MarshalText returns what String returns.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// LimitsTLS reports whether the access excludes TLS 1.2 or TLS 1.3, which clients use by default.
func (a Access) LimitsTLS() bool {
	return a.TLS != nil && (a.TLS.MinVersion == tls.VersionTLS13 || a.TLS.MaxVersion == tls.VersionTLS12)
}

// Protocol returns one of the Protocol constants.
func (a Access) Protocol() string {
	switch {
	case a.TLS == nil && a.SASL == nil:
		return ProtocolPlaintext
	case a.SASL == nil:
		return ProtocolTLS
	case a.TLS == nil:
		return ProtocolSASLPlaintext
	default:
		return ProtocolSASLTLS
	}
}

// Options returns the client options for this access. A client with its own dialer uses Login and Secure instead.
func (a Access) Options() []kgo.Opt {
	options := a.Login()
	if a.TLS != nil || a.Dial != nil {
		options = append(options, kgo.Dialer(a.Secure(a.Dialer(dialTimeout))))
	}
	return options
}

// Dialer returns Dial, or else the DialContext of a net.Dialer with this timeout (0: no timeout).
// It does not add TLS.
func (a Access) Dialer(timeout time.Duration) Dial {
	if a.Dial != nil {
		return a.Dial
	}
	return (&net.Dialer{Timeout: timeout}).DialContext
}

// Dial opens a connection, like net.Dialer's DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// A port that does not speak TLS may never answer the handshake.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 5 * time.Second
)

// Secure adds the TLS handshake to dial, unless the access is plain text. A failed handshake is a *HandshakeError.
func (a Access) Secure(dial Dial) Dial {
	if a.TLS == nil {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		secured, err := a.handshake(ctx, conn, address)
		if err != nil {
			conn.Close()
			return nil, &HandshakeError{Address: address, Err: err}
		}
		return secured, nil
	}
}

func (a Access) handshake(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	config := a.TLS.Clone()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config.ServerName = host
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	secured := tls.Client(conn, config)
	return secured, secured.HandshakeContext(ctx)
}

// HandshakeError is a TLS handshake that failed.
type HandshakeError struct {
	Address string // host:port
	Err     error
}

// Error names the address.
func (e *HandshakeError) Error() string {
	return "TLS handshake with " + e.Address + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }
