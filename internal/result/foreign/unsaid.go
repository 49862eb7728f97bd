package foreign

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// unsaid returns the fields that cannot be null and that the source lacks: all numbers and booleans
// of the schema except says. A block without any known field is named as a whole.
func unsaid(r *result.Run, intervals []result.Interval, says []string) []string {
	told := make(map[string]bool, len(says))
	for _, path := range says {
		told[path] = true
	}
	w := walker{told: told}
	for _, block := range []struct {
		name  string
		value any
	}{
		{"load", r.Load}, {"delivery", r.Delivery}, {"lag", r.Lag}, {"consumer", r.Consumer},
		{"warmup", r.Warmup}, {"process", r.Process}, {"run.host", r.Run.Host}, {"run.cluster", r.Run.Cluster},
	} {
		w.block(block.name, block.value)
	}
	for _, name := range sortedKeys(r.Time) {
		w.block("time."+name, result.Time{})
	}
	for range min(len(r.Compression), 1) {
		w.block("compression", result.Compression{})
	}
	if r.Backpressure != nil {
		w.block("backpressure", *r.Backpressure)
	}
	if len(intervals) > 0 {
		w.block("intervals", result.Interval{})
		w.block("intervals.time", result.IntervalTime{})
	}
	return w.open
}

type walker struct {
	told map[string]bool
	open []string
}

func (w *walker) block(prefix string, v any) {
	if open, filled := w.fields(prefix, reflect.ValueOf(v)); filled {
		w.open = append(w.open, open...)
	} else {
		w.open = append(w.open, prefix)
	}
}

func (w *walker) fields(prefix string, v reflect.Value) (open []string, filled bool) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		path := prefix + "." + name
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
			if w.told[path] {
				filled = true
			} else {
				open = append(open, path)
			}
		case reflect.Struct:
			inner, told := w.fields(path, f)
			if !told {
				inner = []string{path}
			}
			open, filled = append(open, inner...), filled || told
		default: // can be null, or is text
			filled = filled || !f.IsZero()
		}
	}
	return open, filled
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
