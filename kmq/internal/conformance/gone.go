package conformance

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
)

// delete waits until no broker knows the topic, because Kafka accepts writes until then.
func (w *world) delete(topic string) {
	w.Helper()
	if _, err := kadm.NewClient(w.client).DeleteTopic(w.ctx, topic); err != nil {
		w.Fatalf("delete topic %s: %v", topic, err)
	}
	for _, b := range w.client.DiscoveredBrokers() {
		for w.knows(b, topic) {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// knows sends its own request, because an admin client might use a cache.
func (w *world) knows(b *kgo.Broker, topic string) bool {
	w.Helper()
	ask := kmsg.NewPtrMetadataRequest()
	of := kmsg.NewMetadataRequestTopic()
	of.Topic = &topic
	ask.Topics = append(ask.Topics, of)
	answer, err := b.RetriableRequest(w.ctx, ask)
	if err != nil {
		w.Fatalf("ask a broker for topic %s: %v", topic, err)
	}
	return answer.(*kmsg.MetadataResponse).Topics[0].ErrorCode != kerr.UnknownTopicOrPartition.Code
}

func (w *world) shortly(c *kmq.Config) {
	if w.can.lend {
		c.Visibility = 4 * time.Second
	}
}

func (w *world) within(what string, f func()) {
	w.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		w.Fatalf("%s has not ended after %v", what, patience)
	}
}

func rejectsNowhere(w *world) {
	w.produce(partitions)
	q := w.open(w.withDead, w.shortly)
	ds := w.receive(q, 2)
	w.delete(w.dead)
	w.within("Reject", func() {
		if err := ds[0].Reject(context.Background(), "no"); err == nil {
			w.Error("rejected into a topic that is not there")
		}
	})
	rejected := make(chan error, 1)
	go func() { rejected <- ds[1].Reject(context.Background(), "no") }()
	w.within("Close", func() { _ = q.Close(context.Background()) })
	w.within("a Reject beside Close", func() {
		if err := <-rejected; err == nil {
			w.Error("rejected into a topic that is not there")
		}
	})
}

// Run handles the other records, and the rejected ones become dead letters when the topic is back.
func runsOnWithoutDeadLetters(w *world) {
	const records, workers = 4 * partitions, 2
	w.produce(records)
	q := w.open(w.withDead, w.shortly)
	w.delete(w.dead)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	var others sync.WaitGroup
	others.Add(records - partitions)
	ran := make(chan error, 1)
	go func() {
		ran <- q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
			if d.ID().Offset == 0 {
				return kmq.Reject{Reason: "hopeless"}
			}
			if d.Attempt() == 1 {
				others.Done()
			}
			return nil
		}, kmq.RunConfig{Workers: workers})
	}()
	w.within("handling the others", others.Wait)
	w.create(w.dead, partitions)
	for until := time.Now().Add(patience); q.Stats().Rejected < partitions && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := q.Stats().Rejected; n != partitions {
		w.Errorf("%d are rejected, want %d: %+v", n, partitions, q.Stats())
	}
	select {
	case err := <-ran:
		w.Fatalf("Run has ended: %v", err)
	default:
	}
	cancel()
	w.within("Run", func() {
		if err := <-ran; err != nil {
			w.Errorf("run: %v", err)
		}
	})
	w.within("Close", func() { _ = q.Close(context.Background()) })
}
