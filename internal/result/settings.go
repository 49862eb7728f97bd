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

// Settings are a scenario as a run recorded it: resolved, nothing implicit. A path names a
// setting as the YAML does, with the numbers of lists: load.record.size, faults[0].at. The
// zero value is of a run that recorded none.
type Settings struct {
	recorded json.RawMessage   // compact
	values   map[string]string // by path; those that are null are unset
}

// SettingsOf returns what v marshals to as settings.
func SettingsOf(v json.Marshaler) (Settings, error) {
	recorded, err := v.MarshalJSON()
	if err != nil {
		return Settings{}, err
	}
	var s Settings
	err = s.UnmarshalJSON(recorded)
	return s, err
}

// Get returns a setting in the words of its YAML, "" if the run did not record it.
func (s Settings) Get(path string) string { return s.values[path] }

// Int returns a setting that is a whole number.
func (s Settings) Int(path string) (int64, bool) {
	n, err := strconv.ParseInt(s.values[path], 10, 64)
	return n, err == nil
}

// All are the settings that are set, in the order of their paths.
func (s Settings) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, path := range slices.Sorted(maps.Keys(s.values)) {
			if !yield(path, s.values[path]) {
				return
			}
		}
	}
}

// MarshalJSON returns what was recorded.
func (s Settings) MarshalJSON() ([]byte, error) {
	if s.recorded == nil {
		return []byte("null"), nil
	}
	return s.recorded, nil
}

// UnmarshalJSON reads what was recorded.
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
