package figure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// notOfTheRun are the keys of a scenario that change nothing in a run: what it
// is called, and how often and in which order it is repeated.
var notOfTheRun = []string{"name", "description", "repeat", "order", "seed", "question", "answer", "quick", "matrix"}

// Settings are what a scenario, as a run has recorded it, asks of the run, by their
// paths: load.record.size is 512B. What changes nothing in a run is left out.
func Settings(scenario any) map[string]string {
	flat := map[string]string{}
	flatten(flat, "", scenario)
	for name := range flat {
		root, _, _ := strings.Cut(name, ".")
		if root, _, _ = strings.Cut(root, "["); slices.Contains(notOfTheRun, root) {
			delete(flat, name)
		}
	}
	return flat
}

func flatten(into map[string]string, path string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, child := range v {
			if path != "" {
				name = path + "." + name
			}
			flatten(into, name, child)
		}
	case []any:
		for i, child := range v {
			flatten(into, path+"["+strconv.Itoa(i)+"]", child)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}
