package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
)

const (
	trustRemedy = "export it as PEM, name that, and set " + keyTrustType +
		"=PEM: keytool -list -rfc -keystore STORE > ca.pem"
	storeRemedy = "export it as PEM, name that, and set " + keyStoreType +
		"=PEM: keytool -importkeystore -srckeystore STORE -destkeystore client.p12 -deststoretype PKCS12; " +
		"openssl pkcs12 -in client.p12 -nodes -out client.pem"
	decryptRemedy = "decrypt it into a file that only you can read, and remove " + keyPassword +
		": openssl pkcs8 -in key.pem -out plain.pem"
	pemRemedy = `if a value continues on the next line, end the line with \n\`
)

func (r *reader) tls() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	config.RootCAs = r.trust()
	if pair := r.identity(); pair != nil {
		config.Certificates = []tls.Certificate{*pair}
	}
	if !r.checksNames() {
		config.InsecureSkipVerify = true // skips only the host name: verifyChain checks the chain
		config.VerifyConnection = verifyChain(config.RootCAs)
	}
	return config
}

// trust returns nil for the authorities of the operating system.
func (r *reader) trust() *x509.CertPool {
	location, inFile := r.get(keyTrustLocation)
	inline, here := r.get(keyTrustPEM)
	readable := r.isPEM(keyTrustType, trustRemedy, location, inline)
	if inFile && here {
		r.mistake(inline, keyTrustLocation+" is set as well", "remove one of the two")
		return nil
	}
	if !readable {
		return nil
	}
	switch {
	case inFile:
		text, ok := r.content(location)
		if !ok {
			return nil
		}
		return r.pool(location, text, "")
	case here:
		return r.pool(inline, inline.value, pemRemedy)
	}
	return nil
}

func (r *reader) pool(p property, text, remedy string) *x509.CertPool {
	pool, ders, err := trusted(text)
	if err != nil {
		r.mistake(p, err.Error(), remedy)
	}
	r.authorities = certificates(ders...)
	return pool
}

func (r *reader) identity() *tls.Certificate {
	location, inFile := r.get(keyStoreLocation)
	chain, chained := r.get(keyStoreChain)
	key, keyed := r.get(keyStoreKey)
	readable := r.isPEM(keyStoreType, storeRemedy, location, chain, key)
	r.used = append(r.used, keyPassword)
	if p, set := r.settings[keyPassword]; set && readable {
		r.mistake(p, "encrypted private keys are not supported", decryptRemedy)
		readable = false
	}
	switch {
	case inFile && (chained || keyed):
		r.mistake(location, keyStoreChain+" or "+keyStoreKey+" is set as well", "keep the file or the texts")
	case chained && !keyed && key.line == 0:
		r.mistake(chain, keyStoreKey+" is not set", "a certificate proves nothing without its private key")
	case keyed && !chained && chain.line == 0:
		r.mistake(key, keyStoreChain+" is not set", "a private key needs its certificate")
	case readable && inFile:
		if text, ok := r.content(location); ok {
			return r.pair(location, text, "")
		}
	case readable && chained && keyed:
		return r.pair(key, chain.value+"\n"+key.value, pemRemedy)
	}
	return nil
}

func (r *reader) pair(p property, text, remedy string) *tls.Certificate {
	pair, err := keyPair(text)
	if errors.Is(err, errEncryptedKey) {
		remedy = decryptRemedy
	}
	if err != nil {
		r.mistake(p, err.Error(), remedy)
		return nil
	}
	return &pair
}

func (r *reader) content(p property) (string, bool) {
	content, err := r.readFile(p.value)
	if err != nil {
		r.mistake(p, "the file can't be read: "+err.Error(), "")
		return "", false
	}
	return string(content), true
}

// isPEM rejects stores that only Java can read. If no contents are set, the type does not matter.
func (r *reader) isPEM(typeKey, remedy string, contents ...property) bool {
	kind, set := r.get(typeKey)
	if set && strings.EqualFold(kind.value, "PEM") {
		return true
	}
	for _, p := range contents {
		if p.line == 0 {
			continue
		}
		if set {
			r.mistake(kind, "stores of this type are not supported", remedy)
		} else if kind.line == 0 {
			r.mistake(p, typeKey+" is not set, so it is JKS, which is not supported", remedy)
		}
		return false
	}
	return true
}

// checksNames reads the only setting for which a blank value has a meaning.
func (r *reader) checksNames() bool {
	r.used = append(r.used, keyIdentification)
	p, set := r.settings[keyIdentification]
	if set && p.value != "" && !strings.EqualFold(p.value, "https") {
		r.mistake(p, "there is no such algorithm",
			"leave it out to check the brokers' host names, or leave the value empty to skip the check")
	}
	return !set || p.value != ""
}

// verifyChain checks that an authority in roots signed a broker's certificate, for any host name.
func verifyChain(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range state.PeerCertificates[1:] {
			options.Intermediates.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(options)
		return err
	}
}
