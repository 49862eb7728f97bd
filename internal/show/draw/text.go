package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// upper are the characters of Windows-1252 from 0x80 to 0x9F; a space means none.
const upper = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"

// Windows1252 returns the byte of a character in Windows-1252. has is false for a control
// character, and for a character that is not in Windows-1252.
func Windows1252(r rune) (code byte, has bool) {
	switch {
	case r >= ' ' && r <= '~' || r >= 0xA0 && r <= 0xFF:
		return byte(r), true
	case r < ' ' || r == 0x7F:
		return 0, false
	}
	code = 0x80
	for _, other := range upper {
		if other == r {
			return code, true
		}
		code++
	}
	return 0, false
}

var instead = strings.NewReplacer(
	"\u2212", "-", "\u2192", "->", "\u2190", "<-", "\u2265", ">=", "\u2264", "<=", "\u2248", "~",
	"\u2009", " ", "\u200a", " ", "\u202f", "\u00a0", "\u03bc", "\u00b5", "\u2011", "-",
)

// clean returns words in characters of Windows-1252, on one line. A character without a replacement
// becomes a question mark.
func clean(words string) string {
	if isClean(words) {
		return words
	}
	words = strings.Join(strings.Fields(instead.Replace(words)), " ")
	return strings.Map(func(r rune) rune {
		if _, has := Windows1252(r); !has {
			return '?'
		}
		return r
	}, words)
}

// isClean is false for "".
func isClean(words string) bool {
	last := ' '
	for _, r := range words {
		_, has := Windows1252(r)
		if !has || unicode.IsSpace(r) && (r != ' ' || last == ' ') {
			return false
		}
		last = r
	}
	return last != ' '
}

// textWidth is the width of clean words without kerning, in the unit of size.
func textWidth(words string, size float64) float64 {
	sum := 0
	for _, r := range words {
		code, _ := Windows1252(r)
		sum += int(advances[code])
	}
	return float64(sum) * size / unitsPerEm
}

const ellipsis = "…"

func cut(words string, size, width float64) string {
	if textWidth(words, size) <= width {
		return words
	}
	for words != "" && textWidth(words+ellipsis, size) > width {
		_, last := utf8.DecodeLastRuneInString(words)
		words = words[:len(words)-last]
	}
	return strings.TrimRight(words, " ") + ellipsis
}

// wrap breaks words at spaces and after joining punctuation. The maximum number of lines is most.
// It cuts the last line, and parts without a place to break, if they are too wide.
func wrap(words string, size, width float64, most int) []string {
	var lines []string
	line := ""
	parts := breakable(words)
	for i, part := range parts {
		if line != "" && textWidth(strings.TrimRight(line+part, " "), size) > width {
			if len(lines) == most-1 {
				line += strings.Join(parts[i:], "")
				break
			}
			lines, line = append(lines, line), ""
		}
		line += part
	}
	if line != "" {
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = cut(strings.TrimRight(lines[i], " "), size, width)
	}
	return lines
}

// breakable splits words where lines may break, but not within a number.
func breakable(words string) []string {
	var parts []string
	start := 0
	for i := range len(words) - 1 {
		inNumber := words[i] == ',' && '0' <= words[i+1] && words[i+1] <= '9'
		if strings.IndexByte(" -/,;=_", words[i]) >= 0 && words[i+1] != ' ' && !inNumber {
			parts, start = append(parts, words[start:i+1]), i+1
		}
	}
	if start < len(words) {
		parts = append(parts, words[start:])
	}
	return parts
}
