package scenario

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// chooseVariants takes the variants that have the values of keys that the suite varies itself. A value that none of them
// has is set in each of those that fit the rest. If a key has several values, the other keys choose nothing.
func (t *Translation) chooseVariants() {
	suite, err := ReadSuite(t.Scenario, Options{})
	if err != nil || len(suite.Axes) == 0 {
		return
	}
	last := suite.Axes[len(suite.Axes)-1]
	varies := func(key string) bool {
		of := func(c Cell) bool { return c.valueAt(key) != suite.Cells[0].valueAt(key) }
		return last.Path == VariantAxis && slices.ContainsFunc(suite.Cells, of)
	}
	several := slices.ContainsFunc(t.Set, func(s Setting) bool { return s.listed() && varies(s.path()) })
	rest, all, varied, replaced := suite.Cells, t.Set, []string(nil), []string(nil)
	t.Set = nil
	for _, s := range all {
		key, values := s.path(), s.values()
		had := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(having(rest, key, v)) == 0 })
		switch fit := having(rest, key, had...); {
		case slices.ContainsFunc(suite.Axes, func(a Axis) bool { return a.Path == key }):
			t.Set = append(t.Set, Setting{matrixPrefix + key, "[" + strings.Join(values, ", ") + "]", s.Word})
		case !varies(key):
			t.Set = append(t.Set, s)
		case s.listed() && len(had) == 0:
			t.without(s, "no variant has one of them; choose with variants=[NAME]")
		case len(fit) > 0 && (s.listed() || !several || len(fit) == len(rest)):
			rest, varied = fit, append(varied, key+"="+strings.Join(had, ","))
			t.Varied = append(t.Varied, Setting{key, s.Value, s.Word})
		default:
			t.Set, replaced = append(t.Set, s), append(replaced, s.String())
		}
	}
	if varied != nil {
		t.Remarks = append(t.Remarks, "variants with "+strings.Join(varied, ", ")+", because "+t.Scenario+" varies these keys itself")
	}
	if replaced != nil {
		t.Remarks = append(t.Remarks, strings.Join(replaced, ", ")+" is set in each of the variants, whatever its name says")
	}
	if names := t.differing(rest, replaced != nil); last.Path == VariantAxis && len(names) < len(last.Values) {
		t.Set = append(t.Set, Setting{Key: variantsKey, Value: "[" + strings.Join(names, ", ") + "]"})
	}
}

const matrixPrefix = "matrix."

func (s Setting) listed() bool { return strings.HasPrefix(s.Key, matrixPrefix) }

// path is the key without that of the matrix.
func (s Setting) path() string { return strings.TrimPrefix(s.Key, matrixPrefix) }

func (s Setting) values() []string {
	if !s.listed() {
		return []string{s.Value}
	}
	return strings.Split(strings.Trim(s.Value, "[]"), ", ")
}

// having returns the cells that have one of the values.
func having(cells []Cell, key string, values ...string) []Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return !slices.Contains(values, c.valueAt(key)) })
}

// valueAt returns the value of a key as it is printed; "" if the cell has none.
func (c Cell) valueAt(key string) string {
	at, err := encode(reflect.ValueOf(c.Scenario))
	for _, part := range splitPath(key) {
		if err != nil || at.Kind != yaml.MappingNode {
			return ""
		}
		i := 0
		for i < len(at.Content) && at.Content[i].Value != part {
			i += 2
		}
		if i >= len(at.Content) {
			return ""
		}
		at = at.Content[i+1]
	}
	return flowText(at)
}

// differing returns the variants of the cells. If settings replace some of their own, only the first of equal ones stays.
func (t *Translation) differing(cells []Cell, replaced bool) (names []string) {
	known := make(map[string]bool)
	o := Options{}
	for _, s := range t.Set {
		o.Set = append(o.Set, s.String())
	}
	for _, c := range cells {
		name := c.Values[len(c.Values)-1]
		text := name
		one := o
		one.Set = append(slices.Clip(o.Set), variantsKey+"=["+name+"]")
		if suite, err := ReadSuite(t.Scenario, one); replaced && err == nil {
			only := suite.Cells[0].Scenario
			only.Name, only.Description = "", ""
			json, _ := only.MarshalJSON() // it was valid
			text = string(json)
		}
		if !known[text] {
			names = append(names, name)
		}
		known[text] = true
	}
	return names
}
