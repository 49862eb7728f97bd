package access

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

const (
	keyProtocol       = "security.protocol"
	keyMechanism      = "sasl.mechanism"
	keyJAAS           = "sasl.jaas.config"
	keyLoginHandler   = "sasl.login.callback.handler.class"
	keyClientHandler  = "sasl.client.callback.handler.class"
	keyTokenURL       = "sasl.oauthbearer.token.endpoint.url"
	keyTokenRetriever = "sasl.oauthbearer.jwt.retriever.class"
	keyTokenClient    = "sasl.oauthbearer.client.credentials.client.id"
	keyTokenSecret    = "sasl.oauthbearer.client.credentials.client.secret"
	keyTokenScope     = "sasl.oauthbearer.scope"
	keyTokenEncode    = "sasl.oauthbearer.header.urlencode"
	keyService        = "sasl.kerberos.service.name"
	keyTrustType      = "ssl.truststore.type"
	keyTrustLocation  = "ssl.truststore.location"
	keyTrustPassword  = "ssl.truststore.password"
	keyTrustPEM       = "ssl.truststore.certificates"
	keyStoreType      = "ssl.keystore.type"
	keyStoreLocation  = "ssl.keystore.location"
	keyStorePassword  = "ssl.keystore.password"
	keyStoreChain     = "ssl.keystore.certificate.chain"
	keyStoreKey       = "ssl.keystore.key"
	keyPassword       = "ssl.key.password"
	keyIdentification = "ssl.endpoint.identification.algorithm"
	keyTLSProtocol    = "ssl.protocol"
	keyTLSVersions    = "ssl.enabled.protocols"
)

var readKeys = []string{
	keyProtocol, keyMechanism, keyJAAS, keyLoginHandler, keyClientHandler, keyTokenURL, keyTokenRetriever, keyTokenClient,
	keyTokenSecret, keyTokenScope, keyTokenEncode, keyService, keyTrustType, keyTrustLocation, keyTrustPassword, keyTrustPEM,
	keyStoreType, keyStoreLocation, keyStorePassword, keyStoreChain, keyStoreKey, keyPassword, keyIdentification,
	keyTLSProtocol, keyTLSVersions,
}

// otherKeys are settings of Kafka that resemble one of readKeys but are not misspelt.
var otherKeys = []string{"security.providers", "sasl.login.class", "ssl.provider"}

// Messages quote only keys of this form: other text may be part of a secret that continues from the line before.
var keyPattern = regexp.MustCompile(`^([a-z]+(\.[a-z0-9]+)+|acks|retries)$`)

// Read reads the client properties file at path. The warnings name what Read ignored. If the content is wrong, the
// error is a Mistakes.
func Read(path string) (Access, []string, error) {
	content, err := readFile(path)
	if err != nil {
		return Access{}, nil, fmt.Errorf("the client properties file %s can't be read: %w", path, err)
	}
	return Parse(path, content)
}

// Parse is Read for content that was read before; file is its name in messages. It reads the files and the variables
// that the content names.
func Parse(file string, content []byte) (Access, []string, error) {
	return parse(newOrigin(file, content), readFile, os.LookupEnv)
}

// parse keeps what it read in o.
func parse(o *origin, readFile func(string) ([]byte, error), lookUp func(string) (string, bool)) (Access, []string, error) {
	r := &reader{file: o.file, settings: make(map[string]property)}
	r.readFile, r.lookUp = o.keeping(readFile, lookUp)
	all := properties(o.content, func(line int, err error) { r.mistakeAt(line, "", err.Error(), "") })
	for _, p := range r.replaced(all) {
		r.take(p)
	}
	r.checkNames()
	var a Access
	encrypted, authenticated := r.protocol()
	if encrypted {
		a.TLS = r.tls()
		a.authorities = r.authorities
	}
	if authenticated {
		a.SASL = r.sasl()
	}
	a.variables = slices.Sorted(maps.Keys(o.variables))
	r.warn()
	if len(r.mistakes) > 0 {
		return Access{}, r.warnings, r.mistakes.sorted()
	}
	if encrypted || authenticated {
		a.origin = o
	}
	return a, r.warnings, nil
}

type reader struct {
	file        string
	readFile    func(path string) ([]byte, error)
	lookUp      func(variable string) (string, bool)
	settings    map[string]property // those in readKeys
	ignored     []property          // the others
	unnamed     []int               // lines whose key must not be quoted
	used        []string
	authorities string
	mistakes    Mistakes
	warnings    []string
}

