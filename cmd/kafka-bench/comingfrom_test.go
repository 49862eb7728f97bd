package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// In the tables of docs/COMING_FROM.md, each name of kafka-bench in code format exists. kafka-bench
// refuses the options of other tools: the message names the kafka-bench key from the same row, or
// says why there is none.
func TestComingFrom(t *testing.T) {
	text, err := os.ReadFile("../../docs/COMING_FROM.md")
	if err != nil {
		t.Fatal(err)
	}
	known := newVocabulary(t)
	options := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case !strings.HasPrefix(line, "| ") || cells[0] == "there" || cells[0] == "refused":
		case len(codes(cells[0])) > 0 && strings.Contains(codes(cells[0])[0], ": "):
			checkRefusedValues(t, codes(cells[0]), codes(cells[1]))
		default:
			ours := known.check(t, line, strings.Join(cells[1:], " "))
			switch none := cells[1] == "–"; {
			case none && len(cells) < 3:
				t.Errorf("it does not say why there is none: %s", line)
			case none:
				ours = append(ours, "nothing: ")
			default:
				ours = ours[:len(codes(cells[1]))]
			}
			for _, option := range codes(cells[0]) {
				checkOption(t, option, ours)
				options++
			}
		}
	}
	if options < 150 {
		t.Errorf("only %d options of other tools were found", options)
	}
}

var inCode = regexp.MustCompile("`([^`]+)`")

func codes(text string) (all []string) {
	for _, match := range inCode.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

func checkRefusedValues(t *testing.T, refused, write []string) {
	t.Helper()
	for _, setting := range refused {
		err := trySetting("", setting)
		for _, right := range write {
			if err == nil || !strings.Contains(err.Error(), right) {
				t.Errorf("%s: the error is %v, and does not say %s", setting, err, right)
			}
		}
	}
}

func checkOption(t *testing.T, option string, ours []string) {
	t.Helper()
	word := strings.FieldsFunc(strings.TrimPrefix(option, "--"), func(r rune) bool { return r == '=' || r == ' ' })[0]
	check := func(where, message string) {
		if !slices.ContainsFunc(ours, func(key string) bool { return strings.Contains(message, key) }) {
			t.Errorf("%s %s: %q has none of %q", word, where, message, ours)
		}
	}
	if _, err := scenario.Parse("file", []byte(word+": 1")); err != nil {
		check("in a file", err.Error())
	} else if !slices.ContainsFunc(ours, func(key string) bool { return strings.HasSuffix("."+key, "."+word) }) {
		t.Errorf("%s means something else here", word)
	}
	if c, _, err := rootCommand(surroundings{}).Find([]string{"run"}); err != nil || c.Flags().Lookup(word) != nil {
		return
	}
	check("as a flag", invoke(t, "run", "quick", "--"+word+"=1").stderr)
}

// A setting is tried on each base: one of the bases has what the setting needs.
var bases = []string{
	"",
	"topic: {existing: orders}",
	"load: {rate: max}",
	"load: {arrival: {process: burst, peak: 9k/s, length: 1s, period: 5s}, record: {keys: uniform}}",
	"backpressure: {controller: credit, max_lag: 50000}",
	"consume: {queue: markers}",
	"consume: {queue: {engine: markers, drop: {share: 1%}}}",
}

// trySetting returns nil if a scenario can have the setting, "key: value", after base.
func trySetting(base, setting string) error {
	key, value, _ := strings.Cut(setting, ": ")
	_, err := scenario.ReadSuite("-", scenario.Options{
		Stdin: strings.NewReader("name: page\n" + base), Set: []string{key + "=" + value}})
	return err
}

type vocabulary struct {
	commands []*cobra.Command
	words    []string
	fields   string
}

func newVocabulary(t *testing.T) vocabulary {
	t.Helper()
	v := vocabulary{commands: commands(rootCommand(surroundings{}))}
	v.words = slices.Concat(scenario.Names(), result.TimeMetrics,
		[]string{result.SummaryFile, result.IntervalsFile, result.HistogramsFile})
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			continue // it needs a topic of the user's
		}
		for _, axis := range suite.Axes {
			v.words = append(v.words, axis.Values...)
		}
	}
	schemas, err := filepath.Glob("../../schema/*.json")
	if err != nil || len(schemas) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, path := range schemas {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v.fields += string(text)
	}
	return v
}

// check returns the names, with relative keys completed: .linger after load.acks is load.linger. A
// word after a key may be the key's value, or another key of the same parent: then check returns
// the first key again.
func (v vocabulary) check(t *testing.T, line, cell string) (found []string) {
	t.Helper()
	last := ""
	for _, code := range codes(cell) {
		parent := last[:strings.LastIndex(last, ".")+1]
		setting := strings.TrimPrefix(code, ".")
		if setting != code {
			setting = parent + setting
		}
		key, _, valued := strings.Cut(setting, ": ")
		switch {
		case v.isCommand(code) || v.isFlag(code):
			found = append(found, code)
		case trySetting("", key+": null") == nil && (!valued || settable(setting)):
			last = key
			found = append(found, key)
		case settable(last + ": " + code), trySetting("", parent+code+": null") == nil:
			found = append(found, last)
		case v.isWord(code):
			found = append(found, code)
		default:
			t.Errorf("%s is not known here: %s", code, line)
			found = append(found, code)
		}
	}
	return found
}

func settable(setting string) bool {
	return slices.ContainsFunc(bases, func(base string) bool { return trySetting(base, setting) == nil })
}

func (v vocabulary) isCommand(code string) bool {
	args := shellWords(strings.Fields(strings.TrimPrefix(code, "kafka-bench ")))
	c, rest, err := v.commands[0].Find(args)
	if err != nil || c == v.commands[0] {
		return false
	}
	for i, arg := range rest {
		name, isFlag := strings.CutPrefix(arg, "--")
		switch {
		case isFlag && c.Flags().Lookup(name) == nil:
			return false
		case !isFlag && i > 0 && strings.HasPrefix(rest[i-1], "--"): // its value
		case !isFlag && c.Name() == "run" && arg != "-" && !slices.Contains(scenario.Names(), arg):
			return false
		}
	}
	return true
}

// With --set, isFlag also checks whether the setting is valid.
func (v vocabulary) isFlag(code string) bool {
	code, isFlag := strings.CutPrefix(code, "--")
	name, value, _ := strings.Cut(code, " ")
	if !isFlag || name == "set" && value != "" && !settable(strings.Replace(value, "=", ": ", 1)) {
		return false
	}
	return slices.ContainsFunc(v.commands, func(c *cobra.Command) bool { return c.Flags().Lookup(name) != nil })
}

// A word is a preset, a variant, a figure, a file, a field of a result, or a prefix of figures:
// send_service_time_….
func (v vocabulary) isWord(code string) bool {
	word := strings.TrimSuffix(code, "_…")
	if _, err := figure.Named(word); err == nil || slices.Contains(v.words, word) {
		return true
	}
	for field := range strings.SplitSeq(word, ".") {
		if !strings.Contains(v.fields, `"`+field+`"`) {
			return false
		}
	}
	return true
}
