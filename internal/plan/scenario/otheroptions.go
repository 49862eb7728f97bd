package scenario

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// OtherOptions returns the options that another tool's text has, in its order: a file of YAML, JSON or properties, or a
// mapping in one line. It returns nil if the text is a scenario, or nothing that is known.
func OtherOptions(text []byte) (options []Option) {
	roots, err := parseYAML(text)
	if err != nil || len(roots) != 1 || target(roots[0]).Kind != yaml.MappingNode {
		return ofProperties(text)
	}
	root, known := target(roots[0]), 0
	for i := 0; i+1 < len(root.Content); i += 2 {
		if block := target(root.Content[i+1]); root.Content[i].Value == "config" && block.Kind == yaml.MappingNode {
			root = block // of a result, which has the options in it
		}
	}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, target(n.Content[i+1])
			switch {
			case listsRates(value):
				options = append(options, Option{Name: key, Value: flowText(value)})
				known += 2
			case value.Kind == yaml.ScalarNode || listsScalars(value):
				o := Option{Name: key, Value: scalars(value)}
				if options = append(options, o.properties()...); synonym(key) != "" {
					known++
				}
			case !slices.Contains(keysOf(reflect.TypeFor[document]()), key):
				visit(value)
			}
		}
	}
	if visit(root); known < 2 {
		return nil
	}
	return options
}

func ofProperties(text []byte) []Option {
	options := Option{Value: string(text)}.properties()
	known := slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return synonym(o.Name) == "" && len(elsewhere(o.Name)) == 0 })
	if len(known) < 2 {
		return nil
	}
	return options
}

// listsRates reports whether n is a list of [rate, warm-up, run].
func listsRates(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && len(n.Content) > 0 &&
		!slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return !listsScalars(item) || len(item.Content) != 3 })
}

func listsScalars(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
}

// scalars returns a scalar, or those of a list with commas between.
func scalars(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var all []string
	for _, item := range n.Content {
		all = append(all, item.Value)
	}
	return strings.Join(all, ",")
}

// hocon is what parts the settings of a block in one line.
var hocon = regexp.MustCompile(`\{ | \}|\{$|", `)

// properties returns the options in a value with a line for each, or else o.
func (o Option) properties() (options []Option) {
	prefix := ""
	if synonym(o.Name) == topicConfig {
		prefix = topicConfig + "."
	}
	for line := range strings.Lines(hocon.ReplaceAllString(o.Value, "\n")) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(name, "#") {
			options = append(options, Option{Name: prefix + strings.TrimSpace(name), Value: strings.Trim(value, " \t\r\"'")})
		}
	}
	if len(options) == 0 {
		return []Option{o}
	}
	return options
}
