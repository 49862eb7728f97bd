// Package textfile decodes text that was written elsewhere: UTF-8, or UTF-16 with a byte order mark. It also removes
// what may not be shown of such a text.
//
// Files to know: textfile.go, printable.go.
package textfile

import (
	"bytes"
	"fmt"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Decode returns a content without its byte order mark, and whether it had one. Marked text is
// returned as UTF-8, other text as it is. The error names the line of a NUL byte, which UTF-16 and
// UTF-32 without a usable mark have, and says what to do.
func Decode(content []byte) (text []byte, marked bool, err error) {
	text = content
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(content, []byte(mark)) {
			marked = true
			if text, _, err = transform.Bytes(unicode.BOMOverride(transform.Nop), content); err != nil {
				return nil, true, fmt.Errorf("it cannot be decoded: %w", err)
			}
			break
		}
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return nil, marked, &NULError{Line: 1 + bytes.Count(text[:at], []byte("\n"))}
	}
	return text, marked, nil
}

// NULError reports a NUL byte in a text.
type NULError struct{ Line int }

func (e *NULError) Error() string {
	return "there is a NUL byte, as in UTF-16 without a byte order mark; save the file as UTF-8"
}
