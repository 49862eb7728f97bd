package kadmlag_test

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/kadmlag"
)

// New reads the lag of a group on all topics that match a pattern. A gate reads its source by
// itself; this example reads it once.
func ExampleNew() {
	ctx := context.Background()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders-eu", "orders-us", "refunds"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for _, topic := range []string{"orders-eu", "orders-eu", "orders-us", "refunds"} {
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: topic}).FirstErr(); err != nil {
			fmt.Println(err)
		}
	}

	lag, err := kadmlag.New(kadm.NewClient(client), kadmlag.Config{Group: "billing", TopicRegex: "^orders-"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reading, err := lag.Read(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range reading.Partitions {
		fmt.Printf("%s/%d: committed %d of %d\n", p.Topic, p.ID, p.Committed, p.End)
	}
	fmt.Println("lag", reading.Lag)
	// Output:
	// orders-eu/0: committed 0 of 2
	// orders-us/0: committed 0 of 1
	// lag 3
}
