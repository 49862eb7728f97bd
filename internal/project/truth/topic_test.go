package truth

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// client opens a client of the test's own, which shares no code with the run's.
func client(t *testing.T, c cluster.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	k, err := kgo.NewClient(slices.Concat(cluster.AccessTo(c).Options(), []kgo.Opt{
		kgo.SeedBrokers(c.Bootstrap()...), kgo.DisableClientMetrics(), kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, opts)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// topics are the topics of a cluster, with the number of records in each.
func topics(t *testing.T, c cluster.Cluster) map[string]int64 {
	t.Helper()
	admin := kadm.NewClient(client(t, c))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ends, err := admin.ListEndOffsets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	records := make(map[string]int64)
	ends.Each(func(o kadm.ListedOffset) { records[o.Topic] += o.Offset })
	return records
}

// wantNoTopics fails the test if a run's topic is left on the cluster, or its
// group.
func wantNoTopics(t *testing.T, c cluster.Cluster) {
	t.Helper()
	for name := range topics(t, c) {
		if strings.HasPrefix(name, "kafka-bench-") {
			t.Errorf("the topic %s is left", name)
		}
	}
	groups, err := kadm.NewClient(client(t, c)).ListGroups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range groups.Groups() {
		if strings.HasPrefix(name, "kafka-bench-") {
			t.Errorf("the group %s is left", name)
		}
	}
}

// wantNothingLeft fails the test if a run that did not begin left anything.
func wantNothingLeft(t *testing.T, c cluster.Cluster, out string) {
	t.Helper()
	if entries, err := os.ReadDir(out); err != nil || len(entries) > 0 {
		t.Errorf("in the output folder is left: %v, %v", entries, err)
	}
	wantNoTopics(t, c)
}

// TestTopicIsGone wants a run to clear up after itself, or to leave its topic with
// every record if it is asked to.
func TestTopicIsGone(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, smallScenario(t, "tidy"))
		wantValid(t, run(t, cfg))
		wantNoTopics(t, c)

		cfg = config(t, c, smallScenario(t, "kept"))
		cfg.KeepTopics = true
		r := run(t, cfg)
		wantValid(t, r)
		wantCount(t, "records in the topic that was to be kept", topics(t, c)[r.Run.Run.Topic], 1500)
	})
}

// TestExistingTopic runs on a topic that others use: what they wrote before is
// not the run's, what they write meanwhile is counted as foreign, and all of it
// stays.
func TestExistingTopic(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		theirs := client(t, c)
		if _, err := kadm.NewClient(theirs).CreateTopic(context.Background(), 3, 1, nil, "orders"); err != nil {
			t.Fatal(err)
		}
		produce := func(n int) {
			t.Helper()
			records := make([]*kgo.Record, n)
			for i := range records {
				value := fmt.Appendf(nil, "order %d, as another application writes it", i)
				records[i] = &kgo.Record{Topic: "orders", Partition: int32(i % 3), Value: value}
			}
			if err := theirs.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
				t.Error(err)
			}
		}
		produce(90)
		s := smallScenario(t, "guest", "topic.existing=orders")

		first := run(t, config(t, c, s)) // leaves stamped records of another run
		wantValid(t, first)
		wantBalance(t, first)
		wantCount(t, "first run: foreign", foreign(first), 0)
		wantCount(t, "first run: unique", first.Run.Delivery.Unique, 1000)
		wantCount(t, "records in the topic", topics(t, c)["orders"], 90+1500)

		i := &interrupter{at: begins("measure"), after: 200 * time.Millisecond, fired: make(chan struct{})}
		cfg := config(t, c, s)
		cfg.Watch = i
		written := make(chan struct{})
		go func() {
			defer close(written)
			<-i.fired
			produce(45)
		}()
		second := run(t, cfg)
		<-written
		wantValid(t, second)
		wantBalance(t, second)
		wantCount(t, "second run: foreign", foreign(second), 45)
		wantCount(t, "second run: unique", second.Run.Delivery.Unique, 1000)
		wantCount(t, "second run: lost", second.Run.Delivery.Lost, 0)
		wantWarning(t, second, "45 records in the topic are not of this run")
		wantCount(t, "records in the topic", topics(t, c)["orders"], 90+1500+45+1500)
	})
}

func foreign(r *result.Recorded) int64 {
	return r.Run.Warmup.Delivery.Foreign + r.Run.Delivery.Foreign
}
