package offsetmap

import (
	"context"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
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
