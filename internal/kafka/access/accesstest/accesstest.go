// Package accesstest makes certificate authorities and client properties files for the tests of secured clusters. They
// exist until the test ends.
package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// Authority signs certificates.
type Authority struct {
	// PEM is the authority's own certificate, for a trust store.
	PEM string

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	issued      int64
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of " + t.Name()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{PEM: block("CERTIFICATE", der), certificate: certificate, key: key, issued: 1}
}

// Issue returns a certificate with these host names or addresses, and its private key, both as PEM. A life of 0
// means one hour; a negative one makes an expired certificate.
func (a *Authority) Issue(t testing.TB, life time.Duration, names ...string) (chain, key string) {
	t.Helper()
	if life == 0 {
		life = time.Hour
	}
	a.issued++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.issued), Subject: pkix.Name{CommonName: names[0]},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	private := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", pkcs8)
}

// Server returns the TLS configuration of a broker with these names; none means this machine. If clients is true,
// clients must have a certificate of the authority.
func (a *Authority) Server(t testing.TB, clients bool, names ...string) *tls.Config {
	t.Helper()
	if len(names) == 0 {
		names = []string{"localhost", "127.0.0.1"}
	}
	chain, key := a.Issue(t, 0, names...)
	return a.ServerWith(t, clients, chain, key)
}

// ServerWith is Server with a given certificate.
func (a *Authority) ServerWith(t testing.TB, clients bool, chain, key string) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(chain), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clients {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AddCert(a.certificate)
	}
	return config
}

// File writes a file into a folder of the test and returns its path.
func File(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Login returns the settings by which a user logs in.
func Login(mechanism, user, password string) []string {
	module := "scram.ScramLoginModule"
	if mechanism == access.MechanismPlain {
		module = "plain.PlainLoginModule"
	}
	return []string{
		"sasl.mechanism=" + mechanism,
		"sasl.jaas.config=org.apache.kafka.common.security." + module + ` required username="` + user + `" password="` + password + `";`,
	}
}

// Trust returns the settings by which a client trusts the authority.
func (a *Authority) Trust(t testing.TB) []string {
	t.Helper()
	return []string{"ssl.truststore.type=PEM", "ssl.truststore.location=" + File(t, "ca.pem", a.PEM)}
}

// Identity returns the settings by which a client proves that it is name.
func (a *Authority) Identity(t testing.TB, name string) []string {
	t.Helper()
	chain, key := a.Issue(t, 0, name)
	return []string{"ssl.keystore.type=PEM", "ssl.keystore.location=" + File(t, "client.pem", chain+key)}
}

// Access reads settings as a client properties file that must have no mistake and no warning.
func Access(t testing.TB, settings ...string) access.Access {
	t.Helper()
	a, warnings, err := access.Parse("client.properties", []byte(strings.Join(settings, "\n")))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
