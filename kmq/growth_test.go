package kmq_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq"
)

func TestATopicThatGrows(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  kmq.Config
	}{
		{"plain", kmq.Config{Engine: kmq.Plain{}}},
		{"offsetmap", kmq.Config{Engine: kmq.OffsetMap{InPlace: 1}}},
		{"markers", kmq.Config{Engine: kmq.Markers{}}},
		{"share", kmq.Config{Engine: kmq.Share{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				growing{t, kgo.MetadataMaxAge(200 * time.Millisecond)}.run(c.cfg)
			})
		})
	}
}

type growing struct {
	*testing.T
	soon kgo.Opt
}

func (g growing) run(cfg kmq.Config) {
	c := virtual.Start(g, virtual.Options{Config: map[string]string{
		"group.share.heartbeat.interval.ms": "100", "group.share.min.heartbeat.interval.ms": "100",
	}})
	c.Topic(g, "orders", 1)
	client := c.NewClient(g, kgo.RecordPartitioner(kgo.ManualPartitioner()),
		g.soon, kgo.MetadataMinAge(50*time.Millisecond))

	cfg.Brokers, cfg.Topic, cfg.Group, cfg.CommitEvery = c.Bootstrap(), "orders", "billing", 50*time.Millisecond
	cfg.Client = append(c.Client(), g.soon, kgo.MetadataMinAge(50*time.Millisecond))
	q := g.open(cfg)
	g.produce(client, 0)
	g.settle(q, cfg, 0)
	if _, err := kadm.NewClient(client).CreatePartitions(g.Context(), 2, "orders"); err != nil {
		g.Fatal(err)
	}
	g.produce(client, 2)
	g.settle(q, cfg, 2)
	g.produce(client, 0)
	g.settle(q, cfg, 0)
	if err := q.Close(g.Context()); err != nil {
		g.Error(err)
	}
	q = g.open(cfg)
	g.produce(client, 1)
	g.settle(q, cfg, 1)
}

func (g growing) open(cfg kmq.Config) *kmq.Queue {
	g.Helper()
	q, err := kmq.Open(g.Context(), cfg)
	if err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = q.Close(ctx)
	})
	return q
}

// The client needs time to know the partition.
func (g growing) produce(client *kgo.Client, partition int32) {
	g.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := client.ProduceSync(g.Context(), &kgo.Record{Topic: "orders", Partition: partition}).FirstErr()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			g.Fatal(err)
		}
	}
}

func (g growing) settle(q *kmq.Queue, cfg kmq.Config, partition int32) {
	g.Helper()
	d := g.receive(q)
	if cfg.Engine != (kmq.Plain{}) {
		if err := d.Nack(g.Context(), 0); err != nil {
			g.Fatal(err)
		}
		if d = g.receive(q); d.Attempt() != 2 {
			g.Errorf("attempt %d", d.Attempt())
		}
	}
	if d.ID().Partition != partition {
		g.Errorf("a record of partition %d, not %d", d.ID().Partition, partition)
	}
	if err := d.Ack(g.Context()); err != nil {
		g.Error(err)
	}
	if err := q.Flush(g.Context()); err != nil {
		g.Error(err)
	}
}

func (g growing) receive(q *kmq.Queue) kmq.Delivery {
	g.Helper()
	ctx, cancel := context.WithTimeout(g.Context(), time.Minute)
	defer cancel()
	ds, err := q.Receive(ctx, 1)
	if err != nil {
		g.Fatal(err)
	}
	return ds[0]
}
