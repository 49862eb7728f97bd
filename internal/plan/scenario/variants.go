package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// VariantAxis is the path of the variants' axis in a Suite and in an exclusion.
const VariantAxis = "variant"

const variantsKey = "variants"

const againstKey = "against"

// A variant may not set these keys.
var ofAllVariants = slices.DeleteFunc(slices.Clone(notVaried),
	func(key string) bool { return key == "name" || key == "description" })

type variants struct {
	at   place
	list []choice // text is the name
}

func (vs variants) given() bool { return len(vs.list) > 0 }

func (vs variants) axis() axis { return axis{path: VariantAxis, at: vs.at, values: vs.list} }

func (vs variants) names() []string { return texts(vs.list) }

func (d *decoder) variants(n *yaml.Node, vs *variants, path string) {
	const example = "list them, as in [{name: tight, backpressure: {controller: credit, max_lag: 1000}}]"
	switch {
	case n.Kind == yaml.ScalarNode && slices.Contains(vs.names(), n.Value):
		d.mistake(n, path, "it is "+kind(n)+", not a list", "to run only that variant write ["+n.Value+"]")
		return
	case n.Kind != yaml.SequenceNode:
		d.mistake(n, path, "it is "+kind(n)+", not a list", example)
		return
	case len(n.Content) == 0:
		d.mistake(n, path, "it has no variants", example+", or leave it out")
		return
	}
	next := variants{at: d.place(n)}
	for i, child := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		before := len(d.mistakes)
		v := d.variant(child, *vs, at)
		if d.nodes >= maxNodes {
			return
		}
		if len(d.mistakes) > before {
			continue
		}
		if slices.Contains(next.names(), v.text) {
			d.mistake(child, at, v.text+" is given twice",
				"give it another name, or keep one of them; repeat says how often a variant is run")
			continue
		}
		next.list = append(next.list, v)
	}
	d.bases(next, *vs, path)
	*vs = next
}

func (d *decoder) bases(next, before variants, path string) {
	known := append(next.names(), before.names()...)
	for i, v := range next.list {
		at := join(fmt.Sprintf("%s[%d]", path, i), againstKey)
		switch {
		case v.against == "":
		case v.against == v.text:
			d.mistakeAt(v.at, at, v.text+" is compared with itself", "name another variant, or leave it out")
		case !slices.Contains(known, v.against):
			d.mistakeAt(v.at, at, fmt.Sprintf("there is no variant %q", v.against), "choose "+spelling.OneOf(known))
		}
	}
}

// variant reads a partial scenario with a name, or the name of an earlier variant.
func (d *decoder) variant(child *yaml.Node, before variants, path string) (v choice) {
	defer d.use(child)()
	n, ok := d.open(child, path)
	if !ok {
		return v
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.namedPart(child, n, path)
	case yaml.ScalarNode:
		i := slices.Index(before.names(), n.Value)
		if i >= 0 {
			return before.list[i]
		}
		remedy := "write it as {name: " + plain(d.env.asWritten(n)) + ", backpressure: {controller: credit, max_lag: 1000}}"
		if before.given() {
			remedy = "choose " + spelling.OneOf(before.names())
			if near := spelling.Nearest(n.Value, before.names()); near != "" {
				remedy = fmt.Sprintf("did you mean %s? %s", near, remedy)
			}
		}
		d.mistake(n, path, fmt.Sprintf("there is no variant %q", n.Value), remedy)
	default:
		d.mistake(n, path, "it is "+kind(n)+", not a mapping",
			"write it as {name: tight, backpressure: {controller: credit, max_lag: 1000}}")
	}
	return v
}

func (d *decoder) namedPart(child, n *yaml.Node, path string) choice {
	v := choice{at: d.place(n)}
	part := &yaml.Node{Kind: yaml.MappingNode, Tag: n.Tag, Style: n.Style, Line: n.Line, Column: n.Column}
	d.eachKey(n, path, func(key, value *yaml.Node) {
		switch {
		case key.Value == "name":
			if text, ok := d.open(value, join(path, key.Value)); ok {
				v.text = d.variantName(text, join(path, key.Value))
			}
		case key.Value == againstKey:
			if text, ok := d.open(value, join(path, key.Value)); ok {
				v.against = d.variantName(text, join(path, key.Value))
			}
		case slices.Contains(ofAllVariants, key.Value):
			d.mistake(key, join(path, key.Value), "it is the same for all variants", "set "+key.Value+" itself")
		default:
			part.Content = append(part.Content, key, value)
		}
	})
	if v.text == "" && !d.failed[join(path, "name")] {
		d.mistake(n, path, "it has no name", "give it one, as in name: tight")
	}
	v.node = part
	if child.Kind == yaml.AliasNode {
		v.node = &yaml.Node{Kind: yaml.AliasNode, Alias: part, Line: child.Line, Column: child.Column}
	}
	return v
}

// base returns the variant to compare a cell with; "" if there is none or it is not run.
func (vs variants) base(values []choice) string {
	if !vs.given() || !slices.Contains(vs.names(), values[len(values)-1].against) {
		return ""
	}
	return values[len(values)-1].against
}

func (d *decoder) variantName(n *yaml.Node, path string) string {
	if d.keepsOut(n, path) {
		return ""
	}
	if n.Kind == yaml.ScalarNode && plainName(n.Value) && len(n.Value) <= maxNameLength {
		return n.Value
	}
	d.mistake(n, path, fmt.Sprintf("%s cannot be part of a folder's name",
		strings.TrimPrefix(kind(n), "the single value ")),
		fmt.Sprintf("use letters, digits, dots, hyphens and underscores, a letter or digit first, %d at most",
			maxNameLength))
	return ""
}

// layVariant applies the overrides after the variant, except those of keys that apply to all
// variants: they were applied before.
func (d *decoder) layVariant(doc *document) {
	c := d.cell
	i := slices.IndexFunc(c.axes, func(a axis) bool { return a.path == VariantAxis })
	if i < 0 {
		return
	}
	c.axis, d.layer = i, c.values[i].at.file
	d.value(c.values[i].node, reflect.ValueOf(doc).Elem(), "")
	c.axis = commandLine
	for _, o := range d.overrides {
		path, _, _ := strings.Cut(o.text, "=")
		if top, _, _ := strings.Cut(path, "."); !slices.Contains(ofAllVariants, top) {
			d.set(o, doc)
		}
	}
}
