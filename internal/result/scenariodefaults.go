package result

import "maps"

// laterSettings are the keys that the first schema did not have, with the value that older runs
// used. Keys that a scenario omits at their default are not in it.
var laterSettings = map[string]string{
	"consume.groups":     "1",
	"consume.assignment": "group",
	"consume.from":       "end", // of an existing topic; irrelevant for a new one
	"load.processes":     "1",
	"consume.processes":  "1",
	"driver":             "franz",

	// Older runs configured the brokers' metrics in the same way, but did not read them.
	"cluster.metrics":   "jmx",
	"cluster.warmup":    "0s", // the first run warmed up new brokers
	"sampling.brokers":  "5s",
	"sampling.replicas": "100ms",

	"backpressure.signal": "committed",
	"backpressure.per":    "topic",
	"backpressure.grace":  "5s",
	"backpressure.blind":  "closed",
	"backpressure.share":  "static",
}

// LaterSettings returns the keys of a scenario that older runs may lack, such as consume.groups,
// with the value that they then have.
func LaterSettings() map[string]string { return maps.Clone(laterSettings) }
