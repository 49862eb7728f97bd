package kmq_test

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// clusterWith starts an in-memory cluster with a topic "orders" of one partition that holds these
// records.
func clusterWith(values ...string) (brokers []string, stop func()) {
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	check(err)
	defer client.Close()
	for _, value := range values {
		check(client.ProduceSync(context.Background(), &kgo.Record{Topic: "orders", Value: []byte(value)}).FirstErr())
	}
	return cluster.ListenAddrs(), cluster.Close
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
	}
}
