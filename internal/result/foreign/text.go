package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

// terminalCode matches what a terminal does not print: colours, cursor movements, titles.
var terminalCode = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")

// readable returns a content as UTF-8 lines without terminal codes. Other control characters, also
// those that JSON escapes, become U+FFFD: whatever is taken from the content may be printed.
func readable(path string, content []byte) ([]byte, error) {
	text, _, err := textfile.Decode(content)
	if nul := new(textfile.NULError); errors.As(err, &nul) {
		return nil, fmt.Errorf("%s:%d: %w", path, nul.Line, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if bytes.IndexByte(text, '\x1b') >= 0 {
		text = terminalCode.ReplaceAll(text, nil)
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	if bytes.IndexByte(text, '\\') >= 0 && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		text = textfile.JSON(text)
	}
	return bytes.Map(textfile.Printable, text), nil
}

// textLines counts lines from 1. They are without what a quotation adds: blanks, "> " and "| " in
// front, blanks and "|" behind.
func textLines(content []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range bytes.Lines(content) {
			number++
			if !yield(number, unquoted(string(line))) {
				return
			}
		}
	}
}

func unquoted(line string) string {
	return strings.TrimRight(strings.TrimLeft(line, " \t>|│"), " \t\n|│")
}

// afterPrefix matches where a line may begin after the prefix of a log.
const afterPrefix = `(?:^|[\s\]|>:])`

// plainDecimal matches a number of Java's %f, in any locale with ASCII digits and no separator of
// thousands.
var plainDecimal = regexp.MustCompile(`^-?[0-9]+(?:[.,][0-9]+)?$`)

// decimal reads a number with a decimal point or a decimal comma. Three digits after a comma could
// also be thousands, and no tool prints so many decimals.
func decimal(text string) (float64, error) {
	if _, part, comma := strings.Cut(text, ","); !plainDecimal.MatchString(text) || comma && len(part) == 3 {
		return 0, fmt.Errorf("%q is not clearly a number; write it with a decimal point and no other separator, as in 9984.4",
			shorten(text))
	}
	return strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
}

func shorten(line string) string {
	const most = 80
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}
