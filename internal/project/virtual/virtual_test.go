package virtual

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTimeIsVirtual(t *testing.T) {
	Test(t, Options{Brokers: 3, ProduceDelay: 10 * time.Minute}, func(t *testing.T, c *Cluster) {
		client, err := kgo.NewClient(append(c.Client(),
			kgo.ProducerLinger(0), kgo.RequestTimeoutOverhead(15*time.Minute))...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx := context.Background()
		if _, err := kadm.NewClient(client).CreateTopic(ctx, 3, 3, nil, "slow"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: "slow"}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("the record was acknowledged after %v, want ten minutes", took)
		}
	})
}

// Each record has the time of its append, and not that of the first try.
func TestAppendTime(t *testing.T) {
	Test(t, Options{Brokers: 1}, func(t *testing.T, c *Cluster) {
		c.Topic(t, "appended", 1)
		c.Set(t, "appended", "message.timestamp.type", "LogAppendTime")
		c.SetClock(time.Hour)
		refusal := c.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: -1})
		time.AfterFunc(10*time.Second, refusal.Remove)
		began := time.Now()
		client := c.NewClient(t, kgo.ConsumeTopics("appended"), kgo.ProducerLinger(time.Second), kgo.ProducerBatchCompression(kgo.NoCompression()))
		var all sync.WaitGroup
		for range 3 {
			all.Add(1)
			client.Produce(t.Context(), &kgo.Record{Topic: "appended"}, func(_ *kgo.Record, err error) {
				defer all.Done()
				if err != nil {
					t.Error(err)
				}
			})
			time.Sleep(300 * time.Millisecond)
		}
		all.Wait()
		for n := 0; n < 3; n++ {
			r := client.PollRecords(t.Context(), 1).Records()[0]
			if after := r.Timestamp.Sub(began); after < time.Hour+10*time.Second || after > time.Hour+time.Since(began) {
				t.Errorf("record %d has a time %v after it was produced, want one hour more than its append", n, after)
			}
		}
	})
}
