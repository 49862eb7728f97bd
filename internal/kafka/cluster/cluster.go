// Package cluster starts, finds and stops Kafka clusters, and makes and removes the topics of runs. A Kafka is
// Apache Kafka on this machine, an Embedded is a fake in this process, for trials and tests, and an Existing is a
// cluster that others run.
//
// Brokers end with the process that started them. If a crash leaves something on disk, the next start removes it
// (Home.Reap). Only Home.Up starts a cluster that stays, until Home.Down.
//
// Files to know: source.go, kafka.go, embedded.go, existing.go, named.go, admin.go, reap.go, owned.go (the members of
// a group and their partitions).
package cluster

import (
	"context"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// The kinds of clusters, as Info and the result name them.
const (
	KindKafka    = "kafka"
	KindEmbedded = "embedded"
	KindExisting = "existing"
)

// Cluster is a Kafka cluster that a run can use.
type Cluster interface {
	// Bootstrap returns the addresses (host:port) to connect to first.
	Bootstrap() []string
	// Info describes the cluster for the result.
	Info() Info
	// Stop stops the cluster if this process started it. When ctx ends first, Stop kills what still runs.
	Stop(ctx context.Context) error
}

// Info describes a cluster for the result.
type Info struct {
	Kind    string // KindKafka, KindEmbedded or KindExisting
	ID      string
	Version string // of the brokers; empty if unknown
	Brokers int
	// Note is a caveat for every figure of a run; may be empty.
	Note string
	// Settings are the properties that the cluster was started with; empty for an existing one.
	Settings map[string]string
	// Disks are the absolute folders of KafkaOptions.Disks; only of a KindKafka.
	Disks []string
	// ClassicOnly and NoShares report whether an existing cluster lacks the group protocol consumer (KIP-848), and
	// share groups (KIP-932).
	ClassicOnly, NoShares bool
}

// Secured is a Cluster with an Access.
type Secured interface {
	Access() access.Access
}

// AccessTo returns how clients reach a cluster: plain text without credentials, unless it is Secured.
func AccessTo(c Cluster) access.Access {
	if secured, ok := c.(Secured); ok {
		return secured.Access()
	}
	return access.Access{}
}

// Local is a Cluster whose brokers are processes of this machine.
type Local interface {
	// Processes returns the brokers that run now.
	Processes() []Process
}

// Metered is a Cluster whose brokers serve metrics over HTTP in Prometheus' text format.
type Metered interface {
	// MetricsEndpoints returns the endpoint of each broker that has one.
	MetricsEndpoints() []MetricsEndpoint
}

// MetricsEndpoint is the address of one broker's metrics.
type MetricsEndpoint struct {
	ID  int32
	URL string
}

// Process is one local broker.
type Process struct {
	ID           int32
	PID          int
	DataDirs     []string // its log.dirs, at least one
	HeapMaxBytes int64
}
