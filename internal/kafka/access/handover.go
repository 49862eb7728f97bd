package access

import (
	"errors"
	"fmt"
	"io"
	"os"
)

type origin struct {
	file      string
	content   []byte
	stores    map[string][]byte // the files that content names, by path
	variables map[string]string // of the environment, if content names them
}

func newOrigin(file string, content []byte) *origin {
	return &origin{file: file, content: content, stores: make(map[string][]byte), variables: make(map[string]string)}
}

// keeping returns both functions so that o keeps what they return.
func (o *origin) keeping(readFile func(string) ([]byte, error),
	lookUp func(string) (string, bool)) (func(string) ([]byte, error), func(string) (string, bool)) {
	return func(path string) ([]byte, error) {
			text, err := readFile(path)
			if err == nil {
				o.stores[path] = text
			}
			return text, err
		}, func(name string) (string, bool) {
			value, set := lookUp(name)
			if set {
				o.variables[name] = value
			}
			return value, set
		}
}

// Handover passes an access to another process of the same user. Its exported fields hold the secrets unmasked, for
// encoding/gob: write it only to a private pipe.
type Handover struct {
	// Properties is the content of the file named File. Stores holds, by path, the content of the files
	// that Properties names, and Variables the values of the environment's variables that it names. All are empty for
	// plain text without credentials.
	File       string
	Properties []byte
	Stores     map[string][]byte
	Variables  map[string]string

	reads []string
}

// Reads returns the variables of the environment that clients with this access read while they work, for package
// childenv.
func (h Handover) Reads() []string { return h.reads }

// reads are the variables that libraries read, by mechanism. A proxy's address may have a password.
func (a Access) reads() []string {
	proxy := []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	switch {
	case a.SASL == nil:
		return nil
	case a.SASL.Mechanism == MechanismAWS:
		return append(proxy, "AWS_*")
	case a.SASL.Mechanism == MechanismToken:
		return proxy
	case a.SASL.Mechanism == MechanismKerberos:
		return []string{"KRB5*"}
	default:
		return nil
	}
}

// Variables returns the variables of the environment that a program needs which reads the properties file itself, as
// Kafka's tools do, for package childenv.
func (a Access) Variables() []string { return append(a.reads(), a.variables...) }

// Format writes a mask, whatever the verb.
func (Handover) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// MarshalText returns the mask.
func (Handover) MarshalText() ([]byte, error) { return []byte(mask), nil }

var errNoOrigin = errors.New("only an access that was read from client properties can be passed to another process")

// Handover returns the access in a form that another process can receive. It fails if the access
// has TLS or credentials and was not read from client properties.
func (a Access) Handover() (Handover, error) {
	switch {
	case a.origin != nil:
		return Handover{File: a.origin.file, Properties: a.origin.content, Stores: a.origin.stores,
			Variables: a.origin.variables, reads: a.reads()}, nil
	case a.TLS != nil || a.SASL != nil:
		return Handover{}, errNoOrigin
	default:
		return Handover{}, nil
	}
}

// Access returns the access in h. Only files that change while clients use them, such as a token's, are read later.
func (h Handover) Access() (Access, error) {
	a, _, err := parse(newOrigin(h.File, h.Properties), func(path string) ([]byte, error) {
		if text, handed := h.Stores[path]; handed {
			return text, nil
		}
		return nil, os.ErrNotExist
	}, func(name string) (string, bool) {
		value, handed := h.Variables[name]
		return value, handed
	})
	return a, err
}
