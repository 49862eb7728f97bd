package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// jaas is one entry of Java's login configuration, as in sasl.jaas.config:
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";
type jaas struct {
	module  string
	options map[string]string
}

// These errors quote nothing of an entry: any part may be a password that lacks a quote.
var (
	errEnd    = errors.New("the entry does not end with a semicolon")
	errMore   = errors.New("something follows the semicolon")
	errQuote  = errors.New("a quote is not closed")
	errEntry  = errors.New("it is not of the form MODULE required name=\"value\" …;")
	errTwice  = errors.New("an option is given twice")
	jaasFlags = []string{"required", "requisite", "sufficient", "optional"}
)

func parseJAAS(text string) (jaas, error) {
	tokens, err := jaasTokens(text)
	if err != nil {
		return jaas{}, err
	}
	end := slices.Index(tokens, token{text: ";"})
	switch {
	case end < 0:
		return jaas{}, errEnd
	case end != len(tokens)-1:
		return jaas{}, errMore
	case end < 2 || (end-2)%3 != 0 || !slices.Contains(jaasFlags, strings.ToLower(tokens[1].text)):
		return jaas{}, errEntry
	}
	entry := jaas{module: tokens[0].text, options: make(map[string]string)}
	for option := tokens[2:end]; len(option) > 0; option = option[3:] {
		name, is, value := option[0], option[1], option[2]
		if !name.word || is != (token{text: "="}) || !value.word {
			return jaas{}, errEntry
		}
		if _, given := entry.options[name.text]; given {
			return jaas{}, errTwice
		}
		entry.options[name.text] = value.text
	}
	return entry, nil
}

type token struct {
	text string
	word bool
}

func jaasTokens(text string) ([]token, error) {
	var tokens []token
	for text = strings.TrimLeft(text, " \t\r\n"); text != ""; text = strings.TrimLeft(text, " \t\r\n") {
		switch c := text[0]; c {
		case '=', ';':
			tokens = append(tokens, token{text: string(c)})
			text = text[1:]
		case '"', '\'':
			word, rest, err := quoted(text)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{text: word, word: true})
			text = rest
		default:
			end := strings.IndexAny(text, " \t\r\n=;\"'")
			if end < 0 {
				end = len(text)
			}
			tokens = append(tokens, token{text: text[:end], word: true})
			text = text[end:]
		}
	}
	return tokens, nil
}

func quoted(text string) (word, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0]:
			return b.String(), text[i+1:], nil
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(escaped(text[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errQuote
}

func escaped(c byte) byte {
	if at := strings.IndexByte("tnrfb", c); at >= 0 {
		return "\t\n\r\f\b"[at]
	}
	return c
}

const (
	plainModule    = "org.apache.kafka.common.security.plain.PlainLoginModule"
	scramModule    = "org.apache.kafka.common.security.scram.ScramLoginModule"
	tokenModule    = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
	awsModule      = "software.amazon.msk.auth.iam.IAMLoginModule"
	kerberosModule = "com.sun.security.auth.module.Krb5LoginModule"
)

var loginModules = map[string]string{
	MechanismPlain: plainModule, MechanismScram256: scramModule, MechanismScram512: scramModule, MechanismToken: tokenModule,
	MechanismAWS: awsModule, MechanismKerberos: kerberosModule,
}

// serves returns an error if the entry's module is not the one for the mechanism.
func (j jaas) serves(mechanism string) error {
	module := loginModules[mechanism]
	for _, known := range loginModules {
		if j.module == known && known != module {
			return fmt.Errorf("its login module does not serve the mechanism %s; use %s", mechanism, module)
		}
	}
	if j.module != module {
		return fmt.Errorf("its login module is unknown; %s needs %s", mechanism, module)
	}
	return nil
}

// password returns the credentials for PLAIN and SCRAM.
func (j jaas) password(mechanism string) (*SASL, error) {
	switch {
	case strings.EqualFold(j.options["tokenauth"], "true"):
		return nil, errors.New("delegation tokens are not supported; use a user name and a password")
	case j.options["username"] == "" || j.options["password"] == "":
		return nil, errors.New(`it lacks a user name or a password; write username="…" password="…"`)
	}
	return &SASL{Mechanism: mechanism, Username: j.options["username"], Password: Secret(j.options["password"])}, nil
}
