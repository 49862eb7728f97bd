package bench

import (
	"context"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

const mendTimeout = 90 * time.Second

// After an interrupt, mend does not wait for the cluster to heal: there is no next run on it.
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

// thaw resumes paused brokers, so that nothing waits for them.
func (fs *faults) thaw() {
	if kafka, own := fs.cfg.Cluster.(*cluster.Kafka); own && fs.replicas != nil {
		kafka.Thaw()
	}
}
