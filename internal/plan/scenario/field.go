package scenario

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// A field is one key of a mapping in a scenario, as the yaml tag of its struct
// field names it.
type field struct {
	key       string
	index     []int // as reflect.Value.FieldByIndex takes it
	omitEmpty bool
}

// fieldsOf lists the keys of a struct type in the order of its declaration,
// which is the order in which they are printed. The keys of an embedded struct
// with the option inline are among them.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		key, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			for _, f := range fieldsOf(t.Field(i).Type) {
				f.index = append([]int{i}, f.index...)
				fields = append(fields, f)
			}
		case key != "" && key != "-":
			fields = append(fields, field{key: key, index: []int{i}, omitEmpty: options == "omitempty"})
		}
	}
	return fields
}

// keysOf is the keys alone.
func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	return keys
}

// elsewhere finds where in a scenario a key belongs, for somebody who wrote it
// in the wrong mapping: "acks" is load.acks, and "maxLag" backpressure.max_lag.
func elsewhere(key string) []string {
	var paths []string
	var visit func(t reflect.Type, path string)
	visit = func(t reflect.Type, path string) {
		for _, f := range fieldsOf(t) {
			at := join(path, f.key)
			if spelling.Same(f.key, key) {
				paths = append(paths, at)
			}
			if ft := t.FieldByIndex(f.index).Type; ft.Kind() == reflect.Struct {
				visit(ft, at)
			}
		}
	}
	visit(reflect.TypeFor[document](), "")
	slices.SortFunc(paths, func(a, b string) int { // what lies deep is meant least often
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
	})
	return paths
}

// join is the path of a key in the mapping at path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// within tells whether path is inner or a part of the mapping or list at path.
func within(path, inner string) bool {
	rest, ok := strings.CutPrefix(inner, path)
	return ok && (path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// parent is the path of the mapping or list that path is in; "" at the top.
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}
