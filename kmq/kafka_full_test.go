//go:build full

package kmq_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq"
)

// onKafka is a topic on a real Kafka, which another client writes and reads.
type onKafka struct {
	*testing.T
	brokers []string
	topic   string
	adm     *kadm.Client
	other   sarama.Client
}

func newOnKafka(t *testing.T, change func(*sarama.Config)) *onKafka {
	k := clustertest.Shared(t)
	o := &onKafka{T: t, brokers: k.Bootstrap(), topic: fmt.Sprintf("orders-%d", time.Now().UnixNano())}
	clustertest.Topic(t, k, o.topic, 2, 1, nil)
	client, err := kgo.NewClient(kgo.SeedBrokers(o.brokers...))
	o.must(err)
	t.Cleanup(client.Close)
	o.adm = kadm.NewClient(client)
	cfg := sarama.NewConfig()
	cfg.Producer.Return.Successes = true
	if change != nil {
		change(cfg)
	}
	o.other, err = sarama.NewClient(o.brokers, cfg)
	o.must(err)
	t.Cleanup(func() { o.other.Close() })
	return o
}

func (o *onKafka) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *onKafka) messages(n int) (all []*sarama.ProducerMessage) {
	for i := range n {
		all = append(all, &sarama.ProducerMessage{Topic: o.topic, Key: sarama.StringEncoder(strconv.Itoa(i)), Value: sarama.StringEncoder(strconv.Itoa(i))})
	}
	return all
}

// run opens a queue and handles its records; stop ends that and returns the error of Run.
func (o *onKafka) run(cfg kmq.Config, handle kmq.Handler, run kmq.RunConfig) (q *kmq.Queue, stop func() error) {
	o.Helper()
	cfg.Brokers, cfg.Topic, cfg.CommitEvery = o.brokers, o.topic, 100*time.Millisecond
	q, err := kmq.Open(o.Context(), cfg)
	o.must(err)
	ctx, cancel := context.WithCancel(o.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, handle, run) }()
	stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := q.Close(ctx); err != nil {
			o.Error(err)
		}
		return err
	})
	o.Cleanup(func() { _ = stop() })
	return q, stop
}

// within waits for something that takes as long as the machine needs.
func (o *onKafka) within(what string, so func() bool) {
	o.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			o.Fatal("it does not come: " + what)
		}
	}
}

// N2: two groups fail records, and a plain consumer reads the topic.
func TestKafkaGroupsAreIndependent(t *testing.T) {
	o := newOnKafka(t, nil)
	const n = 20
	var mu sync.Mutex
	got := map[string]map[int]int{}
	for group, cfg := range map[string]kmq.Config{"billing": {Engine: kmq.OffsetMap{InPlace: 1}}, "shipping": {Engine: kmq.Markers{}}} {
		got[group] = map[int]int{}
		cfg.Group = group + o.topic
		cfg.Retry = kmq.Exponential(10*time.Millisecond, 50*time.Millisecond)
		o.run(cfg, func(_ context.Context, d kmq.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			i := numberOf(d)
			if got[group][i]++; i%4 == 0 && got[group][i] < 3 || group == "billing" && i == 1 {
				return errNoRoute
			}
			return nil
		}, kmq.RunConfig{})
	}
	producer, err := sarama.NewSyncProducerFromClient(o.other)
	o.must(err)
	o.must(producer.SendMessages(o.messages(n)))
	dead := o.topic + ".billing" + o.topic + ".dead"
	o.within("a dead letter of billing, and everything else", func() bool {
		ends, err := o.adm.ListEndOffsets(t.Context(), dead)
		letters := int64(0)
		ends.Each(func(e kadm.ListedOffset) { letters += e.Offset })
		mu.Lock()
		defer mu.Unlock()
		all := err == nil && letters == 1 && len(got["billing"]) == n && len(got["shipping"]) == n
		for i := 0; i < n; i += 4 {
			all = all && got["shipping"][i] >= 3 && got["billing"][i] >= 3
		}
		return all
	})
	mu.Lock()
	defer mu.Unlock()
	for group, times := range got {
		for i, seen := range times {
			want := 1
			switch {
			case i%4 == 0:
				want = 3
			case group == "billing" && i == 1:
				want = 10
			}
			if seen != want {
				t.Errorf("%s got record %d %d times, want %d", group, i, seen, want)
			}
		}
	}
	if read := o.read(); len(read) != n {
		t.Errorf("a plain consumer reads %d records, %d were produced: %v", len(read), n, read)
	}
}

// read reads the topic from its start to its end.
func (o *onKafka) read() (all []string) {
	o.Helper()
	consumer, err := sarama.NewConsumerFromClient(o.other)
	o.must(err)
	for p := range int32(2) {
		end, err := o.other.GetOffset(o.topic, p, sarama.OffsetNewest)
		o.must(err)
		of, err := consumer.ConsumePartition(o.topic, p, sarama.OffsetOldest)
		o.must(err)
		for at := int64(0); at < end; {
			m := <-of.Messages()
			all, at = append(all, string(m.Value)), m.Offset+1
		}
		of.Close()
	}
	return all
}

// N6: a handler hangs, and the documented shutdown ends all the same.
func TestKafkaShutdownEnds(t *testing.T) {
	o := newOnKafka(t, nil)
	producer, err := sarama.NewSyncProducerFromClient(o.other)
	o.must(err)
	o.must(producer.SendMessages(o.messages(1)))
	began, hang := make(chan struct{}), make(chan struct{})
	_, stop := o.run(kmq.Config{Group: o.topic, Engine: kmq.OffsetMap{}}, func(context.Context, kmq.Delivery) error {
		close(began)
		<-hang
		return nil
	}, kmq.RunConfig{Shutdown: time.Second})
	defer close(hang)
	<-began
	if err := stop(); err == nil || !strings.Contains(err.Error(), "1 handlers ignore that their contexts have ended") {
		t.Errorf("run: %v", err)
	}
}

// F2: all records are of transactions, some of which were aborted. The queue's lag becomes 0.
func TestKafkaTransactionsLeaveNoLag(t *testing.T) {
	o := newOnKafka(t, func(c *sarama.Config) {
		c.Producer.Idempotent, c.Producer.Transaction.ID, c.Net.MaxOpenRequests = true, "t-"+t.Name()+strconv.FormatInt(time.Now().UnixNano(), 36), 1
		c.Producer.RequiredAcks = sarama.WaitForAll
	})
	var mu sync.Mutex
	got := map[int]int{}
	q, _ := o.run(kmq.Config{Group: o.topic, Engine: kmq.OffsetMap{}}, func(_ context.Context, d kmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		got[numberOf(d)]++
		return nil
	}, kmq.RunConfig{})
	producer, err := sarama.NewSyncProducerFromClient(o.other)
	o.must(err)
	for i, m := range o.messages(12) {
		o.must(producer.BeginTxn())
		_, _, err := producer.SendMessage(m)
		o.must(err)
		if i%4 == 3 {
			o.must(producer.AbortTxn())
		} else {
			o.must(producer.CommitTxn())
		}
	}
	o.within("a lag of 0", func() bool {
		lags, err := o.adm.Lag(t.Context(), o.topic)
		return err == nil && lags[o.topic].Lag.Total() == 0 && q.Stats().Acked == 9
	})
	mu.Lock()
	defer mu.Unlock()
	for i := range 12 {
		if want := min(1, 3-i%4); got[i] != want {
			t.Errorf("record %d came %d times, want %d", i, got[i], want)
		}
	}
}
