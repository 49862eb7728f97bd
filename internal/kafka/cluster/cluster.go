// Package cluster starts, finds and stops Kafka clusters, and makes and removes the
// topics of runs. Kafka is Apache Kafka itself, started on this machine from its Maven
// artifacts; Embedded is a stand-in that lives in the process, for trying the tool and
// for tests; Existing is a cluster that somebody else runs. A run sees all three as a
// Cluster: addresses to connect to, facts to record, and something to stop at the end.
// Admin makes and removes the topics of a run, and is careful never to touch another.
//
// Nothing that this package starts outlives its purpose: brokers die with the
// process that started them, and what a crash left on disk the next start finds
// and removes (Home.Reap). The one exception is asked for by name: Home.Up
// starts a cluster that stays until Home.Down.
//
// Files to know: source.go, kafka.go, embedded.go, existing.go, named.go, admin.go,
// reap.go, owned.go (what a group has).
package cluster

import (
	"context"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// Kinds of clusters, as Info and the result name them.
const (
	KindKafka    = "kafka"
	KindEmbedded = "embedded"
	KindExisting = "existing"
)

// Cluster is a Kafka that a run can use.
type Cluster interface {
	// Bootstrap returns the addresses (host:port) to connect to first.
	Bootstrap() []string
	// Info says what the cluster is, for the result.
	Info() Info
	// Stop ends the cluster if this process started it, and does nothing
	// otherwise. When ctx ends first, what still runs is killed; nothing is
	// left running after Stop.
	Stop(ctx context.Context) error
}

// Info describes a cluster for the result.
type Info struct {
	Kind    string // KindKafka, KindEmbedded or KindExisting
	ID      string // the cluster ID
	Version string // of the brokers; empty where it can't be known
	Brokers int
	// Note is a caveat that every figure of a run carries; empty if none.
	Note string
	// Settings are what the cluster was started with; empty for an existing
	// one.
	Settings map[string]string
}

// Secured is a Cluster that clients reach by an Access of its own.
type Secured interface {
	// Access is how it lets this process in.
	Access() access.Access
}

// AccessTo returns how a cluster lets this process in: in plain text, without
// credentials and over this machine's network, unless it is Secured.
func AccessTo(c Cluster) access.Access {
	if secured, ok := c.(Secured); ok {
		return secured.Access()
	}
	return access.Access{}
}

// Local is a Cluster whose brokers are processes of this machine.
type Local interface {
	// Processes lists the brokers that run at this moment. A broker that was
	// restarted has another PID than before.
	Processes() []Process
}

// Metered is a Cluster whose brokers tell about themselves over HTTP, in the text
// format of Prometheus.
type Metered interface {
	// MetricsEndpoints names one endpoint for each broker that has one.
	MetricsEndpoints() []MetricsEndpoint
}

// MetricsEndpoint is where one broker's metrics are read.
type MetricsEndpoint struct {
	ID  int32 // broker ID
	URL string
}

// Process is one local broker.
type Process struct {
	ID           int32 // broker ID
	PID          int
	DataDirs     []string // its log.dirs, at least one
	HeapMaxBytes int64
}
