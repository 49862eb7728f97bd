package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const clientID = "kafka-bench-admin"

// newClient gives up early, because a person waits, and pushes no client metrics (KIP-714) to the cluster under
// test.
func newClient(bootstrap []string, a access.Access, opts ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(slices.Concat([]kgo.Opt{
		kgo.SeedBrokers(bootstrap...),
		kgo.ClientID(clientID),
		kgo.DisableClientMetrics(),
		kgo.DialTimeout(5 * time.Second),
		kgo.RequestTimeoutOverhead(5 * time.Second),
		kgo.RetryTimeout(15 * time.Second),
		kgo.MetadataMinAge(10 * time.Millisecond),
	}, a.Options(), opts)...)
	if err != nil {
		return nil, &Error{
			Kind: ErrInput, What: fmt.Sprintf("no client for the brokers %q", bootstrap), Cause: err,
			Remedy: "write brokers as host:port, separated by commas",
		}
	}
	return client, nil
}
