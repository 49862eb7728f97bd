package access

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// This file finds what people write instead of Kafka's settings, and names the right word.

// foreignNames are other tools' names, each with Kafka's name.
var foreignNames = map[string]string{
	"sasl.mechanisms": keyMechanism, "sasl.username": keyJAAS, "sasl.password": keyJAAS, // librdkafka
	"sasl.plain.username": keyJAAS, "sasl.plain.password": keyJAAS,
	"ssl.ca.location": keyTrustLocation, "ssl.ca.pem": keyTrustPEM,
	"ssl.certificate.location": keyStoreLocation, "ssl.certificate.pem": keyStoreChain,
	"ssl.key.location": keyStoreLocation, "ssl.key.pem": keyStoreKey,
	"enable.ssl.certificate.verification": keyIdentification,
	"sasl.oauthbearer.client.id":          keyTokenClient, "sasl.oauthbearer.client.secret": keyTokenSecret,
	"sasl.kerberos.keytab": keyJAAS, "sasl.kerberos.principal": keyJAAS,
	"sasl.mechanism.inter.broker.protocol": keyMechanism, "security.inter.broker.protocol": keyProtocol, // brokers
	"sasl.enabled.mechanisms": keyMechanism,
}

// springNames are what Spring calls its own keys, after spring.kafka.
var springNames = map[string]string{
	"ssl.trust-store-location": keyTrustLocation, "ssl.trust-store-password": keyTrustPassword,
	"ssl.trust-store-type": keyTrustType, "ssl.key-store-location": keyStoreLocation,
	"ssl.key-store-password": keyStorePassword, "ssl.key-store-type": keyStoreType, "ssl.key-password": keyPassword,
}

// kafkaName returns the setting that another tool's key stands for; "" if there is none.
func kafkaName(key string) string {
	if name := foreignNames[key]; name != "" {
		return name
	}
	if spring, is := strings.CutPrefix(key, "spring.kafka."); is && springNames[spring] != "" {
		return springNames[spring]
	}
	for _, name := range readKeys {
		if strings.HasSuffix(key, "."+name) { // as in spring.kafka.properties., producer. and listener.name.
			return name
		}
	}
	return ""
}

// checkNames reports other tools' names, unless the file has Kafka's name too, and a file without any setting.
func (r *reader) checkNames() {
	told := make(map[string]bool)
	ignored := r.ignored
	r.ignored = nil
	for _, p := range ignored {
		name := kafkaName(p.key)
		if _, both := r.settings[name]; name == "" || both {
			r.ignored = append(r.ignored, p)
			continue
		}
		told[name] = true
		r.mistakeAt(p.line, "", fmt.Sprintf("%q is a name of another tool", p.key), foreignRemedy(name, p.key))
	}
	if len(r.settings) == 0 && len(r.ignored) == 0 && len(told) == 0 && len(r.unnamed) > 0 && len(r.mistakes) == 0 {
		r.mistakeAt(r.unnamed[0], "", "no line of the file is a setting of a Kafka client",
			"write NAME=VALUE, for instance "+keyProtocol+"=SASL_SSL; the file is the one that Kafka's tools take with --command-config")
	}
}

func foreignRemedy(name, key string) string {
	switch {
	case name == keyJAAS && strings.HasPrefix(key, "sasl.kerberos."):
		return "write " + keyJAAS + "=" + kerberosModule + ` required useKeyTab=true keyTab="…" principal="…";`
	case name == keyJAAS:
		return "write " + keyJAAS + "=" + plainModule + ` required username="…" password="…"; (or ` + scramModule + ")"
	case name == keyIdentification:
		return "leave it out; an empty " + keyIdentification + " switches the check of host names off"
	case name == keyTrustLocation, name == keyTrustPEM:
		return "write " + name + " (a path without \"file:\"), and " + keyTrustType + "=PEM if the text is PEM"
	case name == keyStoreLocation, name == keyStoreChain, name == keyStoreKey:
		return "write " + keyStoreLocation + " with a file that has the private key and then its certificates, and " +
			keyStoreType + "=PEM if the text is PEM"
	}
	return "write " + name
}

// hasForeign reports whether the file has another tool's name for a setting, which is a mistake already.
func (r *reader) hasForeign(name string) bool {
	return slices.ContainsFunc(r.mistakes, func(m Mistake) bool { return strings.Contains(m.Remedy, "write "+name) })
}

// faulty reports whether a property has a mistake already.
func (r *reader) faulty(p property) bool {
	return slices.ContainsFunc(r.mistakes, func(m Mistake) bool { return m.Line == p.line && m.Key == p.key })
}

var (
	commentBehind = regexp.MustCompile(`^[A-Za-z0-9_.-]+\s+(#|//)`)
	bracedLogin   = regexp.MustCompile(`^[A-Za-z]+\s*\{`)
	placeholder   = regexp.MustCompile(`\$\{[^}]*\}|\{\{.*\}\}|^\$[A-Z][A-Z0-9_]+$|^%[A-Z_]+%$|^<[A-Za-z][A-Za-z0-9 _-]*>$`)
)

const placeholderRemedy = "write the value itself, or let Kafka's " + providersKey + " find it: " + providersKey + "=env, " +
	providersKey + ".env.class=" + providersPackage + "EnvVarConfigProvider, and ${env:NAME}"

// checkValue reports values that Kafka would take literally.
func (r *reader) checkValue(p property) {
	switch {
	case p.endsBlank:
		r.mistake(p, "a blank follows the backslash at the end of its line, so the value ends there", "remove the blank")
	case inQuotes(p.value):
		r.mistake(p, "Kafka takes the quotes as a part of the value", "remove the quotes around it")
	case p.key == keyJAAS && bracedLogin.MatchString(p.value):
		r.mistake(p, "it has the braces of a JAAS file", "write only the entry within them: MODULE required name=\"value\" …;")
	case p.key != keyJAAS && placeholder.MatchString(p.value):
		r.mistake(p, "it is a placeholder that nothing replaces", placeholderRemedy)
	case p.key == keyTrustPEM || p.key == keyStoreChain || p.key == keyStoreKey:
		if p.value != "" && !strings.Contains(p.value, "-----BEGIN") {
			r.mistake(p, "it takes the PEM text itself, which begins with -----BEGIN", "name a file with "+
				strings.NewReplacer(keyTrustPEM, keyTrustLocation, keyStoreChain, keyStoreLocation, keyStoreKey,
					keyStoreLocation).Replace(p.key))
		}
	case (strings.HasSuffix(p.key, ".protocol") || strings.HasSuffix(p.key, ".type") || p.key == keyMechanism) &&
		commentBehind.MatchString(p.value):
		r.mistake(p, "a comment behind a value is a part of the value", "put the comment on a line of its own")
	}
}

func inQuotes(value string) bool {
	return len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]
}

// checkPlaceholders reports an option of a login module that should have been replaced.
func (r *reader) checkPlaceholders(config property, entry jaas) {
	for _, value := range entry.options {
		if placeholder.MatchString(value) {
			r.mistake(config, "an option is a placeholder that nothing replaces", placeholderRemedy)
			return
		}
	}
}
