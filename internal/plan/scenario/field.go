package scenario

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

type field struct {
	key       string
	index     []int // for reflect.Value.FieldByIndex
	omitEmpty bool
}

// fieldsOf keeps the order of the declaration, and includes the keys of inlined structs.
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

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	return keys
}

// elsewhere returns load.acks for acks.
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
	slices.SortFunc(paths, func(a, b string) int { // shallow paths are meant most often, and keys of a cluster least
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."),
			strings.Count(a, "cluster.")-strings.Count(b, "cluster."), strings.Compare(a, b))
	})
	return paths
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// within reports whether inner is path or a part of the mapping or list at path.
func within(path, inner string) bool {
	rest, ok := strings.CutPrefix(inner, path)
	return ok && (path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}
