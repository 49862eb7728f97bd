package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// limitKey is the broker's bound of the metadata of one commit, in characters, and
// defaultLimit what it is unless it is set.
const (
	limitKey     = "offset.metadata.max.bytes"
	defaultLimit = 4096
)

// look finds out what must be known before a partition is assigned: the topics, and how
// long metadata may be.
func look(ctx context.Context, cfg engine.Config) (engine.Topics, int, error) {
	cl, err := kgo.NewClient(cfg.ClientOptions()...)
	if err != nil {
		return engine.Topics{}, 0, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer cl.Close()
	topics, err := engine.CheckTopics(ctx, cl, cfg)
	if err != nil {
		return engine.Topics{}, 0, err
	}
	limit, err := readLimit(ctx, cl)
	if err != nil {
		// Reading the configuration of brokers is a permission that queues need not have.
		cfg.Log.Info("kmq: taking the default for the length of metadata", "config", limitKey, "value", limit, "error", err)
	}
	return topics, limit, nil
}

// readLimit reads the bound of the brokers: the lowest, since any of them may come to
// coordinate the group. With an error it returns the default.
func readLimit(ctx context.Context, cl *kgo.Client) (int, error) {
	adm := kadm.NewClient(cl)
	brokers, err := adm.ListBrokers(ctx)
	if err != nil {
		return defaultLimit, err
	}
	configs, err := adm.DescribeBrokerConfigs(ctx, brokers.NodeIDs()...)
	limit := -1
	for _, of := range configs {
		if of.Err != nil {
			err = of.Err
		}
		for _, c := range of.Configs {
			if c.Key != limitKey || c.Value == nil {
				continue
			}
			if n, bad := strconv.Atoi(*c.Value); bad == nil && (limit < 0 || n < limit) {
				limit = n
			}
		}
	}
	if limit < 0 {
		if err == nil {
			err = fmt.Errorf("the brokers do not tell %s", limitKey)
		}
		return defaultLimit, err
	}
	return limit, nil
}

// learnEvery is how often the engine commits by itself, for the sake of the answer. The
// commits of its member are tried again as they are.
const learnEvery = 10 * time.Second

// learnLimit looks now and then whether the brokers take the metadata of the commits, and
// lowers the limit until they do: it may be lower than what was read, or could be read.
func (e *Engine) learnLimit(ctx context.Context) {
	tick := time.NewTicker(max(learnEvery, e.cfg.CommitEvery))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for errors.Is(e.commitOnce(ctx), kerr.OffsetMetadataTooLarge) && ctx.Err() == nil {
			if e.mapsAreOff() {
				break
			}
		}
	}
}

// commitOnce commits, and notes what is refused.
func (e *Engine) commitOnce(ctx context.Context) error {
	err := e.member.Commit(ctx)
	if errors.Is(err, kerr.OffsetMetadataTooLarge) {
		e.lower()
	}
	return err
}

// lower notes that the metadata of a commit was refused for its length. Until its map fits
// what is left, a partition takes nothing new, and what is committed of it stays as it is.
func (e *Engine) lower() {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.limit
	e.limit = was * 3 / 4
	for _, p := range e.partitions {
		p.changed = p.changed || len(p.commit.Metadata) > e.limit
	}
	e.cfg.Log.Warn("kmq: the metadata of a commit is too long for the broker; partitions whose maps do not fit are paused until they do",
		"topic", e.cfg.Topic, "group", e.cfg.Group, "config", limitKey, "was", was, "value", e.limit)
}

func (e *Engine) mapsAreOff() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.limit == 0
}
