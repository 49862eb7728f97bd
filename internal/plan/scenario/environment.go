package scenario

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// environment replaces variables in values, not in keys or comments: ${NAME} is the variable's
// value, ${NAME:-default} the default if it is unset or empty, and $${ is a literal ${. A
// variable's value is never parsed as YAML, so it cannot add a key.
//
// A text is stored with the run, and a scenario may be a stranger's. So a text takes only the variables that the
// command line names; numbers, sizes, durations and choices take any. A scenario that was stored takes none.

type environment struct {
	lookup func(string) (string, bool)
	unset  map[*yaml.Node]bool // with a variable that is not set
	bytes  int                 // of replaced text, so far
	// used are the variables of the value that is being replaced, and names those of each value.
	used   []string
	names  map[*yaml.Node][]string
	texts  []string // variables that texts may take
	stored bool     // the scenario takes no variable
	// written and from have the texts before the replacement, by value and by place.
	written map[*yaml.Node]string
	from    map[place]replacement
}

type replacement struct{ written, value string }

func newEnvironment(o Options) environment {
	return environment{
		lookup: o.lookup(), unset: make(map[*yaml.Node]bool), written: make(map[*yaml.Node]string),
		from: make(map[place]replacement), names: make(map[*yaml.Node][]string), texts: o.EnvTexts, stored: o.stored,
	}
}

var variable = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$`)

func (o Options) lookup() func(string) (string, bool) {
	if o.Env != nil {
		return o.Env
	}
	return os.LookupEnv
}

// A value with an unknown variable is a mistake and is not read.
func (d *decoder) expand(n *yaml.Node, path string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			d.expand(n.Content[i+1], join(path, n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, child := range n.Content {
			d.expand(child, fmt.Sprintf("%s[%d]", path, i))
		}
	case yaml.ScalarNode: // the alias's target is visited elsewhere
		if strings.Contains(n.Value, "${") {
			d.expandScalar(n, path)
		}
	}
}

// Within { } and [ ] YAML requires quotes around ${NAME}, even for a number.
func (d *decoder) expandScalar(n *yaml.Node, path string) {
	d.env.used = nil
	text, problem, remedy := d.env.replace(n.Value)
	if d.env.bytes += len(text); problem == "" && d.env.bytes > maxFileBytes {
		problem, remedy = "with all variables replaced the scenario is larger than 1 MiB", "is it the right variable?"
	}
	if problem != "" {
		d.env.unset[n] = true
		d.mistake(n, path, problem, remedy)
		return
	}
	d.env.written[n], d.env.names[n] = n.Value, d.env.used
	n.Value, n.Style = text, n.Style&yaml.TaggedStyle
}

func (e *environment) asWritten(n *yaml.Node) string {
	if written, ok := e.written[n]; ok {
		return written
	}
	return n.Value
}

// attribute names the variable in each mistake of its value, instead of the value.
func (e *environment) attribute(mistakes Mistakes) Mistakes {
	for i, f := range mistakes {
		from, ok := e.from[place{f.File, f.Line, f.Column}]
		if !ok {
			continue
		}
		written := cutText(from.written, maxChoiceText)
		f.Problem, f.Remedy = from.hide(f.Problem, written), from.hideQuoted(f.Remedy, written)
		if !strings.Contains(f.Problem, written) {
			f.Problem += " (from " + written + ")"
		}
		mistakes[i] = f
	}
	return mistakes
}

// hide replaces the value at any place, and a short one only as the first word, because it may be a part of others.
func (r replacement) hide(text, written string) string {
	const short = 3 // bytes
	text = r.hideQuoted(text, written)
	switch {
	case len(r.value) > short:
		return strings.ReplaceAll(text, r.value, written)
	case r.value != "" && strings.HasPrefix(text, r.value+" "):
		return written + text[len(r.value):]
	default:
		return text
	}
}

func (r replacement) hideQuoted(text, written string) string {
	for _, value := range []string{r.value, strings.ToLower(r.value)} { // of some words the case does not count
		text = strings.ReplaceAll(text, strconv.Quote(value), strconv.Quote(written))
	}
	return text
}

func cutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}

func (e *environment) replace(text string) (replaced, problem, remedy string) {
	const literal = "; for a ${ that is no variable write $${"
	var b strings.Builder
	for text != "" {
		start := strings.Index(text, "${")
		if start < 0 {
			break
		}
		if start > 0 && text[start-1] == '$' {
			b.WriteString(text[:start-1] + "${")
			text = text[start+2:]
			continue
		}
		b.WriteString(text[:start])
		inner, rest, closed := strings.Cut(text[start+2:], "}")
		if !closed {
			return "", "${" + inner + " is not closed", "write ${NAME} or ${NAME:-default}" + literal
		}
		value, problem, remedy := e.value(inner)
		if problem != "" {
			return "", problem, remedy + literal
		}
		b.WriteString(value)
		text = rest
	}
	return b.String() + text, "", ""
}

func (e *environment) value(inner string) (value, problem, remedy string) {
	parts := variable.FindStringSubmatch(inner)
	if parts == nil || strings.Contains(inner, "${") {
		return "", fmt.Sprintf("${%s} does not name a variable", inner),
			"write ${NAME} or ${NAME:-default}, with letters, digits and underscores in the name"
	}
	name, fallback, hasFallback := parts[1], parts[2], strings.Contains(inner, ":-")
	if e.stored {
		return "", fmt.Sprintf("it takes the variable %s, and a stored scenario takes nothing from the environment", name),
			"write the value itself"
	}
	e.used = append(e.used, name)
	value, set := e.lookup(name)
	switch {
	case hasFallback && value == "":
		return fallback, "", ""
	case !set:
		return "", fmt.Sprintf("the environment has no variable %s", name),
			fmt.Sprintf("set it, or write ${%s:-default}", name)
	case !utf8.ValidString(value):
		return "", fmt.Sprintf("the variable %s is not UTF-8 text", name), "set it to text"
	}
	return value, "", ""
}

// freeTexts are the texts that are not one of a list of words. Settings and the elements of lists are free
// texts too.
var freeTexts = []string{"name", "description", "question", "by", "topic.existing", "topic.name", "consume.group",
	"load.record.payload.file", "load.record.payload.sha256"}

func freeText(path string) bool {
	return slices.Contains(freeTexts, path) || strings.HasSuffix(path, "]")
}

// keepsOut reports a mistake, and true, if the text n takes a variable that the command line does not name.
func (d *decoder) keepsOut(n *yaml.Node, path string) bool {
	for _, name := range d.env.names[n] {
		if !slices.Contains(d.env.texts, name) {
			d.mistake(n, path, "it takes the variable "+name+" into a text, which is stored with the run",
				"if you trust the file, add --env "+name+" to the command")
			return true
		}
	}
	return false
}

func literally(text string) string { return strings.ReplaceAll(text, "${", "$${") }
