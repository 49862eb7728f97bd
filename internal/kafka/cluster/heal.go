package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const healPoll = 50 * time.Millisecond

// Heal resumes paused brokers, starts stopped ones, and returns when every broker is ready and all replicas are in
// sync. If that fails or ctx ends first, the cluster is Broken and no further run uses it.
func (k *Kafka) Heal(ctx context.Context) error {
	k.Thaw()
	errs := make([]error, len(k.brokers))
	var starting sync.WaitGroup
	for i, b := range k.brokers {
		if !b.Alive() {
			starting.Go(func() { errs[i] = b.Start(ctx) })
		}
	}
	starting.Wait()
	err := errors.Join(errs...)
	if err == nil {
		err = awaitReady(ctx, k.brokers, len(k.brokers))
	}
	if err == nil {
		err = k.awaitInSync(ctx)
	}
	k.broken.Store(err != nil)
	if err != nil {
		return fmt.Errorf("the cluster did not recover from the faults: %w", err)
	}
	return nil
}

// Thaw resumes every paused broker and does not wait.
func (k *Kafka) Thaw() {
	for _, b := range k.brokers {
		if b.Paused() {
			_ = b.Resume() // it may have ended meanwhile
		}
	}
}

// GiveUp marks the cluster as Broken without trying to Heal it.
func (k *Kafka) GiveUp() { k.broken.Store(true) }

// Broken reports whether the cluster differs from what was asked for.
func (k *Kafka) Broken() bool { return k.broken.Load() }

func (k *Kafka) awaitInSync(ctx context.Context) error {
	for _, b := range k.brokers {
		client, err := newClient([]string{b.Addr()}, access.Access{}, kgo.RequestRetries(0),
			kgo.RetryTimeout(answerTimeout))
		if err != nil {
			return err
		}
		err = awaitInSync(ctx, client.SeedBrokers()[0], b.ID())
		client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func awaitInSync(ctx context.Context, broker *kgo.Broker, id int32) error {
	for {
		lacking, err := underReplicated(ctx, broker)
		if err == nil && lacking == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("broker %d knows of %d partitions that lack a replica: %w", id, lacking,
				ctx.Err()), err)
		case <-time.After(healPoll):
		}
	}
}

func underReplicated(ctx context.Context, broker *kgo.Broker) (lacking int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	resp, err := broker.Request(ctx, kmsg.NewPtrMetadataRequest()) // no topics means all
	if err != nil {
		return 0, err
	}
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		for _, p := range t.Partitions {
			if p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
				lacking++
			}
		}
	}
	return lacking, nil
}
