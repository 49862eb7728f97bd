package access

import (
	"crypto/tls"
	"net/url"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// Mechanisms are the mechanisms of SASL that a file may ask for.
var Mechanisms = []string{
	MechanismPlain, MechanismScram256, MechanismScram512, MechanismToken, MechanismAWS, MechanismKerberos,
}

// sasl reads the credentials. Without sasl.mechanism, Kafka's default is GSSAPI.
func (r *reader) sasl() *SASL {
	mechanism, ok := r.get(keyMechanism)
	switch {
	case mechanism.line == 0 && !r.hasForeign(keyMechanism):
		r.missing(keyMechanism, "set it to "+spelling.OneOf(Mechanisms)+" (Kafka's default is GSSAPI)")
	case ok && !slices.Contains(Mechanisms, mechanism.value):
		if !r.faulty(mechanism) {
			r.mistake(mechanism, "this mechanism is not supported", "use "+spelling.OneOf(Mechanisms))
		}
		ok = false
	}
	config, set := r.get(keyJAAS)
	if !set {
		if config.line == 0 && !r.hasForeign(keyJAAS) {
			r.missing(keyJAAS, "give it the login module with its options")
		}
		return nil
	}
	if r.faulty(config) {
		return nil
	}
	entry, err := parseJAAS(config.value)
	if err != nil {
		r.mistake(config, err.Error(), `if it continues on the next line, end the line with a backslash`)
		return nil
	}
	if !ok {
		return nil
	}
	if err := entry.serves(mechanism.value); err != nil {
		r.mistake(config, err.Error(), "")
		return nil
	}
	return r.login(mechanism.value, config, entry)
}

func (r *reader) missing(key, remedy string) {
	p := r.settings[keyProtocol]
	r.mistake(p, "it asks for "+key+", which is not set", remedy)
}

func (r *reader) login(mechanism string, config property, entry jaas) *SASL {
	r.checkPlaceholders(config, entry)
	switch mechanism {
	case MechanismToken:
		return r.tokens(config, entry)
	case MechanismAWS:
		return r.aws(entry)
	case MechanismKerberos:
		return r.kerberos(config, entry)
	}
	user, err := entry.password(mechanism)
	if err != nil {
		r.mistake(config, err.Error(), "")
	}
	return user
}

const (
	packageToken  = "org.apache.kafka.common.security.oauthbearer."
	tokenHandler  = packageToken + "OAuthBearerLoginCallbackHandler"
	tokenHandler3 = packageToken + "secured.OAuthBearerLoginCallbackHandler" // its name before Kafka 4.0
	awsHandler    = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
)

// tokens reads both spellings of client credentials: options of the login module, and the settings of KIP-1139,
// which Kafka prefers.
func (r *reader) tokens(config property, entry jaas) *SASL {
	r.checkHandler()
	extensions := make(map[string]string)
	for name, value := range entry.options {
		if extension, is := strings.CutPrefix(name, "extension_"); is {
			extensions[extension] = value
		}
	}
	where, set := r.get(keyTokenURL)
	if !set {
		if where.line == 0 {
			r.missing(keyTokenURL, "give it the URL of the token endpoint, or file: and the path of a file with a token")
		}
		return nil
	}
	address, err := url.Parse(where.value)
	switch {
	case err == nil && address.Scheme == "file" && address.Path != "":
		return &SASL{Mechanism: MechanismToken, Tokens: &Tokens{fetch: tokenFile{address.Path, extensions}.fetch}}
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "":
		r.mistake(where, "it is no URL of a token endpoint", "write https://host/path, or file:///path of a file with a token")
		return nil
	}
	of := func(key, option string) string {
		if p, set := r.get(key); set {
			return p.value
		}
		return entry.options[option]
	}
	e := tokenEndpoint{
		url: where.value, id: of(keyTokenClient, "clientId"), secret: Secret(of(keyTokenSecret, "clientSecret")),
		scope: of(keyTokenScope, "scope"), urlEncode: strings.EqualFold(of(keyTokenEncode, ""), "true"),
		tls: r.tokenTLS(config, entry), extensions: extensions,
	}
	if e.id == "" || e.secret == "" {
		r.mistake(config, "it lacks the client's ID or secret", `write clientId="…" clientSecret="…", or set `+keyTokenClient+
			" and "+keyTokenSecret)
	}
	return &SASL{Mechanism: MechanismToken, Tokens: &Tokens{fetch: e.fetch}}
}

func (r *reader) checkHandler() {
	p, set := r.get(keyLoginHandler)
	switch {
	case !set && p.line == 0:
		r.missing(keyLoginHandler, "set it to "+tokenHandler+"; without, Kafka sends tokens that nobody has signed")
	case set && p.value != tokenHandler && p.value != tokenHandler3:
		r.mistake(p, "this handler is not supported", "use "+tokenHandler+", with "+keyTokenURL+
			" and clientId and clientSecret in "+keyJAAS)
	}
	retriever, set := r.get(keyTokenRetriever)
	known := []string{"DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "FileJwtRetriever"}
	if class := strings.TrimPrefix(retriever.value, packageToken); set && !slices.Contains(known, class) {
		r.mistake(retriever, "this class is not supported", "use "+packageToken+"DefaultJwtRetriever, or leave it out")
	}
}

// tokenTLS reads the options by which the token endpoint is trusted. Without them, the operating system's authorities
// are.
func (r *reader) tokenTLS(config property, entry jaas) *tls.Config {
	own := &reader{file: r.file, readFile: r.readFile, settings: make(map[string]property)}
	for name, value := range entry.options {
		if strings.HasPrefix(name, "ssl.") && slices.Contains(readKeys, name) {
			own.settings[name] = property{line: config.line, key: name, value: value}
		}
	}
	found := own.tls()
	r.mistakes = append(r.mistakes, own.mistakes...)
	return found
}

func (r *reader) aws(entry jaas) *SASL {
	if p, set := r.get(keyClientHandler); set && p.value != awsHandler {
		r.mistake(p, "this handler is not supported", "use "+awsHandler)
	}
	s := awsSigner{
		profile: entry.options["awsProfileName"], role: entry.options["awsRoleArn"],
		session: entry.options["awsRoleSessionName"], externalID: entry.options["awsRoleExternalId"],
	}
	return &SASL{Mechanism: MechanismAWS, Tokens: &Tokens{fetch: s.fetch}}
}

// kerberos reads a login module's options: a key table, or the cache of kinit.
func (r *reader) kerberos(config property, entry jaas) *SASL {
	is := func(option string) bool { return strings.EqualFold(entry.options[option], "true") }
	user, realm, _ := strings.Cut(entry.options["principal"], "@")
	k := &Kerberos{Service: entry.options["serviceName"], User: user, Realm: realm, Config: kerberosConfig()}
	if p, set := r.get(keyService); set {
		k.Service = p.value
	}
	switch {
	case k.Service == "":
		r.missing(keyService, "set it to the first part of the brokers' principals, often kafka")
	case is("useKeyTab") && (entry.options["keyTab"] == "" || user == ""):
		r.mistake(config, "it lacks the key table or the principal", `write keyTab="…" principal="…"`)
	case is("useKeyTab"):
		k.KeyTab = entry.options["keyTab"]
	case is("useTicketCache"):
		k.Cache = entry.options["ticketCache"]
		if k.Cache == "" {
			k.Cache = kerberosCache()
		}
	default:
		r.mistake(config, "it names neither a key table nor a ticket cache", "write useKeyTab=true keyTab=\"…\" "+
			"principal=\"…\", or useTicketCache=true")
	}
	return &SASL{Mechanism: MechanismKerberos, Kerberos: k}
}
