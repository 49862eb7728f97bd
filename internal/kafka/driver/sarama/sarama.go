// Package sarama drives Kafka through Sarama, the oldest client in pure Go.
//
// The client passes records one by one through channels. The driver takes all that is in a partition's channel at
// once and then works in chunks. It adds what the client does not offer. A queue keeps records while a partition
// has no leader (feed.go). Close sends each partition a mark that fits into no batch, so
// the client gives up the batch that lingers (mark.go). The delivery timeout ends a record's retries
// (patience.go). Rebalances wait for the caller's next poll (consumer.go).
//
// Files to know: feed.go, mark.go, patience.go, consumer.go, outcome.go.
package sarama

import "kafkabench.example/kafka-bench/internal/kafka/driver"

const module = "github.com/IBM/sarama"

type sarama struct{}

// New returns the driver.
func New() driver.Driver { return sarama{} }

func (sarama) Name() string { return "sarama" }

func (sarama) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.ServerGroups:      "sarama has only the group protocol classic",
		driver.ReadControl:       "sarama skips control records and does not report them",
		driver.ReportThrottle:    "throttle times are not read from sarama's responses",
		driver.ShareGroups:       "sarama has no share consumers",
		driver.CooperativeSticky: "sarama's groups are eager: a member gives up all partitions at each rebalance",
	}
}

func (sarama) Version() string {
	return driver.ModuleVersion(module)
}
