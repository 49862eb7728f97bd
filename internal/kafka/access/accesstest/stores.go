package accesstest

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"
)

// TrustJKS returns a trust store of Java's own form with the authority's certificate.
func (a *Authority) TrustJKS(t testing.TB, password string) []byte {
	t.Helper()
	store := keystore.New()
	check(t, store.SetTrustedCertificateEntry("ca", keystore.TrustedCertificateEntry{
		CreationTime: time.Now(), Certificate: keystore.Certificate{Type: "X509", Content: a.certificate.Raw},
	}))
	return stored(t, store, password)
}

// TrustPKCS12 is TrustJKS as PKCS12.
func (a *Authority) TrustPKCS12(t testing.TB, password string) []byte {
	t.Helper()
	content, err := pkcs12.Modern2023.EncodeTrustStore([]*x509.Certificate{a.certificate}, password)
	check(t, err)
	return content
}

// KeyJKS returns a key store of Java's own form with a certificate for name, whose key has a password of its own.
func (a *Authority) KeyJKS(t testing.TB, name, password, keyPassword string) []byte {
	t.Helper()
	chain, key := a.Issue(t, 0, name)
	store := keystore.New()
	check(t, store.SetPrivateKeyEntry(name, keystore.PrivateKeyEntry{
		CreationTime: time.Now(), PrivateKey: der(key),
		CertificateChain: []keystore.Certificate{{Type: "X509", Content: der(chain)}, {Type: "X509", Content: a.certificate.Raw}},
	}, []byte(keyPassword)))
	return stored(t, store, password)
}

// KeyPKCS12 is KeyJKS as PKCS12, with one password.
func (a *Authority) KeyPKCS12(t testing.TB, name, password string) []byte {
	t.Helper()
	chain, key := a.Issue(t, 0, name)
	private, err := x509.ParsePKCS8PrivateKey(der(key))
	check(t, err)
	leaf, err := x509.ParseCertificate(der(chain))
	check(t, err)
	content, err := pkcs12.Modern2023.Encode(private, leaf, []*x509.Certificate{a.certificate}, password)
	check(t, err)
	return content
}

// Encrypted returns a private key, PEM, encrypted as PKCS #8.
func Encrypted(t testing.TB, key, password string) string {
	t.Helper()
	private, err := x509.ParsePKCS8PrivateKey(der(key))
	check(t, err)
	content, err := pkcs8.MarshalPrivateKey(private, []byte(password), pkcs8.DefaultOpts)
	check(t, err)
	return block("ENCRYPTED PRIVATE KEY", content)
}

func stored(t testing.TB, store keystore.KeyStore, password string) []byte {
	t.Helper()
	var content bytes.Buffer
	check(t, store.Store(&content, []byte(password)))
	return content.Bytes()
}

func der(text string) []byte {
	first, _ := pem.Decode([]byte(text))
	return first.Bytes
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
