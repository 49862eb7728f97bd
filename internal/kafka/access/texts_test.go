package access_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

func TestPEM(t *testing.T) {
	authority := accesstest.NewAuthority(t)
	settings := append(authority.Trust(t), authority.Identity(t, "client")...)
	text, err := accesstest.Access(t, append(settings, "security.protocol=SSL")...).PEM()
	if err != nil {
		t.Fatal(err)
	}
	if text.Authorities != authority.PEM || text.AnyName {
		t.Errorf("the authorities are %q, any name is taken: %t", text.Authorities, text.AnyName)
	}
	if _, err := tls.X509KeyPair([]byte(text.Chain), []byte(string(text.Key))); err != nil {
		t.Errorf("certificate and key do not belong together: %v", err)
	}
	if printed := fmt.Sprintf("%v %+v", text, text); strings.Contains(printed, "PRIVATE KEY") {
		t.Error("the key is printed")
	}
	text, err = accesstest.Access(t, "security.protocol=SSL", "ssl.endpoint.identification.algorithm=").PEM()
	if err != nil || text.Authorities != "" || text.Chain != "" || !text.AnyName {
		t.Errorf("without stores: %v, %v; want any name alone", text, err)
	}
}

func TestPEMOfNothing(t *testing.T) {
	if _, err := (access.Access{TLS: &tls.Config{RootCAs: x509.NewCertPool()}}).PEM(); err == nil {
		t.Error("a pool was written down")
	}
	if text, err := (access.Access{}).PEM(); err != nil || text != (access.PEM{}) {
		t.Errorf("plain text: %v, %v", text, err)
	}
}
