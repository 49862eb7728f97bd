package scenario

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/plan/native"
)

const overridePrefix = "--set "

const driverPrefix = "--driver "

func isOverride(layer string) bool {
	return strings.HasPrefix(layer, overridePrefix) || strings.HasPrefix(layer, driverPrefix)
}

// clientKey is the last part of load.client and consume.client.
var clientKey = regexp.MustCompile(`\bclient\b`)

// shown hides a value that may be a credential. It hides every setting of a client library, because
// the library's driver may refuse it, and a refused value may be a password.
func shown(text string) string {
	if path, _, ok := strings.Cut(text, "="); ok && hides(text) {
		return path + "=…"
	}
	return text
}

func hides(text string) bool { return native.Access(text) || clientKey.MatchString(text) }

func valueShown(path, text string) string {
	if hides(path + "=" + text) {
		return "…"
	}
	return text
}

type override struct{ layer, text string }

func (d *decoder) override(o override, doc *document) {
	d.overrides = append(d.overrides, o)
	d.set(o, doc)
}

// set applies one override, "load.rate=20k/s", whose value is YAML. As in a file, a mapping is
// merged key by key, null resets a value, and other values replace it.
func (d *decoder) set(o override, s *document) {
	d.begin(o.layer)
	path, text, ok := strings.Cut(o.text, "=")
	ahead := utf8.RuneCountInString(path) + 1
	if !ok {
		d.mistakes = append(d.mistakes, Mistake{File: d.layer, Line: 1, Column: ahead, Problem: "there is no = in it",
			Remedy: "write " + overridePrefix + "load.rate=20k/s"})
		return
	}
	if within(quickKey, path) {
		d.mistakeAt(place{d.layer, 1, 1}, path, "overrides apply to the quick form too", "leave "+quickKey+". out")
		return
	}
	roots, err := parseYAML([]byte(text))
	if err != nil {
		at, problem, remedy := syntax(err, text)
		if at.line > 1 && !strings.Contains(text, "\n") { // YAML reports the end as another line
			at = place{line: 1, column: utf8.RuneCountInString(text) + 1}
		}
		d.mistakeAt(place{d.layer, max(1, at.line), at.after(ahead)}, path, "the value is not YAML: "+problem, remedy)
		return
	}
	if len(roots) > 1 {
		d.mistake(roots[1], path, "the value is several YAML documents", "give one value")
		return
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}
	if len(roots) > 0 {
		value = roots[0]
	}
	shift(value, ahead)
	d.expand(value, path)
	d.value(nest(keysAt(path, place{d.layer, 1, 1}), value), reflect.ValueOf(s).Elem(), "")
}

// after returns the column of p when its text moves right by columns. Only the first line moves.
func (p place) after(columns int) int {
	if p.line > 1 {
		return p.column
	}
	return max(1, p.column) + columns
}

func shift(n *yaml.Node, columns int) {
	n.Column = place{line: n.Line, column: n.Column}.after(columns)
	for _, child := range n.Content {
		shift(child, columns)
	}
}

func nest(keys []*yaml.Node, value *yaml.Node) *yaml.Node {
	for _, key := range slices.Backward(keys) {
		value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: key.Line, Column: key.Column,
			Content: []*yaml.Node{key, value}}
	}
	return value
}

// Each key of an override has its own place.
func keysAt(path string, at place) []*yaml.Node {
	var keys []*yaml.Node
	for _, key := range splitPath(path) {
		keys = append(keys, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: at.line,
			Column: at.column})
		if isOverride(at.file) {
			at.column += utf8.RuneCountInString(key) + 1
		}
	}
	return keys
}

// Everything after a mapping of Kafka's settings is one key: topic.config.max.message.bytes has the
// key max.message.bytes. The same holds for everything after matrix.
func splitPath(path string) []string {
	var keys []string
	t := reflect.TypeFor[document]()
	for {
		if t != nil && (t.Kind() == reflect.Map || t == reflect.TypeFor[matrix]()) {
			return append(keys, path)
		}
		key, rest, more := strings.Cut(path, ".")
		keys = append(keys, key)
		if !more {
			return keys
		}
		t, path = fieldType(t, key), rest
	}
}

// fieldType returns nil for an unknown key.
func fieldType(t reflect.Type, key string) reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range fieldsOf(t) {
		if f.key == key {
			return t.FieldByIndex(f.index).Type
		}
	}
	return nil
}
