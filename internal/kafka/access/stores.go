package access

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// format is how a store is written. Java finds it out for JKS and PKCS12, whatever the type says, but not for PEM.
type format int

const (
	formatUnknown format = iota
	formatPEM
	formatJKS
	formatPKCS12
)

func formatOf(content []byte) format {
	switch {
	case bytes.HasPrefix(content, []byte{0xfe, 0xed, 0xfe, 0xed}):
		return formatJKS
	case bytes.HasPrefix(content, []byte{0x30}):
		return formatPKCS12
	case bytes.Contains(content, []byte("-----BEGIN ")):
		return formatPEM
	}
	return formatUnknown
}

// These errors quote nothing of a store, and no alias.
var (
	errStorePassword = errors.New("the password is wrong, or the store is damaged")
	errKeyPassword   = errors.New("the password of the private key is wrong")
	errNotTrusted    = errors.New("it is no trust store of Java: it has other entries than trusted certificates")
)

// trustedOf returns the certificates that a Java client trusts with this store. Like Java, it reads JKS without a
// password.
func trustedOf(content []byte, password string) ([]*x509.Certificate, error) {
	if formatOf(content) == formatPKCS12 {
		found, err := pkcs12.DecodeTrustStore(content, password)
		switch {
		case errors.Is(err, pkcs12.ErrIncorrectPassword), errors.Is(err, pkcs12.ErrDecryption):
			return nil, errStorePassword
		case err != nil:
			return nil, errNotTrusted
		}
		return found, nil
	}
	store, err := loadJKS(content, password)
	if err != nil {
		return nil, err
	}
	var found []*x509.Certificate
	for _, alias := range store.Aliases() {
		var der []byte
		if entry, err := store.GetTrustedCertificateEntry(alias); err == nil {
			der = entry.Certificate.Content
		} else if chain, err := store.GetPrivateKeyEntryCertificateChain(alias); err == nil && len(chain) > 0 {
			der = chain[0].Content
		}
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, errCertificate
		}
		found = append(found, certificate)
	}
	return found, nil
}

func loadJKS(content []byte, password string) (keystore.KeyStore, error) {
	store := keystore.New(keystore.WithOrderedAliases(), keystore.WithCaseExactAliases())
	err := store.Load(bytes.NewReader(content), []byte(password))
	if err != nil && (password != "" || len(store.Aliases()) == 0) {
		return store, errStorePassword
	}
	return store, nil
}

// identitiesOf returns the private keys with their certificates. keyPassword is that of the keys in a JKS store; empty
// means the store's.
func identitiesOf(content []byte, password, keyPassword string) ([]tls.Certificate, error) {
	if formatOf(content) == formatPKCS12 {
		key, leaf, others, err := pkcs12.DecodeChain(content, password)
		switch {
		case errors.Is(err, pkcs12.ErrIncorrectPassword), errors.Is(err, pkcs12.ErrDecryption):
			return nil, errStorePassword
		case err != nil:
			return nil, errors.New("it does not hold one private key with its certificates")
		}
		one, err := identity(key, append([]*x509.Certificate{leaf}, others...))
		return []tls.Certificate{one}, err
	}
	store, err := loadJKS(content, password)
	if err != nil {
		return nil, err
	}
	if keyPassword == "" {
		keyPassword = password
	}
	var found []tls.Certificate
	for _, alias := range store.Aliases() {
		if !store.IsPrivateKeyEntry(alias) {
			continue
		}
		entry, err := store.GetPrivateKeyEntry(alias, []byte(keyPassword))
		if err != nil {
			return nil, errKeyPassword
		}
		one, err := jksIdentity(entry)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	if len(found) == 0 {
		return nil, errNoKey
	}
	return found, nil
}

func jksIdentity(entry keystore.PrivateKeyEntry) (tls.Certificate, error) {
	key, err := x509.ParsePKCS8PrivateKey(entry.PrivateKey)
	if err != nil {
		return tls.Certificate{}, errors.New("its private key can't be parsed")
	}
	var chain []*x509.Certificate
	for _, c := range entry.CertificateChain {
		certificate, err := x509.ParseCertificate(c.Content)
		if err != nil {
			return tls.Certificate{}, errCertificate
		}
		chain = append(chain, certificate)
	}
	return identity(key, chain)
}

// identity puts the certificate of key first, and its issuers after it: a store may hold them in another order.
func identity(key any, certificates []*x509.Certificate) (tls.Certificate, error) {
	signer, able := key.(crypto.Signer)
	if !able {
		return tls.Certificate{}, errors.New("its private key can't sign")
	}
	public, comparable := signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	at := slices.IndexFunc(certificates, func(c *x509.Certificate) bool { return comparable && public.Equal(c.PublicKey) })
	if at < 0 {
		return tls.Certificate{}, errors.New("no certificate in it belongs to its private key")
	}
	pair := tls.Certificate{PrivateKey: key, Leaf: certificates[at]}
	for next := certificates[at]; next != nil; {
		pair.Certificate = append(pair.Certificate, next.Raw)
		certificates = slices.DeleteFunc(certificates, func(c *x509.Certificate) bool { return c == next })
		issuer := slices.IndexFunc(certificates, func(c *x509.Certificate) bool {
			return bytes.Equal(c.RawSubject, next.RawIssuer)
		})
		if issuer < 0 {
			return pair, nil
		}
		next = certificates[issuer]
	}
	return pair, nil
}
