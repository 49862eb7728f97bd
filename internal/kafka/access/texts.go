package access

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
)

// PEM is the TLS side of an access as text, for a client that does not take Go's
// own configuration. All of it is empty where the access is in plain text.
type PEM struct {
	Authorities string // that sign the brokers' certificates; empty: those of the operating system
	Chain       string // the client's certificate; empty where it has none
	Key         Secret // its private key
	AnyName     bool   // a broker need not prove its host name
}

// errNoText says that a pool of authorities was made and not read: it can't be
// written down.
var errNoText = errors.New("only an access that was read from client properties has its authorities as text")

// PEM returns the TLS side of the access as text.
func (a Access) PEM() (PEM, error) {
	if a.TLS == nil {
		return PEM{}, nil
	}
	if a.TLS.RootCAs != nil && a.authorities == "" {
		return PEM{}, errNoText
	}
	text := PEM{Authorities: a.authorities, AnyName: a.TLS.InsecureSkipVerify}
	if len(a.TLS.Certificates) == 0 {
		return text, nil
	}
	pair := a.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return PEM{}, errors.New("the client's private key is of a kind that can't be written down")
	}
	text.Chain = certificates(pair.Certificate...)
	text.Key = Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return text, nil
}

// certificates writes certificates down.
func certificates(ders ...[]byte) string {
	var all strings.Builder
	for _, der := range ders {
		_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: der}) // a builder takes everything
	}
	return all.String()
}
