package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
)

// Settings are the resolved scenario of a run. A path names a setting as the YAML does, with
// indices of lists: load.record.size, faults[0].at. The zero value has no settings.
type Settings struct {
	recorded json.RawMessage   // compact
	values   map[string]string // by path; without null values
}

// SettingsOf returns the settings that v marshals to.
func SettingsOf(v json.Marshaler) (Settings, error) {
	recorded, err := v.MarshalJSON()
	if err != nil {
		return Settings{}, err
	}
	var s Settings
	err = s.UnmarshalJSON(recorded)
	return s, err
}

// Get returns a setting as in YAML, or "" if the run did not record it.
func (s Settings) Get(path string) string { return s.values[path] }

// Int returns a setting as a whole number; ok is false if the setting is no whole number.
func (s Settings) Int(path string) (int64, bool) {
	n, err := strconv.ParseInt(s.values[path], 10, 64)
	return n, err == nil
}

// All iterates over the settings in the order of their paths.
func (s Settings) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, path := range slices.Sorted(maps.Keys(s.values)) {
			if !yield(path, s.values[path]) {
				return
			}
		}
	}
}

// MarshalJSON returns the recorded JSON.
func (s Settings) MarshalJSON() ([]byte, error) {
	if s.recorded == nil {
		return []byte("null"), nil
	}
	return s.recorded, nil
}

// UnmarshalJSON reads the recorded JSON.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	var v any
	if err := decode(text, &v); err != nil {
		return err
	}
	*s = Settings{}
	if v != nil {
		s.recorded, s.values = compact.Bytes(), map[string]string{}
		s.flatten("", v)
	}
	return nil
}

func (s *Settings) flatten(path string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, child := range v {
			if path != "" {
				name = path + "." + name
			}
			s.flatten(name, child)
		}
	case []any:
		for i, child := range v {
			s.flatten(path+"["+strconv.Itoa(i)+"]", child)
		}
	default:
		s.values[path] = fmt.Sprint(v)
	}
}
