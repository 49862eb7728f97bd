package bench

import (
	"context"
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

// closeQueue ends what a queue has beside its consumers, once they have ended.
func (r *run) closeQueue() {
	if r.queue == nil {
		return
	}
	if r.queue.tracker != nil && !r.queue.trackerEnded {
		ctx, cancel := context.WithTimeout(context.Background(), r.patience(queueTimeout))
		if err := r.queue.tracker.Close(ctx); err != nil {
			r.journal.once("error", "the tracker was not closed in order", err)
		}
		cancel()
		r.queue.trackerEnded = true
	}
	if r.queue.reader != nil {
		r.queue.reader.Close()
		r.queue.reader = nil
	}
}

// removeQueue takes away what the queue has made, once nobody uses it any more.
func (r *run) removeQueue(ctx context.Context) {
	if r.queue == nil || r.cfg.KeepTopics {
		return
	}
	topics := []cluster.Topic{r.queue.dead}
	if name := r.markersTopic(); name != "" {
		made, err := r.admin.UseExisting(ctx, name)
		made.Existing = false // the engine made it for this run
		if err == nil {
			topics = append(topics, made)
		} else if !errors.Is(err, cluster.ErrInput) { // or it never came to that
			r.leftBehind = append(r.leftBehind, fmt.Errorf("the queue's topic %s was not deleted: %w", name, err))
		}
		r.putOutKilled(ctx, r.groupIDs[0]+trackerSuffix)
		_ = r.admin.DeleteGroup(ctx, r.groupIDs[0]+trackerSuffix) // expires by itself where it can't be deleted
	}
	for _, t := range topics {
		if t.Name == "" {
			continue
		}
		if err := r.admin.DeleteTopic(ctx, t); err != nil {
			r.leftBehind = append(r.leftBehind, fmt.Errorf("the queue's topic %s was not deleted: %w", t.Name, err))
		}
	}
}
