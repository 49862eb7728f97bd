// Package layout lays out what people read: text of a certain width, Markdown, tables and charts of
// characters. It knows nothing of the content.
//
// Table is the only table of the project, for all formats. Page is a text for a terminal, and
// Markdown a page for a pull request.
//
// Files to know: table.go (Text, Markdown and CSV of a table), page.go, markdown.go, wrap.go,
// chart.go (bars over time).
package layout

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Columns is the width of s on a terminal, if it has no wide characters.
func Columns(s string) int { return utf8.RuneCountInString(s) }

// Pad appends spaces to s up to width columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Columns(s)))
}

// PadLeft prepends spaces to s up to width columns.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-Columns(s))) + s
}

// Cut shortens s to width columns; a cut text ends with an ellipsis.
func Cut(s string, width int) string {
	if runes := []rune(s); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return s
}

const separator = " · "

// Wrap breaks text into lines of at most width columns. It breaks between parts, which " · "
// separates, and at spaces only within a part that is longer than a line. A longer word has its own
// line.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, part := range strings.Split(text, separator) {
		switch {
		case line == "":
			line = part
		case Columns(line)+Columns(separator)+Columns(part) <= width:
			line += separator + part
		default:
			lines = append(lines, line)
			line = part
		}
		if Columns(line) > width {
			broken := WrapWords(line, width)
			lines = append(lines, broken[:len(broken)-1]...)
			line = broken[len(broken)-1]
		}
	}
	return append(lines, line)
}

// WrapWords breaks text at its spaces.
func WrapWords(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		switch {
		case line == "":
			line = word
		case Columns(line)+1+Columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// Hang wraps text, with later lines indented.
func Hang(text string, indent, width int) string {
	lines := Wrap(text, width)
	if len(lines) > 1 {
		lines = append(lines[:1], Wrap(strings.Join(lines[1:], " "), width-indent)...)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// Fold breaks a row whose columns are aligned to the right: what does not fit stands at the right of the next line.
func Fold(row string, width int) string {
	at := strings.LastIndex(Cut(row, width+1), " ")
	if Columns(row) <= width || at < 0 {
		return row
	}
	return strings.TrimRight(row[:at], " ") + "\n" + PadLeft(strings.TrimLeft(row[at:], " "), width)
}

// List joins the parts that are not empty.
func List(parts ...string) string {
	var filled []string
	for _, part := range parts {
		if part != "" {
			filled = append(filled, part)
		}
	}
	return strings.Join(filled, separator)
}

// Enumerate prints names: a, b and c.
func Enumerate(names []string) string { return joined(names, " and ") }

// Either prints names: a, b or c.
func Either(names []string) string { return joined(names, " or ") }

func joined(names []string, word string) string {
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + word + names[last]
}

const someNames = 4

// EnumerateSome enumerates the first four names, and the number of others.
func EnumerateSome(names []string) string {
	if n := len(names); n > someNames {
		names = append(slices.Clone(names[:someNames]), fmt.Sprintf("%d more", n-someNames))
	}
	return Enumerate(names)
}

// At formats a time since the start of the measured window.
func At(ns int64) string {
	if ns == 0 {
		return "0 s"
	}
	return unit.Nanos(ns)
}

// Moment formats a time in UTC. For the zero time, it returns the mark of an absent value.
func Moment(t time.Time, format string) string {
	if t.IsZero() {
		return unit.Absent
	}
	return t.UTC().Format(format)
}

// Words replaces the underscores of a metric's key by spaces.
func Words(metric string) string { return strings.ReplaceAll(metric, "_", " ") }
