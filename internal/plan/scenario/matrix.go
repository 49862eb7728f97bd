package scenario

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// At one minute per run, a thousand cells take a night.
const maxCells = 1000

// An alias may make a value's text very long.
const maxChoiceText = 1000

// notVaried are the keys that apply to all cells.
var notVaried = []string{"name", "description", "question", "answer", "by", "agents", "variants", "matrix", "quick", "repeat",
	"order", "seed"}

type matrix struct {
	axes    []axis
	exclude []exclusion
}

// axis is one setting with its values, or the variants.
type axis struct {
	path   string
	at     place
	values []choice
}

func (a axis) where() string {
	if a.path == VariantAxis {
		return variantsKey
	}
	return join("matrix", a.path)
}

// sets returns the path that the axis sets; "" for variants, which may set any.
func (a axis) sets() string {
	if a.path == VariantAxis {
		return ""
	}
	return a.path
}

type choice struct {
	text string
	node *yaml.Node // maybe an alias
	at   place
	// against is the variant to compare this variant with; "" is none.
	against string
}

// All terms must match.
type exclusion struct {
	at    place
	terms []term
}

type term struct {
	path     string
	at       place
	value    string
	valuedAt place
}

func (d *decoder) matrix(n *yaml.Node, m *matrix, path string) {
	if n.Kind != yaml.MappingNode {
		d.mistake(n, path, "it is "+kind(n)+", not a mapping", "write it as {load.compression: [none, zstd]}")
		return
	}
	next := matrix{axes: slices.Clone(m.axes), exclude: m.exclude}
	d.eachKey(n, path, func(key, value *yaml.Node) {
		at := join(path, key.Value)
		value, ok := d.open(value, at)
		switch {
		case !ok:
		case key.Value == VariantAxis:
			d.mistake(key, at, "variants have a list of their own", "write "+variantsKey+": [{name: a, …}, …]")
		case key.Value == "exclude":
			next.exclude = d.exclusions(value, at)
		default:
			next.lay(axis{path: key.Value, at: d.place(key), values: d.choices(value, key.Value, at)}, reopens(value))
		}
	})
	*m = next
}

// lay adds the axis a, or replaces the axis with the same path. If away is set, it removes that
// axis.
func (m *matrix) lay(a axis, away bool) {
	i := slices.IndexFunc(m.axes, func(other axis) bool { return other.path == a.path })
	switch {
	case away && i >= 0:
		m.axes = slices.Delete(m.axes, i, i+1)
	case away:
	case i >= 0:
		m.axes[i] = a
	default:
		m.axes = append(m.axes, a)
	}
}

// choices reads the values of the setting sets; path is their place.
func (d *decoder) choices(n *yaml.Node, sets, path string) (values []choice) {
	const example = "list the values to run with, as in load.compression: [none, zstd]"
	switch {
	case reopens(n):
		return nil
	case n.Kind == yaml.MappingNode:
		d.mistake(n, path, "it is a mapping, not a list", "write a path with dots and "+example)
		return nil
	case n.Kind != yaml.SequenceNode:
		d.mistake(n, path, "it is "+kind(n)+", not a list", example)
		return nil
	case len(n.Content) == 0:
		d.mistake(n, path, "it has no values", example)
		return nil
	}
	for i, child := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		value, ok := d.open(child, at)
		if d.nodes >= maxNodes {
			return values
		}
		if !ok {
			continue
		}
		next := choice{text: canonical(sets, value), node: child, at: d.place(child)}
		if slices.ContainsFunc(values, func(c choice) bool { return c.text == next.text }) {
			d.mistake(child, at, valueShown(path, next.text)+" is given twice", "keep one of them; repeat says how often a cell is run")
			continue
		}
		values = append(values, next)
	}
	return values
}

func (d *decoder) exclusions(n *yaml.Node, path string) (excluded []exclusion) {
	const example = "write it as [{load.compression: none, load.level: 3}]"
	if reopens(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		d.mistake(n, path, "it is "+kind(n)+", not a list", example)
		return nil
	}
	for i, child := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		child, ok := d.open(child, at)
		if !ok {
			continue
		}
		if child.Kind != yaml.MappingNode || len(child.Content) == 0 {
			d.mistake(child, at, "it names no cells", example)
			continue
		}
		e := exclusion{at: d.place(child)}
		d.eachKey(child, at, func(key, value *yaml.Node) {
			defer d.use(value)()
			if value, ok := d.open(value, join(at, key.Value)); ok {
				e.terms = append(e.terms, term{key.Value, d.place(key), canonical(key.Value, value), d.place(value)})
			}
		})
		excluded = append(excluded, e)
	}
	return excluded
}

