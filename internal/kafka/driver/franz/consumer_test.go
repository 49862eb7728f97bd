package franz_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

func TestPollReturnsWhatEndsIt(t *testing.T) {
	for _, test := range []struct {
		name     string
		options  []kfake.Opt
		spoil    func(drivertest.Cluster)
		protocol string
		want     string
	}{
		{
			name: "group not authorized", protocol: "classic", want: "GROUP_AUTHORIZATION_FAILED",
			spoil: func(c drivertest.Cluster) {
				c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, TopLevel: true, Err: kerr.GroupAuthorizationFailed, Count: -1})
			},
		},
		{
			name: "topic not authorized", protocol: "classic", want: "TOPIC_AUTHORIZATION_FAILED",
			spoil: func(c drivertest.Cluster) {
				c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1})
			},
		},
		{
			name: "topic recreated", protocol: "classic", want: "TOPIC_ID", // UNKNOWN_ or INCONSISTENT_
			spoil: recreate,
		},
		{
			name: "no KIP-848", protocol: "consumer", want: "KIP-848",
			options: []kfake.Opt{kfake.MaxVersions(kversion.V3_6_0())},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			drivertest.Virtual(t, func(t *testing.T, cluster drivertest.Cluster) {
				if test.spoil != nil {
					test.spoil(cluster)
				}
				c := consume(t, cluster, test.protocol, nil)
				if err := pollToTheEnd(t, c); !strings.Contains(err.Error(), test.want) {
					t.Errorf("poll: %v, want %s", err, test.want)
				}
				if _, err := c.Poll(context.Background()); err == nil {
					t.Error("the next poll has no error")
				}
			}, append(drivertest.Topics(1), test.options...)...)
		})
	}
}

func consume(t *testing.T, cluster drivertest.Cluster, protocol string, onError func(error)) driver.Consumer {
	t.Helper()
	return drivertest.Consumer(t, franz.New(), driver.ConsumerConfig{
		Brokers: cluster.ListenAddrs(), Access: cluster.Access, Group: "g", Protocol: protocol,
		FetchMaxWait: 50 * time.Millisecond, OnError: onError,
	})
}

func recreate(cluster drivertest.Cluster) {
	fetched := make(chan struct{}, 1)
	cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.DropControl()
		fetched <- struct{}{}
		return nil, nil, false
	})
	go func() {
		<-fetched
		client, err := kgo.NewClient(append(cluster.Access.Options(), kgo.SeedBrokers(cluster.ListenAddrs()...))...)
		if err != nil {
			return
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		admin.DeleteTopic(context.Background(), topic)
		admin.CreateTopic(context.Background(), 1, 1, nil, topic)
	}()
}

func pollToTheEnd(t *testing.T, c driver.Consumer) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		poll, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		_, err := c.Poll(poll)
		cancel()
		if err != nil {
			return err
		}
	}
	t.Fatal("no poll had an error")
	return nil
}

func TestPassingErrorsAreReported(t *testing.T) {
	drivertest.Virtual(t, testPassingErrors, drivertest.Topics(1)...)
}

func testPassingErrors(t *testing.T, cluster drivertest.Cluster) {
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition})
	if d, _ := outcomes.ProduceOne(t, outcomes.Config(cluster)); d.Outcome != driver.Acked {
		t.Fatal(d.Err)
	}
	reported := make(chan error, 100)
	c := consume(t, cluster, "classic", func(err error) { reported <- err })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		chunks, err := c.Poll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(chunks) > 0 {
			break
		}
	}
	if len(reported) == 0 || ctx.Err() != nil {
		t.Errorf("%d errors were reported, %v", len(reported), ctx.Err())
	}
}

func TestUnreachableBrokersAreReported(t *testing.T) {
	reported := make(chan error, 100)
	drivertest.Consumer(t, franz.New(), driver.ConsumerConfig{
		Brokers: []string{"127.0.0.1:1"}, Group: "g",
		OnError: func(err error) { reported <- err },
	})
	if err := <-reported; !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("reported %v, want the broker's address", err)
	}
}

func TestCommitErrors(t *testing.T) {
	drivertest.Virtual(t, testCommitErrors, drivertest.Topics(1)...)
}

func testCommitErrors(t *testing.T, cluster drivertest.Cluster) {
	joined := make(chan struct{}, 1)
	c := drivertest.Consumer(t, franz.New(), driver.ConsumerConfig{
		Brokers: cluster.ListenAddrs(), Access: cluster.Access, Group: "g",
		OnAssigned: func([]int32) { joined <- struct{}{} },
	})
	<-joined
	if err := c.Commit(context.Background(), nil); err != nil {
		t.Errorf("a commit of nothing: %v", err)
	}
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.OffsetMetadataTooLarge})
	if err := c.Commit(context.Background(), map[int32]int64{0: 1}); !errors.Is(err, kerr.OffsetMetadataTooLarge) {
		t.Errorf("a refused commit: %v", err)
	}
	if err := c.Commit(context.Background(), map[int32]int64{0: 1}); err != nil {
		t.Errorf("a commit: %v", err)
	}
}
