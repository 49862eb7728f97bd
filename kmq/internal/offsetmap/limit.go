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

const (
	limitKey     = "offset.metadata.max.bytes"
	defaultLimit = 4096
)

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
		// A queue works without this permission.
		cfg.Log.Info("kmq: the brokers' limit of metadata can't be read; the default is used", "config", limitKey, "value", limit, "error", err)
	}
	return topics, limit, nil
}

// readLimit returns the lowest limit of all brokers, since any may become the coordinator; with an error, the default.
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
			err = fmt.Errorf("the brokers do not report %s", limitKey)
		}
		return defaultLimit, err
	}
	return limit, nil
}

// learnEvery is the shortest interval of the engine's own commits. They lower the limit if a broker
// refuses the metadata as too large; the member would only retry such a commit unchanged.
const learnEvery = 10 * time.Second

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

func (e *Engine) commitOnce(ctx context.Context) error {
	err := e.member.Commit(ctx)
	if errors.Is(err, kerr.OffsetMetadataTooLarge) {
		e.lower()
	}
	return err
}

// lower reduces the limit by a quarter. A partition whose map does not fit takes no new record, and
// its last commit stays.
func (e *Engine) lower() {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.limit
	e.limit = was * 3 / 4
	for _, p := range e.partitions {
		p.changed = p.changed || len(p.commit.Metadata) > e.limit
	}
	e.cfg.Log.Warn("kmq: the metadata of a commit is too long for the broker; partitions whose maps do not fit are paused until they do",
		"config", limitKey, "was", was, "value", e.limit)
}

func (e *Engine) mapsAreOff() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.limit == 0
}
