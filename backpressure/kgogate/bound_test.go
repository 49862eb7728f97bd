package kgogate_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
)

func TestCreditKeepsItsBound(t *testing.T) {
	const bound, perSecond, seconds = 1000, 500, 60
	inVirtualTime(t, func(p *plant) {
		p.delay = 150 * time.Millisecond
		ctx, stop := context.WithTimeout(context.Background(), seconds*time.Second)
		defer stop()
		admin := p.newClient()
		defer admin.Close()
		source, err := kgogate.Lag(admin, kgogate.Config{Group: "billing", Topics: []string{"orders"}})
		if err != nil {
			t.Fatal(err)
		}
		producer, err := kgogate.Open(ctx, p.client, kgogate.Config{MaxLag: bound, Gate: backpressure.Config{Source: source}})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for partition := range int32(2) {
			all.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					r := record(i)
					r.Partition = partition
					producer.Produce(ctx, r, nil)
				}
			})
		}
		var taken int
		all.Go(func() { taken = p.consume(ctx, perSecond) })
		peak := p.watchLag(ctx, "billing")
		producer.Close()
		all.Wait()
		if peak > bound || peak < bound*9/10 {
			t.Errorf("the lag had its peak at %d; the bound is %d", peak, bound)
		}
		if full := perSecond * seconds; taken < full*95/100 {
			t.Errorf("the group took %d records of the %d that it could", taken, full)
		}
		t.Logf("peak lag %d of %d, %d records taken", peak, bound, taken)
	})
}

func (p *plant) consume(ctx context.Context, perSecond int) (taken int) {
	group := p.newClient(kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())
	defer group.Close()
	for ctx.Err() == nil {
		fetched := group.PollRecords(ctx, perSecond)
		n := fetched.NumRecords()
		taken += n
		time.Sleep(time.Duration(n) * time.Second / time.Duration(perSecond))
		if err := group.CommitRecords(context.Background(), fetched.Records()...); err != nil {
			p.Error(err)
		}
	}
	return taken
}

// watchLag reads the end before the commit, so that it never sees too large a lag.
func (p *plant) watchLag(ctx context.Context, group string) (peak int64) {
	client := p.newClient()
	defer client.Close()
	admin := kadm.NewClient(client)
	for ; ctx.Err() == nil; time.Sleep(7 * time.Millisecond) {
		var end int64
		for _, info := range p.cluster.PartitionInfos("orders") {
			end += info.HighWatermark
		}
		committed, err := admin.FetchOffsets(context.Background(), group)
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			p.Fatal(err)
		}
		lag := end
		committed.Each(func(o kadm.OffsetResponse) { lag -= o.At })
		peak = max(peak, lag)
	}
	return peak
}
