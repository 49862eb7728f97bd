package access

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// origin is what an access was read from.
type origin struct {
	file    string
	content []byte
	stores  map[string][]byte // the files that the content names, by path
}

// Handover is an access on its way to another process of the same user. Unlike
// every other form of it this one holds the secrets in clear, for encoders that
// go by exported fields (encoding/gob): give it to a pipe that nobody else reads,
// and never to a command line, an environment or a file. Printed, it is as
// masked as the rest.
type Handover struct {
	// Properties are the client properties that the access was read from; File is
	// their name and Stores are the files that they name, by path. All are empty
	// for plain text without credentials.
	File       string
	Properties []byte
	Stores     map[string][]byte
}

// Format writes a mask, whatever the verb.
func (Handover) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// MarshalText returns the mask.
func (Handover) MarshalText() ([]byte, error) { return []byte(mask), nil }

// errNoOrigin says that an access was made and not read.
var errNoOrigin = errors.New("only an access that was read from client properties can be handed to another process")

// Handover returns the access as another process can be given it. It is an error
// for one that was put together and not read from client properties.
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

// Access returns the access that was handed over. No file is read for it, so that
// it is the same one though files were changed meanwhile.
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
