package scenario

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

const quickKey = "quick"

// Quick runs must not pass for full ones.
const quickSuffix = "-quick"

var ofBothForms = []string{"name", "description", "question", "answer", "by", "agents", quickKey}

// Partial scenarios, one per merged file, are applied in order over the scenario.
type quick struct{ parts []choice }

func (q quick) given() bool { return len(q.parts) > 0 }

// quick stores the part n for layQuick, which runs after all files were read.
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

// layQuick applies the quick form to doc. If the form is not wanted, it applies the form to a copy,
// so that mistakes in the form are reported early.
func (d *decoder) layQuick(doc *document, wanted bool) {
	if !wanted {
		aside, in := d.aside(), *doc
		aside.layParts(&in)
		d.mistakes = append(d.mistakes, aside.mistakes...)
		return
	}
	d.layParts(doc)
}

func (d *decoder) layParts(doc *document) {
	layer := d.layer
	for _, part := range doc.Quick.parts {
		d.layer = part.at.file
		d.value(part.node, reflect.ValueOf(doc).Elem(), "")
	}
	d.layer = layer
}

// aside returns a copy for reading without effect on d.
func (d *decoder) aside() *decoder {
	return &decoder{
		layer: d.layer, layers: slices.Clip(d.layers), env: d.env, drivers: d.drivers, diskFault: d.diskFault, nodes: d.nodes,
		places: maps.Clone(d.places),
		failed: maps.Clone(d.failed), incomplete: maps.Clone(d.incomplete),
	}
}

func quickName(name string) string {
	if strings.HasSuffix(name, quickSuffix) || name == "" {
		return name
	}
	return cut(name, maxNameLength-len(quickSuffix)) + quickSuffix
}
