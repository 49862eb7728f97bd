package bench

import (
	"context"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// mendTimeout bounds how long brokers may take to be what they were.
const mendTimeout = 90 * time.Second

// mend has the brokers that were broken on purpose be what they were, for the next run of
// the same cluster. A person who ended the run does not wait for that, and has no next run.
func (fs *faults) mend(interrupted bool) error {
	if fs.replicas == nil {
		return nil
	}
	fs.replicas.Close()
	kafka, own := fs.cfg.Cluster.(*cluster.Kafka)
	if !own || fs.mended || !slices.ContainsFunc(fs.seen.Injected, judge.HitsBroker) {
		return nil
	}
	fs.mended = true
	if interrupted {
		fs.thaw()
		kafka.GiveUp()
		return nil
	}
	fs.journal.Progress("waiting until all brokers serve and all replicas are in sync again", nil)
	ctx, cancel := context.WithTimeout(context.Background(), mendTimeout)
	defer cancel()
	return kafka.Heal(ctx)
}

// thaw has paused brokers go on if a person ended the run, who does not wait for brokers
// that can't answer.
func (fs *faults) thaw() {
	if kafka, own := fs.cfg.Cluster.(*cluster.Kafka); own && fs.replicas != nil {
		kafka.Thaw()
	}
}
