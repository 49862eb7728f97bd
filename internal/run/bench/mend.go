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

// mendBrokers has the brokers that were broken on purpose be what they were, for the
// next run of the same cluster. A person who ended the run does not wait for that, and
// has no next run.
func (r *run) mendBrokers() {
	if r.replicas == nil {
		return
	}
	r.replicas.close()
	kafka, own := r.cfg.Cluster.(*cluster.Kafka)
	if !own || r.mended || !slices.ContainsFunc(r.faultsDone(), judge.HitsBroker) {
		return
	}
	r.mended = true
	if r.interrupted {
		r.thawBrokers()
		kafka.GiveUp()
		return
	}
	r.journal.progress("waiting until all brokers serve and all replicas are in sync again", nil)
	ctx, cancel := context.WithTimeout(context.Background(), mendTimeout)
	defer cancel()
	if err := kafka.Heal(ctx); err != nil {
		r.leftBehind = append(r.leftBehind, err)
	}
}

// thawBrokers has brokers go on that are paused, where a person ended the run: nobody
// is to wait for those who can't answer.
func (r *run) thawBrokers() {
	if kafka, own := r.cfg.Cluster.(*cluster.Kafka); own && r.replicas != nil {
		kafka.Thaw()
	}
}