func (r *reader) mistakeAt(line int, key, problem, remedy string) {
	r.mistakes = append(r.mistakes, Mistake{File: r.file, Line: line, Key: key, Problem: problem, Remedy: remedy})
}

func (r *reader) mistake(p property, problem, remedy string) {
	r.mistakeAt(p.line, p.key, problem, remedy)
}

func (r *reader) take(p property) {
	p.value = strings.TrimSpace(p.value)
	if before, set := r.settings[p.key]; set {
		r.mistake(p, fmt.Sprintf("it is set on line %d already", before.line), "remove one of the two")
		return
	}
	switch near := spelling.Nearest(p.key, readKeys); {
	case slices.Contains(readKeys, p.key):
		r.settings[p.key] = p
		r.checkValue(p)
	case kafkaName(p.key) != "":
		r.ignored = append(r.ignored, p)
	case !keyPattern.MatchString(p.key) && near == "":
		r.unnamed = append(r.unnamed, p.line)
	case near != "" && !slices.Contains(otherKeys, p.key):
		problem := "there is no such setting"
		if keyPattern.MatchString(p.key) {
			problem = fmt.Sprintf("there is no setting %q", p.key)
		}
		r.mistakeAt(p.line, "", problem, "write "+near)
	default:
		r.ignored = append(r.ignored, p)
	}
}

// get notes that the access needs key. A blank value is a mistake and counts as missing.
func (r *reader) get(key string) (property, bool) {
	r.used = append(r.used, key)
	p, set := r.settings[key]
	if set && p.value == "" {
		if !r.faulty(p) {
			r.mistake(p, "it has no value", "")
		}
		return p, false
	}
	return p, set
}

var protocols = []struct {
	name                     string
	encrypted, authenticated bool
}{
	{ProtocolPlaintext, false, false},
	{ProtocolTLS, true, false},
	{ProtocolSASLPlaintext, false, true},
	{ProtocolSASLTLS, true, true},
}

// If the protocol is wrong, protocol returns true for each kind of setting in the file, so that
// mistakes in these settings are reported too.
func (r *reader) protocol() (encrypted, authenticated bool) {
	p, set := r.get(keyProtocol)
	if !set && p.line == 0 {
		return false, false
	}
	var names []string
	for _, choice := range protocols {
		if strings.EqualFold(p.value, choice.name) {
			return choice.encrypted, choice.authenticated
		}
		names = append(names, choice.name)
	}
	if set && !r.faulty(p) {
		r.mistake(p, "there is no such protocol", "choose "+spelling.OneOf(names))
	}
	for key := range r.settings {
		encrypted = encrypted || strings.HasPrefix(key, "ssl.")
		authenticated = authenticated || strings.HasPrefix(key, "sasl.")
	}
	return encrypted, authenticated
}

const maxNamed = 12

func (r *reader) warn() {
	var useless []string
	for _, key := range readKeys {
		if _, set := r.settings[key]; set && !slices.Contains(r.used, key) {
			useless = append(useless, key)
		}
	}
	if len(useless) > 0 {
		why := "with its " + keyProtocol
		if _, set := r.settings[keyProtocol]; !set {
			why = "because " + keyProtocol + " is not set, so it is PLAINTEXT"
		}
		r.warnings = append(r.warnings, fmt.Sprintf("%s: no effect, %s: %s", r.file, why, listed(useless)))
	}
	if len(r.ignored) > 0 {
		r.warnings = append(r.warnings,
			fmt.Sprintf("%s: ignored, because only settings of TLS and SASL are used: %s", r.file,
				listed(securityFirst(r.ignored))))
	}
	if len(r.unnamed) > 0 {
		r.warnings = append(r.warnings,
			fmt.Sprintf("%s:%d: ignored, because it does not begin with the name of a setting (lines like it: %d); if a value continues on the next line, end the line with a backslash",
				r.file, r.unnamed[0], len(r.unnamed)))
	}
}

// securityFirst returns the names of settings, with those that may change who is trusted before the others.
func securityFirst(all []property) (keys []string) {
	isSecurity := func(key string) bool {
		return strings.HasPrefix(key, "ssl.") || strings.HasPrefix(key, "sasl.") || strings.HasPrefix(key, "security.")
	}
	for _, security := range []bool{true, false} {
		for _, p := range all {
			if isSecurity(p.key) == security {
				keys = append(keys, p.key)
			}
		}
	}
	return keys
}

func listed(keys []string) string {
	if more := len(keys) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(keys[:maxNamed], ", "), more)
	}
	return strings.Join(keys, ", ")
}
