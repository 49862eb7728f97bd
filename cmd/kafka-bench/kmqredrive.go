package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/kmq"
)

func kmqRedrive(in surroundings) *cobra.Command {
	flags := queueFlags{in: in}
	c := &cobra.Command{
		Use:   "redrive GROUP",
		Short: "Have the dead letters of a group delivered again",
		Long: `Copy the dead letters of a queue to the group's retry topic, from where its consumers
handle them again, from attempt 1 on. Repair first what made them fail.

The dead letters stay where they are. The group GROUP-redrive commits how far they are
copied, so that another redrive copies only later ones. Only queues of the engines
offsetmap (without an order) and markers have a retry topic; others are refused.
If the group has only one topic, that is the default.`,
		Example: `  kafka-bench kmq redrive billing
  kafka-bench kmq redrive billing --topic orders --dead-letter orders-dead`,
		Args: needs(1, 1, "the name of one group"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := in.untilInterrupt(c.Context())
			defer stop()
			cfg, err := flags.config(ctx, c, args[0])
			if err != nil {
				return err
			}
			copied, err := redrive(ctx, cfg, flags)
			if copied > 0 || err == nil {
				fmt.Fprintf(c.OutOrStdout(), "dead letters to be delivered again: %d\n", copied)
			}
			if errors.Is(err, context.Canceled) {
				return errInterrupted
			}
			return byFlag(err)
		},
	}
	addQueue(c, &flags)
	addRetryTopic(c, &flags)
	c.Flags().StringVar(&flags.topic, "topic", "", "the queue's topic, if the group has several")
	return c
}

func redrive(ctx context.Context, cfg kmq.Config, flags queueFlags) (copied int64, err error) {
	if cfg.Engine, err = engineToInspect("", flags.markers); err != nil {
		return 0, err
	}
	look, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	found, err := kmq.Inspect(look, cfg)
	if err != nil {
		return 0, err
	}
	cfg.Topic = found.Topic
	switch e := found.Engine.(type) {
	case kmq.Markers:
		e.RetryTopic = flags.retry
		cfg.Engine = e
	case nil, kmq.OffsetMap: // offsetmap is not recognised before its first commit
		cfg.Engine = kmq.OffsetMap{RetryTopic: flags.retry}
	default:
		cfg.Engine = e // which is refused
	}
	return kmq.Redrive(ctx, cfg)
}
