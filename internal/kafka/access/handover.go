package access

import (
	"errors"
	"fmt"
	"io"
	"os"
)

type origin struct {
	file    string
	content []byte
	stores  map[string][]byte // the files that content names, by path
}

// Handover passes an access to another process of the same user. Its exported fields hold the secrets unmasked, for
// encoding/gob: write it only to a private pipe.
type Handover struct {
	// Properties is the content of the file named File. Stores holds, by path, the content of the files
	// that Properties names. All are empty for plain text without credentials.
	File       string
	Properties []byte
	Stores     map[string][]byte
}

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
		return Handover{File: a.origin.file, Properties: a.origin.content, Stores: a.origin.stores}, nil
	case a.TLS != nil || a.SASL != nil:
		return Handover{}, errNoOrigin
	default:
		return Handover{}, nil
	}
}

// Access returns the access in h. It reads no file.
func (h Handover) Access() (Access, error) {
	o := &origin{file: h.File, content: h.Properties, stores: make(map[string][]byte)}
	a, _, err := parse(o, func(path string) ([]byte, error) {
		if text, handed := h.Stores[path]; handed {
			return text, nil
		}
		return nil, os.ErrNotExist
	})
	return a, err
}
