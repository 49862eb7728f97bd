package truth

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/internal/project/virtual"
)

// The public packages keep the bound in an application without the tool: two unlimited producers, a
// consumer of 2400/s that commits each second, and a gate with 5000 credits.
func TestCreditLibrary(t *testing.T) {
	t.Parallel()
	const bound, seconds = 5000, 8
	virtual.Test(t, virtual.Options{ProduceDelay: 5 * time.Millisecond}, func(t *testing.T, c *virtual.Cluster) {
		ctx, stop := context.WithTimeout(context.Background(), seconds*time.Second)
		defer stop()
		reader := kadm.NewClient(client(t, c))
		if _, err := reader.CreateTopic(context.Background(), 4, 1, nil, "library"); err != nil {
			t.Fatal(err)
		}
		producer, err := kgogate.Open(ctx, client(t, c, kgo.RecordPartitioner(kgo.RoundRobinPartitioner())), kgogate.Config{
			Group: "library", Topics: []string{"library"}, MaxLag: bound,
		})
		if err != nil {
			t.Fatal(err)
		}
		var (
			all   sync.WaitGroup
			taken atomic.Int64
		)
		group := client(t, c, kgo.ConsumerGroup("library"), kgo.ConsumeTopics("library"),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitInterval(time.Second))
		all.Go(func() { consumeSlowly(ctx, group, &taken) })
		for range 2 {
			all.Go(func() {
				for ctx.Err() == nil {
					producer.Produce(ctx, &kgo.Record{Topic: "library", Value: make([]byte, 100)}, nil)
				}
			})
		}
		peak, looks := lookAtLag(ctx, t, reader)
		producer.Close()
		all.Wait()
		t.Logf("peak lag %d of %d in %d looks; %d records taken, %+v", peak, bound, looks, taken.Load(), producer.Gate().Stats())
		if peak > bound || peak < bound*9/10 {
			t.Errorf("the lag had its peak at %d; the bound is %d", peak, bound)
		}
		if n := taken.Load(); n < 2300*seconds || n > 2400*seconds {
			t.Errorf("the group took %d records in %d s", n, seconds)
		}
	})
}

func consumeSlowly(ctx context.Context, group *kgo.Client, taken *atomic.Int64) {
	for ctx.Err() == nil {
		n := group.PollRecords(ctx, 48).NumRecords()
		taken.Add(int64(n))
		time.Sleep(time.Duration(n) * time.Second / 2400)
	}
}

// lookAtLag requests the ends first, so a commit between the two requests cannot make the lag look
// larger than it was.
func lookAtLag(ctx context.Context, t *testing.T, admin *kadm.Client) (peak int64, looks int) {
	t.Helper()
	for ; ctx.Err() == nil; looks++ {
		ends, err := admin.ListEndOffsets(context.Background(), "library")
		if err != nil {
			t.Fatal(err)
		}
		committed, err := admin.FetchOffsets(context.Background(), "library")
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // until the first commit
			t.Fatal(err)
		}
		var lag int64
		ends.Each(func(o kadm.ListedOffset) { lag += o.Offset })
		committed.Each(func(o kadm.OffsetResponse) { lag -= o.At })
		peak = max(peak, lag)
		time.Sleep(5 * time.Millisecond)
	}
	return peak, looks
}
