package access

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
)

// PEM is the TLS part of an access as text, for a client that does not take a tls.Config.
type PEM struct {
	Authorities string // those that sign the brokers' certificates; empty means those of the operating system
	Chain       string // the client's certificate chain; may be empty
	Key         Secret
	AnyName     bool // whether to skip the check of a broker's host name
}

var errNoText = errors.New("only an access that was read from client properties has its authorities as text")

// PEM returns the TLS part of the access as text.
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
		return PEM{}, errors.New("the client's private key can't be written as PKCS #8")
	}
	text.Chain = certificates(pair.Certificate...)
	text.Key = Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return text, nil
}

func certificates(ders ...[]byte) string {
	var all strings.Builder
	for _, der := range ders {
		_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	return all.String()
}
