package scenario

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// overridePrefix starts the name that faults give to an override.
const overridePrefix = "--set "

// set lays one override, "load.rate=20k/s", over s. The value is YAML, so that a
// list or a mapping may be given as well. As in a file, the keys of a mapping
// are merged into what is there and everything else replaces it.
func (d *decoder) set(override string, s *Scenario) {
	d.override = overridePrefix + override
	defer func() { d.override = "" }()
	path, text, ok := strings.Cut(override, "=")
	if !ok {
		d.faults = append(d.faults, Fault{File: d.override, Problem: "there is no = in it",
			Remedy: "write " + overridePrefix + "load.rate=20k/s"})
		return
	}
	roots, err := parseYAML([]byte(text))
	if err != nil {
		_, problem, remedy := syntax(err)
		d.fault(nil, path, "the value is not YAML: "+problem, remedy)
		return
	}
	if len(roots) > 1 {
		d.fault(nil, path, "the value is several YAML documents", "give one value")
		return
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	if len(roots) > 0 {
		value = roots[0]
	}
	keys := splitPath(path)
	for i := len(keys) - 1; i >= 0; i-- {
		value = wrap(keys[i], value)
	}
	d.value(value, reflect.ValueOf(s).Elem(), "")
}

// wrap is the mapping {key: value}.
func wrap(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value,
	}}
}

// splitPath splits a dotted path into keys. What follows the name of a mapping
// of Kafka's settings is one key: topic.config.max.message.bytes.
func splitPath(path string) []string {
	var keys []string
	t := reflect.TypeFor[Scenario]()
	for {
		if t != nil && t.Kind() == reflect.Map {
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

// fieldType is the type of a key in a mapping of type t; nil where there is none.
func fieldType(t reflect.Type, key string) reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range fieldsOf(t) {
		if f.key == key {
			return t.Field(f.index).Type
		}
	}
	return nil
}
