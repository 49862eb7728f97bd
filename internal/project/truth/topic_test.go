package truth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// The client shares no code with the run's.
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

func wantNothingLeft(t *testing.T, c cluster.Cluster, out string) {
	t.Helper()
	if entries, err := os.ReadDir(out); err != nil || len(entries) > 0 {
		t.Errorf("in the output folder is left: %v, %v", entries, err)
	}
	wantNoTopics(t, c)
}

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

// Existing topics and groups are refused before anything is sent, and are unchanged.
func TestChosenNames(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "chosen", "topic.name=orders", "consume.group=readers", "consume.groups=2")
		for range 2 {
			r := run(t, config(t, c, s))
			wantValid(t, r)
			if r.Run.Run.Topic != "orders" || len(r.Run.Groups) != 2 || r.Run.Groups[1].Name != "readers-2" {
				t.Errorf("the run had the topic %s and the groups %+v", r.Run.Run.Topic, r.Run.Groups)
			}
			wantOnly(t, c, nil, nil)
		}
		theirs := client(t, c)
		admin := kadm.NewClient(theirs)
		for _, name := range []string{"orders", "bills-dead", "bills-markers"} {
			if _, err := admin.CreateTopic(t.Context(), 1, 1, nil, name); err != nil {
				t.Fatal(err)
			}
		}
		for _, group := range []string{"readers-2", "clerks-tracker"} {
			offsets := make(kadm.Offsets)
			offsets.Add(kadm.Offset{Topic: "orders", At: 0, LeaderEpoch: -1})
			if err := admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
				t.Fatal(err)
			}
		}
		queue := ofQueue(t, "chosen-queue", "markers", "topic.name=bills", "consume.group=clerks", "consume.queue.max_deliveries=3")
		for want, s := range map[string]scenario.Scenario{
			`the cluster already has the topic "orders", and the group "readers-2"; choose another topic.name or consume.group`:                                s,
			`the cluster already has the topic "bills-markers", and the topic "bills-dead", and the group "clerks-tracker"; choose another topic.name or cons`: queue,
		} {
			cfg := config(t, c, s)
			_, err := tryRun(cfg)
			if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, cluster.ErrInput) {
				t.Errorf("the run ended with %v, want %s…", err, want)
			}
			wantNothingLeft(t, c, cfg.Out)
		}
		wantOnly(t, c, []string{"bills-dead", "bills-markers", "orders"}, []string{"clerks-tracker", "readers-2"})
		wantCount(t, "records in their topics", topics(t, c)["orders"], 0)

		queue = ofQueue(t, "chosen-queue", "markers", "topic.name=letters", "consume.group=postmen", "consume.queue.max_deliveries=3")
		wantQueueBooks(t, run(t, config(t, c, queue)))
		wantOnly(t, c, []string{"bills-dead", "bills-markers", "orders"}, []string{"clerks-tracker", "readers-2"})
	})
}

func wantOnly(t *testing.T, c cluster.Cluster, names, groups []string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(topics(t, c))); !slices.Equal(got, names) {
		t.Errorf("the topics are %q, want %q", got, names)
	}
	listed, err := kadm.NewClient(client(t, c)).ListGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := listed.Groups(); !slices.Equal(got, groups) {
		t.Errorf("the groups are %q, want %q", got, groups)
	}
}

// Records that others write during the run are foreign, and all of them stay.
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

		first := run(t, config(t, c, s))
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

// Brokers refuse records without keys in a compacted topic: no load begins.
func TestCompactedTopic(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		if _, err := kadm.NewClient(client(t, c)).CreateTopic(context.Background(), 3, 1,
			map[string]*string{"cleanup.policy": new("compact,delete")}, "orders"); err != nil {
			t.Fatal(err)
		}
		_, err := bench.Run(context.Background(), config(t, c, smallScenario(t, "keyless", "topic.existing=orders")))
		const want = `the topic "orders" is compacted, and brokers refuse records without keys in it; give load.record.keys, ` +
			"for example uniform, or a topic with cleanup.policy=delete"
		if !errors.Is(err, cluster.ErrInput) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		wantCount(t, "records in the topic", topics(t, c)["orders"], 0)
		wantValid(t, run(t, config(t, c, smallScenario(t, "keyed", "topic.existing=orders", "load.record.keys=uniform"))))
	})
}

// What the broker says is reported, and not that the records timed out.
func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	for _, batches := range []string{"load.in_flight=1", "load.in_flight=5"} { // failed, unknown
		virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
			c.Fake().ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
				c.Fake().KeepControl()
				return noKeys(req.(*kmsg.ProduceRequest)), nil, true
			})
			r := run(t, config(t, c, smallScenario(t, "refused", batches)))
			const reason = "; the most frequent error: INVALID_RECORD: Compacted topic cannot accept message without key in " +
				"topic partition t-N (1,000)"
			if !slices.ContainsFunc(r.Run.Verdict.Warnings, func(w string) bool { return strings.HasSuffix(w, reason) }) {
				t.Errorf("%s: the warnings are %q, want one with %s", batches, r.Run.Verdict.Warnings, reason)
			}
			if said := fmt.Sprint(r.Run.Verdict.Warnings, r.Run.System); strings.Contains(said, "timed out") {
				t.Errorf("%s: %s", batches, said)
			}
		})
	}
}

func noKeys(req *kmsg.ProduceRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range req.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			record := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			record.ErrorMessage = new(fmt.Sprintf("Compacted topic cannot accept message without key in topic partition t-%d.", p.Partition))
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, kerr.InvalidRecord.Code
			partition.ErrorRecords = append(partition.ErrorRecords, record)
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}
