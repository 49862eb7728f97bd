package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// brokers returns the brokers that this process started, ordered by ID from 1.
func brokers(c cluster.Cluster) ([]*cluster.Broker, error) {
	if own, mine := c.(*cluster.Kafka); mine {
		return own.Brokers(), nil
	}
	_, kept := c.(*cluster.Named)
	return nil, Refusal(c.Info().Kind, kept)
}

// Refusal returns why no run may break the brokers of a cluster of this kind (cluster.KindKafka and
// so on), or of a cluster that stays up after the run; nil if a run may break them.
func Refusal(kind string, kept bool) error {
	switch {
	case kept:
		return errors.New("the cluster stays up after the run, and an interrupted run would leave it broken; " +
			"use --cluster kafka, which starts one for the run")
	case kind == cluster.KindKafka:
		return nil
	case kind == cluster.KindEmbedded:
		return errors.New("the embedded broker is no process that a fault could hit; run it on Apache Kafka: --cluster kafka")
	default:
		return errors.New("a fault may not hit the brokers of an existing cluster; " +
			"use --cluster kafka instead of --brokers, which starts one for the run")
	}
}

type brokerFault struct {
	on     Stand
	action string
	id     int32
}

func (f brokerFault) Name() string { return fmt.Sprintf("%s broker %d", f.action, f.id) }

func (f brokerFault) Available() error {
	_, err := f.broker()
	return err
}

func (f brokerFault) broker() (*cluster.Broker, error) {
	all, err := brokers(f.on.Cluster)
	switch {
	case err != nil:
		return nil, err
	case f.id < 1 || int(f.id) > len(all):
		return nil, fmt.Errorf("there is no broker %d; the cluster has brokers 1 to %d, see cluster.brokers", f.id, len(all))
	}
	return all[f.id-1], nil
}

func (f brokerFault) Inject(ctx context.Context) (done Step, err error) {
	b, err := f.broker()
	if err != nil {
		return done, err
	}
	began := time.Now()
	if err := f.on.act(ctx, b, f.action); err != nil {
		return done, err
	}
	if f.action == scenario.Start || f.action == scenario.Restart {
		done.What = fmt.Sprintf("broker %d served again after %s", f.id, unit.Nanos(int64(time.Since(began))))
		done.Data = ofBroker(f.id, serving)
	}
	return done, nil
}

func (s Stand) act(ctx context.Context, b *cluster.Broker, action string) error {
	switch action {
	case scenario.Kill:
		if !b.Alive() {
			return fmt.Errorf("broker %d is not running", b.ID())
		}
		b.Kill()
		s.tell(Step{fmt.Sprintf("broker %d is killed", b.ID()), ofBroker(b.ID(), stopped)})
		return nil
	case scenario.Stop:
		return s.stop(ctx, b)
	case scenario.Start:
		return b.Start(ctx)
	case scenario.Pause:
		return b.Pause()
	case scenario.Resume:
		return b.Resume()
	case scenario.Restart:
		if err := s.stop(ctx, b); err != nil {
			return err
		}
		return b.Start(ctx)
	}
	return fmt.Errorf("unknown action for a broker: %s", action)
}

// A broker that does not stop in time is killed, and stop returns an error.
func (s Stand) stop(ctx context.Context, b *cluster.Broker) error {
	ran := b.Alive()
	err := b.Stop(ctx)
	if ran && !b.Alive() {
		s.tell(Step{fmt.Sprintf("broker %d is stopped", b.ID()), ofBroker(b.ID(), stopped)})
	}
	return err
}

func (s Stand) tell(step Step) {
	if s.Tell != nil {
		s.Tell(step)
	}
}

func (f brokerFault) Undo() Fault {
	f.action = scenario.Opposite(f.action)
	return f
}

type leaderFault struct {
	on        Stand
	action    string
	partition int
}

func (f leaderFault) Name() string {
	return fmt.Sprintf("%s %s %d", f.action, scenario.LeaderTarget, f.partition)
}

// A stopped or paused broker leads nothing.
func (f leaderFault) Available() error {
	if _, err := brokers(f.on.Cluster); err != nil {
		return err
	}
	switch {
	case f.partition >= f.on.Partitions:
		return fmt.Errorf("the topic has partitions 0 to %d", f.on.Partitions-1)
	case scenario.Mends(f.action):
		return fmt.Errorf("a broker that leads a partition is running, so that %s has no effect; give the first fault a for, or name the broker", f.action)
	}
	return nil
}

func (f leaderFault) Aim(ctx context.Context) (Fault, error) {
	id, err := f.on.Topic.Leader(ctx, f.partition)
	switch {
	case err != nil:
		return nil, fmt.Errorf("finding the leader of partition %d: %w", f.partition, err)
	case id < 1:
		return nil, fmt.Errorf("partition %d has no leader", f.partition)
	}
	return brokerFault{on: f.on, action: f.action, id: id}, nil
}

func (f leaderFault) Inject(ctx context.Context) (Step, error) {
	aimed, err := f.Aim(ctx)
	if err != nil {
		return Step{}, err
	}
	return aimed.Inject(ctx)
}

type rollingRestart struct {
	on     Stand
	action string
}

func (f rollingRestart) Name() string { return f.action + " " + scenario.EveryBroker }

func (f rollingRestart) Available() error {
	if f.action != scenario.Restart {
		return fmt.Errorf("every broker can only be restarted, one after the other; to %s one, name it", f.action)
	}
	_, err := brokers(f.on.Cluster)
	return err
}

const (
	inSyncTimeout = 60 * time.Second
	inSyncPoll    = 100 * time.Millisecond
)

// Inject restarts each broker. Before each restart and after the last, it waits until all replicas
// of the topic are in sync, because two brokers down at a time are an outage.
func (f rollingRestart) Inject(ctx context.Context) (done Step, err error) {
	all, err := brokers(f.on.Cluster)
	if err != nil {
		return done, err
	}
	began := time.Now()
	for _, b := range all {
		if err := f.awaitInSync(ctx); err != nil {
			return done, fmt.Errorf("before broker %d: %w", b.ID(), err)
		}
		if err := f.on.act(ctx, b, scenario.Restart); err != nil {
			return done, err
		}
		f.on.tell(Step{fmt.Sprintf("broker %d serves again", b.ID()), ofBroker(b.ID(), serving)})
	}
	if err := f.awaitInSync(ctx); err != nil {
		return done, fmt.Errorf("after the last broker: %w", err)
	}
	done.What = fmt.Sprintf("%d brokers were restarted and in sync again after %s", len(all),
		unit.Nanos(int64(time.Since(began))))
	return done, nil
}

func (f rollingRestart) awaitInSync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, inSyncTimeout)
	defer cancel()
	for {
		inSync, err := f.on.Topic.InSync(ctx)
		if err == nil && inSync {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the replicas are not in sync: %w", ctx.Err()), err)
		case <-time.After(inSyncPoll):
		}
	}
}
