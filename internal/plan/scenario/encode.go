package scenario

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// Marshal returns s as YAML, with every value in the order of the types. Parse reads a resolved,
// valid s back unchanged.
func (s Scenario) Marshal() ([]byte, error) {
	root, err := encode(reflect.ValueOf(s))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	plainNumbers(root)
	text, err := yaml.Dump(root, yaml.WithCompactSeqIndent(false),
		yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return text, nil
}

// MarshalJSON returns s as JSON with the keys and texts of its YAML. Parse reads it back too.
func (s Scenario) MarshalJSON() ([]byte, error) {
	root, err := encode(reflect.ValueOf(s))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return appendJSON(nil, root)
}

func encode(v reflect.Value) (*yaml.Node, error) {
	switch value := v.Interface().(type) {
	case Size:
		if value.Distribution == "fixed" && len(value.Values) == 1 {
			return encode(reflect.ValueOf(value.Values[0]))
		}
		mapping, err := encode(reflect.ValueOf(value.mapping()))
		if err == nil {
			mapping.Style = yaml.FlowStyle
		}
		return mapping, err
	case Payload:
		if value.File == "" {
			return encode(reflect.ValueOf(value.Class))
		}
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return scalar("!!str", string(text)), err
	}
	switch v.Kind() {
	case reflect.Struct:
		return encodeStruct(v)
	case reflect.Map:
		return encodeConfig(v.Interface().(map[string]string)), nil
	case reflect.Slice:
		return encodeList(v)
	case reflect.String:
		return scalar("!!str", literally(v.String())), nil
	case reflect.Bool:
		return scalar(number, strconv.FormatBool(v.Bool())), nil
	case reflect.Float64:
		return scalar(number, strconv.FormatFloat(v.Float(), 'g', -1, 64)), nil
	case reflect.Uint64:
		return scalar(number, strconv.FormatUint(v.Uint(), 10)), nil
	case reflect.Int, reflect.Int64:
		return scalar(number, strconv.FormatInt(v.Int(), 10)), nil
	}
	return nil, fmt.Errorf("a value of type %s cannot be printed", v.Type())
}

// number is the tag of values that print without quotes.
const number = ""

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

// A mapping of scalars goes on one line.
func encodeStruct(v reflect.Value) (*yaml.Node, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
	for _, f := range fieldsOf(v.Type()) {
		value := v.FieldByIndex(f.index)
		if f.omitEmpty && value.IsZero() {
			continue
		}
		node, err := encode(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		if node.Kind != yaml.ScalarNode {
			mapping.Style = 0
		}
		mapping.Content = append(mapping.Content, scalar("!!str", f.key), node)
	}
	return mapping, nil
}

func encodeConfig(settings map[string]string) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		mapping.Content = append(mapping.Content, scalar("!!str", key), scalar("!!str", literally(settings[key])))
	}
	return mapping
}

func encodeList(v reflect.Value) (*yaml.Node, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for i := range v.Len() {
		element, err := encode(v.Index(i))
		if err != nil {
			return nil, err
		}
		if element.Kind != yaml.ScalarNode {
			list.Style = 0
		}
		list.Content = append(list.Content, element)
	}
	return list, nil
}

// plainNumbers removes the quotes of words that are numbers (acks: 1).
func plainNumbers(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && wholeNumber(n.Value) {
		n.Tag = number
	}
	for _, child := range n.Content {
		plainNumbers(child)
	}
}

// wholeNumber excludes leading zeros (octal) and too many digits.
func wholeNumber(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

func appendJSON(to []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.MappingNode:
		return appendPairs(to, n.Content)
	case yaml.SequenceNode:
		return appendElements(to, n.Content)
	}
	if n.Tag != "!!str" {
		return append(to, n.Value...), nil
	}
	text, err := json.Marshal(n.Value)
	return append(to, text...), err
}

func appendPairs(to []byte, content []*yaml.Node) (_ []byte, err error) {
	to = append(to, '{')
	for i := 0; i < len(content); i += 2 {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = appendJSON(to, content[i]); err != nil {
			return nil, err
		}
		if to, err = appendJSON(append(to, ':'), content[i+1]); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func appendElements(to []byte, content []*yaml.Node) (_ []byte, err error) {
	to = append(to, '[')
	for i, element := range content {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = appendJSON(to, element); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}
