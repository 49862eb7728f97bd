// Package native holds the rules by which a scenario gives a client library settings under the library's own
// names. The rules are the same for every client; only the tables of names differ. It also has those for the
// properties and JVM options of local brokers.
//
// A setting is refused if it says how brokers are reached or who logs in, if a scenario key sets it, or if the
// books depend on it. No message shows the value of a refused setting, which may be a password.
//
// Files to know: native.go, broker.go, value.go.
package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// A Table lists the settings of a client's producers or consumers.
type Table struct {
	Client string            // the library, as messages name it
	Passed []string          // names that the client gets unchanged
	Keys   map[string]string // set by this scenario key
	Ours   map[string]string // set by the driver, with the reason
	// OneRecord is the setting that ends a batch at its first record; empty if the client has none.
	OneRecord string
	// Judges reports whether the client itself checks unknown names.
	Judges bool
}

// A Fault is a refused setting.
type Fault struct{ Name, Problem, Remedy string }

// Error returns "NAME: problem; remedy".
func (f Fault) Error() string { return fmt.Sprintf("%s: %s; %s", f.Name, f.Problem, f.Remedy) }

// AccessProblem and AccessRemedy describe a setting for which Access holds.
const (
	AccessProblem = "it says how brokers are reached or who logs in, and would be in the result"
	AccessRemedy  = "give it in the file of --command-config, and addresses with --brokers"
)

// Check returns the refused settings, sorted by name.
func (t Table) Check(given map[string]string) (faults []Fault) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		key, why := t.key(name), t.Ours[name]
		switch {
		case Access(name):
			faults = append(faults, Fault{name, AccessProblem, AccessRemedy})
		case slices.Contains(t.Passed, name):
		case key != "":
			faults = append(faults, Fault{name, "a key of the scenario sets it", "write " + key})
		case why != "":
			faults = append(faults, Fault{name, oursProblem + why, "leave it out"})
		case !t.Judges:
			faults = append(faults, Fault{name, t.Client + " has no setting of this name that is passed on", t.Remedy(name)})
		}
	}
	return faults
}

const oursProblem = "the tool sets it: "

func (t Table) key(name string) string { return cmp.Or(t.Keys[name], kafkaKeys[name]) }

// Remedy suggests a setting for an unknown name. The suggestion may be a refused setting, with the
// reason.
func (t Table) Remedy(name string) string {
	say := "docs/drivers.md lists what is passed on"
	known := slices.Concat(t.Passed, slices.Sorted(maps.Keys(t.Keys)), slices.Sorted(maps.Keys(t.Ours)),
		slices.Sorted(maps.Keys(kafkaKeys)))
	near := spelling.Nearest(name, known)
	if near == "" {
		return say
	}
	if key, why := t.key(near), t.Ours[near]; !slices.Contains(t.Passed, near) {
		if say = oursProblem + why; key != "" {
			say = "that is " + key
		}
	}
	return fmt.Sprintf("did you mean %s? %s", near, say)
}

// parts of the lower-case names of credentials and security settings
var accessWords = []string{
	"sasl", "ssl", "tls", "https.", "password", "passwd", "secret", "token", "oauth", "jaas", "credential", "username",
	"kerberos", "gssapi", "keystore", "truststore", "certificate", "private.key", "api.key", "apikey", "basic.auth",
}

var addressNames = []string{
	"bootstrap.servers", "metadata.broker.list", "security.protocol", "seedbrokers", "addr", "brokers", "writer.addr",
	"readerconfig.brokers", "consumergroupconfig.brokers",
}

// Access reports whether a setting, of any client, says how brokers are reached or who logs in.
func Access(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(addressNames, name) ||
		slices.ContainsFunc(accessWords, func(word string) bool { return strings.Contains(name, word) })
}

// kafkaKeys has Kafka's own names of settings that have a scenario key, also for other clients.
var kafkaKeys = map[string]string{
	"acks": "load.acks", "linger.ms": "load.linger", "batch.size": "load.batch", "compression.type": "load.compression",
	"compression.level": "load.level", "compression.gzip.level": "load.level", "compression.lz4.level": "load.level",
	"compression.zstd.level": "load.level", "enable.idempotence": "load.idempotent",
	"max.in.flight.requests.per.connection": "load.in_flight", "delivery.timeout.ms": "load.delivery_timeout",
	"buffer.memory": "load.max_buffered", "max.request.size": "load.batch",
	"fetch.min.bytes": "consume.fetch.min_bytes", "fetch.max.bytes": "consume.fetch.max_bytes",
	"max.partition.fetch.bytes": "consume.fetch.max_partition_bytes", "fetch.max.wait.ms": "consume.fetch.max_wait",
	"group.protocol": "consume.protocol", "partition.assignment.strategy": "consume.assignor",
	"session.timeout.ms": "consume.session_timeout", "heartbeat.interval.ms": "consume.session_timeout",
	"auto.offset.reset": "consume.from",
}
