package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

func (q *queue) close(patience time.Duration) {
	if q.tracker != nil && !q.trackerEnded {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := q.tracker.Close(ctx); err != nil {
			q.journal.Once("error", "the tracker was not closed in order", err)
		}
		cancel()
		q.trackerEnded = true
	}
	q.closeReader()
}

// closeReader ends the reading of the dead letters. After that the books stand still.
func (q *queue) closeReader() {
	if q.reader != nil {
		q.reader.Close()
		q.reader = nil
	}
}

// remove returns why topics or the group remain.
func (q *queue) remove(ctx context.Context) (left []error) {
	topics := []cluster.Topic{q.dead}
	for _, name := range []string{q.markersTopic(), q.retryTopic()} {
		if name == "" {
			continue
		}
		made, err := q.admin.UseExisting(ctx, name)
		made.Existing = false // the engine made it for this run
		if err == nil {
			topics = append(topics, made)
		} else if !errors.Is(err, cluster.ErrInput) { // or it was never made
			left = append(left, fmt.Errorf("the queue's topic %s was not deleted: %w", name, err))
		}
	}
	if q.markersTopic() != "" {
		if err := q.deleteGroup(ctx, q.groupIDs[0]+trackerSuffix); err != nil && q.cfg.Scenario.Consume.Group != "" {
			left = append(left, fmt.Errorf("the group of the tracker was not deleted: %w", err))
		}
	}
	for _, t := range topics {
		if t.Name == "" {
			continue
		}
		if err := q.admin.DeleteTopic(ctx, t); err != nil {
			left = append(left, fmt.Errorf("the queue's topic %s was not deleted: %w", t.Name, err))
		}
	}
	return left
}