func flowText(n *yaml.Node) string {
	var b strings.Builder
	writeFlow(&b, n)
	return b.String()
}

func writeFlow(b *strings.Builder, n *yaml.Node) {
	n = target(n)
	if b.Len() > maxChoiceText {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteString("{")
		for i := 0; i+1 < len(n.Content) && b.Len() <= maxChoiceText; i += 2 {
			if i > 0 {
				b.WriteString(", ")
			}
			writeFlow(b, n.Content[i])
			b.WriteString(": ")
			writeFlow(b, n.Content[i+1])
		}
		b.WriteString("}")
	case yaml.SequenceNode:
		b.WriteString("[")
		for i := 0; i < len(n.Content) && b.Len() <= maxChoiceText; i++ {
			if i > 0 {
				b.WriteString(", ")
			}
			writeFlow(b, n.Content[i])
		}
		b.WriteString("]")
	default:
		b.WriteString(n.Value)
	}
}

// The last axis changes fastest. Without axes there is one cell without values. ok is false after a
// mistake.
func (d *decoder) cells(m matrix) (cells [][]choice, ok bool) {
	before := len(d.mistakes)
	d.axes(m)
	for i, e := range m.exclude {
		d.excludes(m, e, fmt.Sprintf("matrix.exclude[%d]", i))
	}
	if len(d.mistakes) > before {
		return nil, false
	}
	cells = [][]choice{nil}
	for _, a := range m.axes {
		var longer [][]choice
		for _, cell := range cells {
			for _, value := range a.values {
				longer = append(longer, append(slices.Clip(cell), value))
			}
		}
		if cells = longer; len(cells) > maxCells {
			d.mistakeAt(a.at, "matrix", fmt.Sprintf("it makes more than %d cells", maxCells), "list fewer values")
			return nil, false
		}
	}
	if len(cells) == 0 {
		return nil, false
	}
	if cells = slices.DeleteFunc(cells, m.excluded); len(cells) == 0 {
		d.mistakeAt(d.nearestPlace("matrix.exclude"), "matrix.exclude", "it leaves no cell", "exclude less")
		return nil, false
	}
	return cells, true
}

func (d *decoder) axes(m matrix) {
	for _, a := range m.axes {
		path := a.where()
		top, _, _ := strings.Cut(a.path, ".")
		switch {
		case slices.Contains(notVaried, top):
			d.mistakeAt(a.at, path, "it is the same for all cells", "set "+top+" itself")
		case len(a.values) == 0 && !d.failed[path]:
			d.mistakeAt(a.at, path, "it has no values", "list some, or leave it out")
		}
	}
}

func (d *decoder) excludes(m matrix, e exclusion, path string) {
	var varied []string
	for _, a := range m.axes {
		varied = append(varied, a.path)
	}
	for _, t := range e.terms {
		i := slices.Index(varied, t.path)
		if i < 0 {
			d.mistakeAt(t.at, path, "it matches no cell: "+unvaried(t.path),
				guess(t.path, varied, "it varies"))
			continue
		}
		var values []string
		for _, value := range m.axes[i].values {
			values = append(values, value.text)
		}
		if !slices.Contains(values, t.value) && !d.failed[m.axes[i].where()] {
			remedy := guess(t.value, values, "its values are")
			if hides(t.path) {
				remedy = "write it as the matrix does"
			}
			d.mistakeAt(t.valuedAt, path, fmt.Sprintf("it matches no cell: %s is never %s", t.path, valueShown(t.path, t.value)),
				remedy)
		}
	}
}

func unvaried(path string) string {
	if path == VariantAxis {
		return "there are no variants"
	}
	return "the matrix does not vary " + path
}

// guess returns "did you mean X? INTRO X, Y" without the parts that do not apply.
func guess(word string, words []string, intro string) string {
	if len(words) == 0 {
		return "leave it out"
	}
	all := intro + " " + strings.Join(words, ", ")
	if near := spelling.Nearest(word, words); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, all)
	}
	return all
}

func (m matrix) excluded(cell []choice) bool {
	return slices.ContainsFunc(m.exclude, func(e exclusion) bool {
		for _, t := range e.terms {
			i := slices.IndexFunc(m.axes, func(a axis) bool { return a.path == t.path })
			if i < 0 || cell[i].text != t.value {
				return false
			}
		}
		return len(e.terms) > 0
	})
}
