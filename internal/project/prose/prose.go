// Package prose counts long sentences and discouraged phrases in English text. A count is only a
// hint: "beside" is right for a place, and "alone" for a process.
//
// Files to know: prose.go.
package prose

import (
	"regexp"
	"strings"
)

// MaxWords is the maximum number of words in a sentence.
const MaxWords = 25

// A Phrase is an expression that the style rules discourage.
type Phrase struct {
	Name    string
	pattern *regexp.Regexp
}

// Phrases are the discouraged phrases. Each pattern is matched with one sentence.
var Phrases = []Phrase{
	{"tells", regexp.MustCompile(`(?i)\btells?\b`)},
	{"nobody", regexp.MustCompile(`(?i)\b(whoever|nobody|somebody)\b`)},
	{"of which", regexp.MustCompile(`(?i)\bof which\b`)},
	{"anew", regexp.MustCompile(`(?i)\banew\b`)},
	{"so many", regexp.MustCompile(`(?i)\bso many\b`)},
	{"alone", regexp.MustCompile(`(?i)\balone([.,;:)]|$)`)},
	{"beside", regexp.MustCompile(`(?i)\bbeside\b`)},
	{"Where", regexp.MustCompile(`^Where (an?|no|the)\b.*,`)},
}

// Text is the counts of a text.
type Text struct {
	Words, Sentences int
	Long             int   // sentences of more than MaxWords words
	Phrases          []int // as in Phrases
}

// Count counts in text, which is a comment without its marks, or plain Markdown.
func Count(text string) Text {
	t := Text{Phrases: make([]int, len(Phrases))}
	for _, sentence := range Sentences(text) {
		words := len(strings.Fields(sentence))
		t.Words += words
		t.Sentences++
		if words > MaxWords {
			t.Long++
		}
		for i, p := range Phrases {
			t.Phrases[i] += len(p.pattern.FindAllString(sentence, -1))
		}
	}
	return t
}

// Add adds the counts of u to t. Begin a sum with Count("").
func (t *Text) Add(u Text) {
	t.Words += u.Words
	t.Sentences += u.Sentences
	t.Long += u.Long
	for i, n := range u.Phrases {
		t.Phrases[i] += n
	}
}

var (
	// apart begins a paragraph without a blank line before it: a list item, a heading.
	apart = regexp.MustCompile(`^\s*([-*#|] |\d+[.)]\s)`)
	// stop ends a sentence if what follows can begin one.
	stop = regexp.MustCompile("[.!?][\"')\\]`*]*\\s+[\"'(\\[`*]*\\p{Lu}")
	// The full stop of an abbreviation ends no sentence.
	short = regexp.MustCompile(`(?i)\b(e\.g|i\.e|vs|cf|etc|no|[a-z])\.$`)
)

// Sentences splits text, and skips indented code.
func Sentences(text string) []string {
	var all, lines []string
	flush := func() {
		all = append(all, split(strings.Join(strings.Fields(strings.Join(lines, " ")), " "))...)
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		heading := strings.HasPrefix(line, "#")
		switch item := apart.MatchString(line); {
		case strings.TrimSpace(line) == "":
			flush()
			continue
		case item:
			flush()
			line = apart.ReplaceAllString(line, "")
		case len(lines) == 0 && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "  ")):
			continue
		}
		lines = append(lines, line)
		if heading {
			flush()
		}
	}
	flush()
	return all
}

func split(paragraph string) []string {
	var all []string
	begin := 0
	for _, at := range stop.FindAllStringIndex(paragraph, -1) {
		end := at[0] + 1
		for end < len(paragraph) && paragraph[end] != ' ' {
			end++
		}
		if sentence := paragraph[begin:end]; !short.MatchString(sentence) {
			all = append(all, sentence)
			begin = end + 1
		}
	}
	if begin < len(paragraph) {
		all = append(all, paragraph[begin:])
	}
	return all
}
