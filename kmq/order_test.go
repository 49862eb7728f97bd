package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
)

// A record whose dead letter is refused is delivered again. Those behind it wait.
func TestARefusedDeadLetterKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetrying(t, 1)
		refused := 0
		r.cluster.Fake().ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			r.cluster.Fake().KeepControl()
			p := req.(*kmsg.ProduceRequest)
			if info := r.cluster.Fake().TopicInfo("orders.billing.dead"); refused == 2 || info == nil || p.Topics[0].TopicID != info.TopicID && p.Topics[0].Topic != "orders.billing.dead" {
				return nil, nil, false
			}
			refused++
			resp := p.ResponseKind().(*kmsg.ProduceResponse)
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic, topic.TopicID = p.Topics[0].Topic, p.Topics[0].TopicID
			for _, of := range p.Topics[0].Partitions {
				one := kmsg.NewProduceResponseTopicPartition()
				one.Partition, one.ErrorCode = of.Partition, kerr.TopicAuthorizationFailed.Code
				topic.Partitions = append(topic.Partitions, one)
			}
			resp.Topics = append(resp.Topics, topic)
			return resp, nil, true
		})
		var mu sync.Mutex
		var got []int
		r.handle(kmq.Config{Group: "billing", Order: kmq.ByKey}, func(_ context.Context, d kmq.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			if got = append(got, numberOf(d)); numberOf(d) == 1 {
				return kmq.Reject{Reason: "no"}
			}
			return nil
		})
		for n := range 3 {
			r.produce("key", n+1)
		}
		time.Sleep(10 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if want := []int{1, 1, 1, 2, 3}; refused != 2 || !slices.Equal(got, want) {
			t.Errorf("handled %v, want %v; refused %d times", got, want, refused)
		}
		r.end()
	})
}

// A key keeps its order from one Run to the next, also if what waits behind a failed record must be read again.
func TestRunsKeepTheOrder(t *testing.T) {
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprintf("the first record has ended: %t", ended), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRetrying(t, 1)
				for n := range 20 {
					value := strings.Repeat("0", 100*(n%3)) + fmt.Sprint(n+1)
					must(t, r.client.ProduceSync(r.ctx, &kgo.Record{Topic: "orders", Key: []byte("key"), Value: []byte(value)}).FirstErr())
				}
				q, err := kmq.Open(r.ctx, kmq.Config{
					Brokers: r.cluster.Bootstrap(), Topic: "orders", Group: "billing", Client: r.cluster.Client(), Order: kmq.ByKey,
					Engine: kmq.OffsetMap{RetryBytes: 150}, Logger: slog.New(slog.DiscardHandler),
					Retry: func(int, error) time.Duration { return 20 * time.Second },
				})
				must(t, err)
				var mu sync.Mutex
				var got []int
				run := func(d time.Duration, fails int) {
					ctx, stop := context.WithTimeout(r.ctx, d)
					defer stop()
					must(t, q.Run(ctx, func(ctx context.Context, delivery kmq.Delivery) error {
						mu.Lock()
						got = append(got, numberOf(delivery))
						failed := len(got) <= fails
						mu.Unlock()
						if failed {
							return errors.New("not yet")
						}
						time.Sleep(2 * time.Second)
						return nil
					}, kmq.RunConfig{}))
				}
				if run(10*time.Second, 1); ended {
					run(16*time.Second, 0)
				}
				run(5*time.Minute, 1)
				want := []int{1, 1}
				for n := 2; n <= 20; n++ {
					want = append(want, n)
				}
				if !slices.Equal(got, want) {
					t.Errorf("handled %v", got)
				}
				must(t, q.Close(context.Background()))
				r.end()
			})
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Two Runs at the same time would not know which records of a key the other one has.
func TestOneRunKeepsAnOrder(t *testing.T) {
	for _, order := range []kmq.Order{kmq.ByKey, kmq.Unordered} {
		synctest.Test(t, func(t *testing.T) {
			r := newRetrying(t, 1)
			handle := func(context.Context, kmq.Delivery) error { return nil }
			q := r.handle(kmq.Config{Group: "billing", Order: order}, handle)
			time.Sleep(time.Second)
			ctx, stop := context.WithTimeout(r.ctx, time.Second)
			defer stop()
			if err := q.Run(ctx, handle, kmq.RunConfig{}); errors.Is(err, kmq.ErrConfig) != (order == kmq.ByKey) {
				t.Errorf("order %s: %v", order, err)
			}
			r.end()
		})
	}
}
