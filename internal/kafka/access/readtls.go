package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"strings"
)

const (
	convertRemedy = "convert it to PKCS12, which keeps the certificates: keytool -importkeystore -srckeystore STORE " +
		"-destkeystore NEW.p12 -deststoretype PKCS12"
	importRemedy = "make one of the authorities' certificates: keytool -importcert -noprompt -file ca.pem -alias ca " +
		"-keystore NEW.p12 -storetype PKCS12"
	pkcs8Remedy = "encrypt it as PKCS #8, and put the certificates behind it again: openssl pkcs8 -topk8 -in KEY.pem -out NEW.pem"
	pemRemedy   = `if a value continues on the next line, end the line with \n\`
)

func (r *reader) tls() *tls.Config {
	config := &tls.Config{}
	config.MinVersion, config.MaxVersion = r.versions()
	config.RootCAs = r.trust()
	config.Certificates = r.identities()
	if !r.checksNames() {
		config.InsecureSkipVerify = true // skips only the host name: verifyChain checks the chain
		config.VerifyConnection = verifyChain(config.RootCAs)
	}
	return config
}

var tlsVersions = map[string]uint16{
	"TLS": tls.VersionTLS13, "TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11,
	"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13,
}

// versions returns the lowest and the highest version of TLS. The highest is 0, Go's own, unless it is below 1.3.
// TLS 1.0 and 1.1 count as switched off, as in Java.
func (r *reader) versions() (lowest, highest uint16) {
	lowest, highest = tls.VersionTLS12, tls.VersionTLS13
	known := func(p property, name string) uint16 {
		version, known := tlsVersions[name]
		switch {
		case !known:
			r.mistake(p, "there is no such protocol", "use TLSv1.2 or TLSv1.3")
			return tls.VersionTLS12
		case version < tls.VersionTLS12:
			return 0
		}
		return version
	}
	enabled, set := r.get(keyTLSVersions)
	if set && !r.faulty(enabled) {
		lowest, highest = math.MaxUint16, 0
		for _, name := range splitList(enabled.value) {
			if version := known(enabled, name); version != 0 {
				lowest, highest = min(lowest, version), max(highest, version)
			}
		}
	}
	most := enabled
	if p, set := r.get(keyTLSProtocol); set && !r.faulty(p) {
		most = p
		highest = min(highest, known(p, p.value))
	}
	if highest < lowest && !r.faulty(most) {
		r.mistake(most, "no version of TLS is left that is safe", "use TLSv1.2 or TLSv1.3")
	}
	if highest == tls.VersionTLS13 {
		highest = 0
	}
	return lowest, highest
}

// store is a trust store or a key store: a file, or PEM text in the properties.
type store struct {
	typeKey, locationKey, passwordKey string
	texts                             []string
}

var (
	trustStore = store{keyTrustType, keyTrustLocation, keyTrustPassword, []string{keyTrustPEM}}
	keyStore   = store{keyStoreType, keyStoreLocation, keyStorePassword, []string{keyStoreChain, keyStoreKey}}
)

// content returns what is in a store, and the property that named it. ok is false if there is none, or a mistake.
// The text of a PEM store in the properties is the texts one after the other.
func (r *reader) content(s store) (content []byte, p property, pem, ok bool) {
	location, inFile := r.get(s.locationKey)
	var text strings.Builder
	var inline property
	for _, key := range s.texts {
		if part, set := r.get(key); set {
			text.WriteString(part.value + "\n")
			inline = part
		}
	}
	pem = r.kind(s, inFile || inline.line > 0)
	switch {
	case inFile && inline.line > 0:
		r.mistake(inline, s.locationKey+" is set as well", "remove one of the two")
	case r.faulty(location), r.faulty(inline), r.faulty(r.settings[s.typeKey]):
	case inFile:
		content, err := r.readFile(location.value)
		if err != nil {
			r.mistake(location, "the file can't be read: "+err.Error(), "")
			return nil, location, pem, false
		}
		return content, location, pem, r.fits(s, location, content, pem)
	case inline.line > 0 && !pem:
		r.mistake(inline, s.typeKey+" is not PEM", "set "+s.typeKey+"=PEM")
	case inline.line > 0:
		return []byte(text.String()), inline, true, true
	}
	return nil, location, pem, false
}

// kind reports whether the store's type is PEM. Without a type it is JKS, which stands for PKCS12 too.
func (r *reader) kind(s store, used bool) (pem bool) {
	kind, set := r.get(s.typeKey)
	for _, known := range []string{"PEM", "JKS", "PKCS12"} {
		if set && strings.EqualFold(kind.value, known) {
			return known == "PEM"
		}
	}
	if set && used && !r.faulty(kind) {
		r.mistake(kind, "stores of this type are not supported", convertRemedy+"; then set "+s.typeKey+"=PKCS12")
	}
	return false
}

// fits reports whether a file is of the store's type.
func (r *reader) fits(s store, p property, content []byte, pem bool) bool {
	switch is := formatOf(content); {
	case pem && (is == formatJKS || is == formatPKCS12):
		r.mistake(p, "the file is not PEM", "set "+s.typeKey+"="+map[format]string{formatJKS: "JKS", formatPKCS12: "PKCS12"}[is])
	case !pem && is == formatPEM:
		r.mistake(p, "the file is PEM", "set "+s.typeKey+"=PEM")
	case !pem && is == formatUnknown:
		r.mistake(p, "the file is neither JKS nor PKCS12", convertRemedy)
	default:
		return true
	}
	return false
}

// trust returns nil for the authorities of the operating system.
func (r *reader) trust() *x509.CertPool {
	content, p, isPEM, ok := r.content(trustStore)
	password, _ := r.get(keyTrustPassword)
	if !ok {
		return nil
	}
	var found []*x509.Certificate
	var err error
	remedy := pemRemedy
	if isPEM {
		found, err = trusted(string(content))
	} else {
		found, err = trustedOf(content, password.value)
		remedy = importRemedy
	}
	if errors.Is(err, errStorePassword) {
		remedy = "check " + keyTrustPassword
	}
	if err == nil && len(found) == 0 {
		err = errNoCertificate
	}
	if err != nil {
		r.mistake(p, err.Error(), remedy)
		return nil
	}
	pool := x509.NewCertPool()
	for _, certificate := range found {
		pool.AddCert(certificate)
		r.authorities += certificates(certificate.Raw)
	}
	return pool
}

func (r *reader) identities() []tls.Certificate {
	chain, chained := r.get(keyStoreChain)
	key, keyed := r.get(keyStoreKey)
	password, _ := r.get(keyStorePassword)
	keyPassword, _ := r.get(keyPassword)
	switch {
	case chained && !keyed && key.line == 0:
		r.mistake(chain, keyStoreKey+" is not set", "a certificate proves nothing without its private key")
		return nil
	case keyed && !chained && chain.line == 0:
		r.mistake(key, keyStoreChain+" is not set", "a private key needs its certificate")
		return nil
	}
	content, p, isPEM, ok := r.content(keyStore)
	if !ok {
		return nil
	}
	var found []tls.Certificate
	var err error
	if isPEM {
		var one tls.Certificate
		one, err = keyPair(string(content), keyPassword.value)
		found = []tls.Certificate{one}
	} else {
		found, err = identitiesOf(content, password.value, keyPassword.value)
	}
	if err != nil {
		r.mistake(p, err.Error(), identityRemedy(err, isPEM))
		return nil
	}
	return found
}

func identityRemedy(err error, isPEM bool) string {
	switch {
	case errors.Is(err, errEncryptedKey), errors.Is(err, errKeyPassword):
		return "check " + keyPassword
	case errors.Is(err, errOldEncryption):
		return pkcs8Remedy
	case errors.Is(err, errStorePassword):
		return "check " + keyStorePassword
	case isPEM:
		return pemRemedy
	}
	return ""
}

// checksNames reads the only setting for which a blank value has a meaning.
func (r *reader) checksNames() bool {
	r.used = append(r.used, keyIdentification)
	p, set := r.settings[keyIdentification]
	if set && p.value != "" && !r.faulty(p) && !strings.EqualFold(p.value, "https") {
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
