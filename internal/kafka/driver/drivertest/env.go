package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// NewEnv returns the environment of the cluster at brokers, which must offer both group protocols.
func NewEnv(t testing.TB, brokers []string, a access.Access) Env {
	t.Helper()
	client, err := kgo.NewClient(append(a.Options(),
		kgo.SeedBrokers(brokers...),
		kgo.DisableClientMetrics(),
		kgo.MetadataMinAge(10*time.Millisecond), // otherwise a new topic could be unknown to the client for 5 s
	)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	awaitGroups(admin)
	return Env{
		Brokers:     brokers,
		Access:      a,
		CreateTopic: func(t testing.TB, topic string, partitions int) { createTopic(t, admin, topic, partitions) },
		DeleteTopic: func(t testing.TB, topic string) { deleteTopic(t, admin, topic) },
		// The shortest that Kafka allows by default. In the other protocol the broker sets it, to 45 s.
		SessionTimeouts: map[string]time.Duration{"classic": 6 * time.Second},
	}
}

// A real cluster creates its internal topic at the first request. A member that joins before the
// topic is there waits for five seconds.
func awaitGroups(admin *kadm.Client) {
	for admin.FindGroupCoordinators(context.Background(), "any").Error() != nil {
		time.Sleep(50 * time.Millisecond)
	}
}

func createTopic(t testing.TB, admin *kadm.Client, topic string, partitions int) {
	t.Helper()
	response, err := admin.CreateTopic(context.Background(), int32(partitions), -1, nil, topic)
	if err != nil || response.Err != nil {
		t.Fatal(err, response.Err)
	}
	for !ready(t, admin, topic, partitions) {
		time.Sleep(10 * time.Millisecond)
	}
}

// A real broker reports a new topic shortly before it can be written to.
func ready(t testing.TB, admin *kadm.Client, topic string, partitions int) bool {
	t.Helper()
	offsets, err := admin.ListEndOffsets(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return offsets.Error() == nil && len(offsets[topic]) == partitions
}

func deleteTopic(t testing.TB, admin *kadm.Client, topic string) {
	t.Helper()
	if _, err := admin.DeleteTopic(context.Background(), topic); err != nil {
		t.Error(err)
	}
}
