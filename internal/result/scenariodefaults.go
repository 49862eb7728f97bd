package result

import "maps"

// laterSettings are the keys of a scenario that came after the first schema of
// run.json and that newer runs always have, with what an older run did in effect. A
// key that is only written where it asks for something needs none.
var laterSettings = map[string]string{
	"consume.groups":     "1",
	"consume.assignment": "group",
	"consume.from":       "end", // of an existing topic; of a new one there is nothing to read from
	"load.processes":     "1",
	"consume.processes":  "1",
	"driver":             "franz",

	// Nobody asked the brokers of an older run about themselves. That makes no other
	// configuration of it: what was measured is the same.
	"cluster.metrics":   "jmx",
	"cluster.warmup":    "0s", // new brokers were put under load by the first run itself
	"sampling.brokers":  "5s",
	"sampling.replicas": "100ms",

	"backpressure.signal": "committed",
	"backpressure.per":    "topic",
	"backpressure.grace":  "5s",
	"backpressure.blind":  "closed",
	"backpressure.share":  "static",
}

// LaterSettings are the keys of a scenario, as in consume.groups, that recorded
// scenarios may be too old to have, each with the value that it then stands at.
// Keys that were there from the beginning are not among them.
func LaterSettings() map[string]string { return maps.Clone(laterSettings) }
