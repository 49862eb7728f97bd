// Package sarama drives Kafka through Sarama, the oldest client in pure Go.
//
// The client is a chain of goroutines that hand records on, one by one, through
// channels: on the way out from the caller to the topic, the partition, the broker
// and back, on the way in from the broker to the partition and the caller. The
// driver is one link more at each end, and no more than that: it takes what is in a
// partition's channel at once, and from there on works in chunks.
//
// What the client has no call for, the driver makes of what it has. Records wait for it
// in a queue, because it holds its caller up while a partition has no leader (feed.go).
// A flush gives each partition a mark that no batch has room for, so that what is held
// back is sent (mark.go). The delivery timeout ends a record's retries through the
// metadata that each retry asks for (patience.go). Rebalances wait for the caller's next
// poll in the client's own callbacks (consumer.go).
//
// Files to know: feed.go, mark.go, patience.go, consumer.go, outcome.go.
package sarama

import "kafkabench.example/kafka-bench/internal/kafka/driver"

// module is the client library's path, as the build records it.
const module = "github.com/IBM/sarama"

type sarama struct{}

// New returns the driver.
func New() driver.Driver { return sarama{} }

func (sarama) Name() string { return "sarama" }

// Lacks names what the client has no way to do.
func (sarama) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.ServerGroups:      "sarama has the group protocol classic alone",
		driver.ReadControl:       "sarama passes control records without a word",
		driver.ShareGroups:       "sarama has no share consumers",
		driver.CooperativeSticky: "sarama's groups are eager: a member gives up all partitions at each rebalance",
	}
}

// Version is the library's version as it was built in, or "unknown" in a binary
// without build information.
func (sarama) Version() string {
	return driver.ModuleVersion(module)
}
