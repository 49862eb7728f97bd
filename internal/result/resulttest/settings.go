package resulttest

import (
	"encoding/json"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// Settings returns the settings that v marshals to.
func Settings(v any) result.Settings {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	s, err := result.SettingsOf(json.RawMessage(text))
	if err != nil {
		panic(err)
	}
	return s
}

// Set changes one setting, or a mapping of settings, by its path, which has no lists; nil unsets
// it.
func Set(s *result.Settings, path string, value any) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	root := map[string]any{}
	if err := json.Unmarshal(text, &root); err != nil {
		panic(err)
	}
	names := strings.Split(path, ".")
	part := root
	for _, name := range names[:len(names)-1] {
		child, ok := part[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			part[name] = child
		}
		part = child
	}
	part[names[len(names)-1]] = value
	*s = Settings(root)
}
