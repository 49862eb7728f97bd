package scenario

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// quickKey is the key of the quick form.
const quickKey = "quick"

// quickSuffix ends the name of a quick form, so that its runs are not taken for
// those of the whole one.
const quickSuffix = "-quick"

// ofBothForms are the keys of a scenario file that its quick form may not set,
// because they say what the scenario is.
var ofBothForms = []string{"name", "description", "question", "answer", "by", quickKey}

// quick makes a short form of a scenario: parts of one that are laid over it, as a
// file would be that is merged over it. Whoever merges a file with another quick
// part over a scenario has both, the later one on top.
type quick struct{ parts []choice }

// given tells whether there is a quick form.
func (q quick) given() bool { return len(q.parts) > 0 }

// quick notes the part that n is. It is read by layQuick, once all files are there.
func (d *decoder) quick(n *yaml.Node, q *quick, path string) {
	if n.Kind != yaml.MappingNode {
		d.mistake(n, path, "it is "+kind(n)+", not a mapping",
			"write what the quick form has otherwise, as in quick: {phases: {measure: 5s}}")
		return
	}
	part := &yaml.Node{Kind: yaml.MappingNode, Tag: n.Tag, Style: n.Style, Line: n.Line, Column: n.Column}
	d.eachKey(n, path, func(key, value *yaml.Node) {
		if slices.Contains(ofBothForms, key.Value) {
			d.mistake(key, join(path, key.Value), "it is the same for the quick form", "set "+key.Value+" itself")
			return
		}
		part.Content = append(part.Content, key, value)
	})
	q.parts = append(slices.Clip(q.parts), choice{node: part, at: d.place(n)})
}

// layQuick lays the quick form over doc, where it is wanted. Where it is not, it is
// read all the same, over a copy: what is wrong with it is better found today than on
// the day when it is needed.
func (d *decoder) layQuick(doc *document, wanted bool) {
	if !wanted {
		aside, in := d.aside(), *doc
		aside.layParts(&in)
		d.mistakes = append(d.mistakes, aside.mistakes...)
		return
	}
	if !doc.Quick.given() && !d.failed[quickKey] {
		d.mistakeAt(place{d.layers[0], 1, 1}, quickKey, "the scenario has no quick form, and --quick asks for it",
			"leave --quick out, or give it one, as in quick: {phases: {warmup: 1s, measure: 5s}, repeat: 1}")
		return
	}
	d.layParts(doc)
}

// layParts reads the parts of doc's quick form over it, each in the layer that it
// was written in.
func (d *decoder) layParts(doc *document) {
	layer := d.layer
	for _, part := range doc.Quick.parts {
		d.layer = part.at.file
		d.value(part.node, reflect.ValueOf(doc).Elem(), "")
	}
	d.layer = layer
}

// aside is a decoder that knows what d knows, and leaves d as it is.
func (d *decoder) aside() *decoder {
	return &decoder{
		layer: d.layer, layers: slices.Clip(d.layers), env: d.env, drivers: d.drivers, diskFault: d.diskFault, nodes: d.nodes,
		places: maps.Clone(d.places),
		failed: maps.Clone(d.failed), incomplete: maps.Clone(d.incomplete),
	}
}

// quickName is the name of a scenario's quick form, cut where it would be too long.
func quickName(name string) string {
	if strings.HasSuffix(name, quickSuffix) || name == "" {
		return name
	}
	return cut(name, maxNameLength-len(quickSuffix)) + quickSuffix
}
