package textfile

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns r, or U+FFFD for a control character other than newline and tab, a line separator, and a
// character that changes the direction of text: they could change what a terminal or a page shows of other text.
func Printable(r rune) rune {
	if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029') {
		return utf8.RuneError
	}
	return r
}

// Lines returns a text of any number of lines as it may be shown.
func Lines(text string) string { return strings.Map(Printable, text) }

// Line returns a text as one line that may be shown.
func Line(text string) string {
	return strings.Map(Printable, strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
}

// JSON returns a JSON text whose strings may be shown, each as one line. It keeps the lines of the text.
func JSON(text []byte) []byte {
	if bytes.IndexByte(text, '\\') >= 0 {
		text = plainEscapes(text)
	}
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= 0x7f && Printable(r) != r }) {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if r < ' ' { // the reader of the JSON refuses it
			return r
		}
		return Printable(r)
	}, text)
}

// plainEscapes replaces escaped control characters of JSON texts by others of the same length, so
// that lines and offsets stay.
func plainEscapes(text []byte) []byte {
	text = bytes.Clone(text)
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		switch text[i] {
		case 'b', 'f', 'n', 'r', 't':
			text[i-1], text[i] = ' ', ' '
		case 'u':
			digits := text[i+1 : min(i+5, len(text))]
			code, err := strconv.ParseUint(string(digits), 16, 16)
			if err == nil && len(digits) == 4 && Printable(rune(code)) != rune(code) || code == '\n' || code == '\t' {
				copy(digits, "fffd")
			}
		}
	}
	return text
}
