package sarama_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	ibm "github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// TestOffsetOutOfRange: no record comes twice if a broker wrongly reports that an offset is not in the log.
func TestOffsetOutOfRange(t *testing.T) {
	drivertest.Virtual(t, func(t *testing.T, cluster drivertest.Cluster) {
		testOffsetOutOfRange(t, cluster, func(c *driver.ConsumerConfig) { c.Partitions = map[int32]int64{0: 0} })
	}, drivertest.Topics(1)...)
}

func testOffsetOutOfRange(t *testing.T, cluster drivertest.Cluster, change func(*driver.ConsumerConfig)) {
	const before, after = 100, 50
	fill(t, cluster, before)
	r := open(t, cluster, change)
	r.await(before)
	err := r.consumer.Commit(context.Background(), map[int32]int64{0: before})
	if err != nil && !errors.Is(err, driver.ErrNoGroup) {
		t.Fatal(err)
	}
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.OffsetOutOfRange}) // the next fetch
	fill(t, cluster, after)
	r.await(before + after)
	r.checkTold(t)
	r.checkOffsets(t, cluster, 0, before+after)
}

func TestLogWithoutTheOffset(t *testing.T) {
	const n, trimmed = 100, 40
	for _, offset := range []int64{10, 5000} {
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			drivertest.Virtual(t, func(t *testing.T, cluster drivertest.Cluster) {
				fill(t, cluster, n)
				if err := cluster.DeleteRecords(topic, 0, trimmed); err != nil {
					t.Fatal(err)
				}
				r := open(t, cluster, func(c *driver.ConsumerConfig) { c.Partitions = map[int32]int64{0: offset} })
				r.await(n - trimmed)
				r.checkTold(t)
				r.checkOffsets(t, cluster, trimmed, n)
			}, drivertest.Topics(1)...)
		})
	}
}

func fill(t *testing.T, cluster drivertest.Cluster, n int) {
	t.Helper()
	done := make(chan driver.Done, n)
	cfg := outcomes.Config(cluster)
	cfg.OnDone = func(d driver.Done) { done <- d }
	p := drivertest.Producer(t, sarama.New(), cfg)
	for range n {
		p.Produce(&driver.Record{Value: []byte("value")})
	}
	for range n {
		if d := <-done; d.Outcome != driver.Acked {
			t.Fatal(d.Outcome, d.Err)
		}
	}
}

type reader struct {
	consumer driver.Consumer
	news     chan struct{}
	mu       sync.Mutex
	offsets  []int64
	told     []error
}

func open(t *testing.T, cluster drivertest.Cluster, change func(*driver.ConsumerConfig)) *reader {
	t.Helper()
	r := &reader{news: make(chan struct{}, 1)}
	cfg := driver.ConsumerConfig{
		Brokers: cluster.ListenAddrs(), Access: cluster.Access, FetchMaxWait: 50 * time.Millisecond,
		OnError: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = append(r.told, err)
		},
	}
	change(&cfg)
	r.consumer = drivertest.Consumer(t, sarama.New(), cfg)
	ctx, stop := context.WithCancel(context.Background())
	var polls sync.WaitGroup
	polls.Go(func() { r.poll(ctx) })
	t.Cleanup(func() {
		stop()
		polls.Wait()
	})
	return r
}

func (r *reader) poll(ctx context.Context) {
	for ctx.Err() == nil {
		chunks, err := r.consumer.Poll(ctx)
		if err != nil {
			return
		}
		r.mu.Lock()
		for _, chunk := range chunks {
			for _, record := range chunk.Records {
				r.offsets = append(r.offsets, record.Offset)
			}
			chunk.Free()
		}
		r.mu.Unlock()
		select {
		case r.news <- struct{}{}:
		default:
		}
	}
}

func (r *reader) await(n int) {
	for r.received() < n {
		<-r.news
	}
}

func (r *reader) received() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.offsets)
}

func (r *reader) checkTold(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.told, func(err error) bool { return errors.Is(err, ibm.ErrOffsetOutOfRange) }) {
		t.Errorf("the offset that was out of range was not told, but %v", r.told)
	}
}

// checkOffsets writes one more record, because a duplicate would come before it.
func (r *reader) checkOffsets(t *testing.T, cluster drivertest.Cluster, from, to int64) {
	t.Helper()
	fill(t, cluster, 1)
	r.await(int(to - from + 1))
	r.mu.Lock()
	defer r.mu.Unlock()
	var want []int64
	for offset := from; offset <= to; offset++ {
		want = append(want, offset)
	}
	if !slices.Equal(r.offsets, want) {
		t.Errorf("received the offsets %v, want %d to %d once each", r.offsets, from, to)
	}
}
