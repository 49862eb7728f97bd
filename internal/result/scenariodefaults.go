package result

import (
	"encoding/json"
	"maps"
	"strings"
)

// laterSettings are the keys that the first schema did not have, with the value that older runs
// used. Keys that a scenario omits at their default are not in it.
var laterSettings = map[string]string{
	"consume.groups":     "1",
	"consume.assignment": "group",
	"consume.from":       "end", // of an existing topic; irrelevant for a new one
	"load.processes":     "1",
	"consume.processes":  "1",
	"driver":             "franz",
	"load.record.stamp":  "value",

	// Older runs configured the brokers' metrics in the same way, but did not read them.
	"cluster.metrics":   "jmx",
	"cluster.warmup":    "0s", // the first run warmed up new brokers
	"sampling.brokers":  "5s",
	"sampling.replicas": "100ms",

	"backpressure.signal": "committed",
	"backpressure.grace":  "5s",
	"backpressure.blind":  "closed",
}

// formerSettings are the keys that scenarios no longer have, with the value that all runs have now.
var formerSettings = map[string]string{
	"backpressure.per":   "topic",
	"backpressure.share": "static",
}

// LaterSettings returns the keys of a scenario that other runs may lack, such as consume.groups,
// with the value that those have. Either older runs lack them, or newer ones.
func LaterSettings() map[string]string {
	all := maps.Clone(laterSettings)
	maps.Copy(all, formerSettings)
	return all
}

// WithoutFormer returns the settings without the keys that scenarios no longer have. A key whose
// value no run can have now stays.
func (s Settings) WithoutFormer() (Settings, error) {
	blocks := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.recorded, &blocks); err != nil {
		return Settings{}, err
	}
	for path, value := range formerSettings {
		if s.Get(path) != value {
			continue
		}
		block, key, _ := strings.Cut(path, ".")
		keys := map[string]json.RawMessage{}
		err := json.Unmarshal(blocks[block], &keys)
		delete(keys, key)
		if err == nil {
			blocks[block], err = json.Marshal(keys)
		}
		if err != nil {
			return Settings{}, err
		}
	}
	text, err := json.Marshal(blocks)
	if err == nil {
		err = s.UnmarshalJSON(text)
	}
	return s, err
}
