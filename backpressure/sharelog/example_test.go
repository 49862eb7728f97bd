package sharelog_test

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kadmlag"
	"kafkabench.example/kafka-bench/backpressure/sharelog"
)

// Two processes keep a bound of 5000 records together. Here they are two members of one program,
// with a cluster in memory and a gate each.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	check(err)
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	check(err)
	defer client.Close()
	lag, err := kadmlag.New(kadm.NewClient(client), kadmlag.Config{Group: "billing", Topics: []string{"orders"}})
	check(err)

	join := func(name string) *sharelog.Member {
		member, err := sharelog.Join(ctx, sharelog.Config{
			Brokers: cluster.ListenAddrs(), Topic: "shares", Bound: "billing", Records: 5000, Member: name,
			Beat: 20 * time.Millisecond, Lease: time.Second, Source: lag,
		})
		check(err)
		credit, err := backpressure.NewCredit(5000) // the whole bound; the share divides it
		check(err)
		gate, err := backpressure.New(backpressure.Config{Controller: credit, Source: lag, Share: member})
		check(err)
		go func() { check(gate.Watch(ctx)) }()
		member.Attach(gate)
		return member
	}
	first, second := join("first"), join("second")
	// The parts never add up to more than the whole.
	for first.Part() == 0 || second.Part() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("both may send, each less than the whole:", first.Part() < 1 && second.Part() < 1)
	check(first.Leave(ctx))
	check(second.Leave(ctx))
	fmt.Println("after they left:", first.Part()+second.Part())
	// Output:
	// both may send, each less than the whole: true
	// after they left: 0
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
	}
}
