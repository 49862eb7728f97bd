package access

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

type property struct {
	line       int // of its first line, from 1
	key, value string
	endsBlank  bool // a backslash at the end of the line would continue it, but a blank follows
}

var errEscape = errors.New(`\u is not followed by four hexadecimal digits`)

// properties reads the format of java.util.Properties: ISO 8859-1 characters, lines that continue after a
// backslash, and keys that end at =, : or white space. A byte order mark makes it Unicode: Java would take the mark for a
// part of the first key.
func properties(content []byte, mistake func(line int, err error)) []property {
	decoded, marked, err := textfile.Decode(content)
	if nul := new(textfile.NULError); errors.As(err, &nul) {
		mistake(nul.Line, err)
		return nil
	}
	text := string(decoded)
	if !marked {
		text = latin1(content)
	}
	var all []property
	for _, l := range logicalLines(text) {
		key, value := split(l.text)
		k, err := unescape(key)
		v, err2 := unescape(value)
		if err := errors.Join(err, err2); err != nil {
			mistake(l.line, errEscape)
			continue
		}
		all = append(all, property{line: l.line, key: k, value: v, endsBlank: l.endsBlank})
	}
	return all
}

type logicalLine struct {
	line      int
	text      string
	endsBlank bool
}

const blank = " \t\f"

func logicalLines(text string) []logicalLine {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	natural := strings.Split(text, "\n")
	var logical []logicalLine
	for i := 0; i < len(natural); i++ {
		first, text := i, strings.TrimLeft(natural[i], blank)
		if text == "" || text[0] == '#' || text[0] == '!' {
			continue
		}
		var whole strings.Builder
		for continues(text) && i+1 < len(natural) {
			whole.WriteString(strings.TrimSuffix(text, `\`))
			i++
			text = strings.TrimLeft(natural[i], blank)
		}
		whole.WriteString(text)
		logical = append(logical, logicalLine{line: first + 1, text: whole.String(), endsBlank: endsBlank(text)})
	}
	return logical
}

func latin1(content []byte) string {
	runes := make([]rune, len(content))
	for i, b := range content {
		runes[i] = rune(b)
	}
	return string(runes)
}

func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func endsBlank(line string) bool {
	trimmed := strings.TrimRight(line, blank)
	return trimmed != line && continues(trimmed)
}

func split(line string) (key, value string) {
	end := 0
	for end < len(line) && !strings.ContainsRune("=:"+blank, rune(line[end])) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	value = strings.TrimLeft(line[end:], blank)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blank)
	}
	return line[:end], value
}

// unescape replaces \t, \n, \r, \f and \uXXXX. It removes the backslash of any other escape.
func unescape(text string) (string, error) {
	if !strings.ContainsRune(text, '\\') {
		return text, nil
	}
	var units []uint16 // UTF-16, as in Java: \u may be half of a surrogate pair
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if r == '\\' {
			i++
			if i == len(runes) {
				break
			}
			switch r = runes[i]; r {
			case 't':
				r = '\t'
			case 'n':
				r = '\n'
			case 'r':
				r = '\r'
			case 'f':
				r = '\f'
			case 'u':
				code, err := strconv.ParseUint(string(runes[min(i+1, len(runes)):min(i+5, len(runes))]), 16, 16)
				if err != nil || i+5 > len(runes) {
					return "", errEscape
				}
				r, i = rune(code), i+4
			}
		}
		units = append(units, uint16(r))
	}
	return string(utf16.Decode(units)), nil
}
