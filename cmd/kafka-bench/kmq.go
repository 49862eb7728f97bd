package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/kmq"
)

func kmqCommand(in surroundings) *cobra.Command {
	c := &cobra.Command{
		Use:   "kmq",
		Short: "Look into a queue, redrive its dead letters, or run its tracker",
		Long: `Work for queues of the Go package kmq, which acknowledges records one at a time:
see what a group has in flight, have its dead letters delivered again, or run its
redelivery tracker apart from its consumers. docs/queue.md says what a queue is.`,
		Example: `  kafka-bench kmq inspect billing`,
		Args:    ofItsCommands,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(kmqTracker(in), kmqInspect(in), kmqRedrive(in))
	return c
}

func addRetryTopic(c *cobra.Command, flags *queueFlags) {
	c.Flags().StringVar(&flags.retry, "retry-topic", "", "the group's retry topic (default: TOPIC.GROUP.retry)")
}

type queueFlags struct {
	in         surroundings
	brokers    []string
	clusterID  string
	cluster    string
	access     string
	topic      string
	markers    string
	retry      string
	deadLetter string
	known      bool // the group must be on the cluster
}

func addQueue(c *cobra.Command, flags *queueFlags) {
	f := c.Flags()
	addList(f, &flags.brokers, "brokers", nil,
		"addresses of the cluster, host:port (default: those of the local cluster that is up)")
	f.StringVar(&flags.clusterID, "cluster-id", "", "the ID of the cluster; required unless it is on this machine")
	f.StringVar(&flags.cluster, "cluster", cluster.DefaultName, "the name of a local cluster that is up")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file with the access to the cluster (TLS, SASL)")
	f.StringVar(&flags.markers, "markers-topic", "",
		"the topic of the markers (default: the queue's, with -markers behind it)")
	f.StringVar(&flags.deadLetter, "dead-letter", "", "the dead-letter topic (default: TOPIC.GROUP.dead)")
}

// wantGroup refuses a group that is not on the cluster.
func wantGroup(ctx context.Context, at *cluster.Existing, group string) error {
	admin, err := cluster.NewAdmin(at.Bootstrap(), at.Access())
	if err != nil {
		return err
	}
	defer admin.Close()
	there, err := admin.HasGroup(ctx, group)
	if err == nil && !there {
		return fmt.Errorf("the group %s has committed nothing and has no members: check its name, or open its queues first", group)
	}
	return err
}

func (f queueFlags) config(ctx context.Context, c *cobra.Command, group string) (kmq.Config, error) {
	switch {
	case c.Flags().Changed("cluster") && len(f.brokers) > 0:
		return kmq.Config{}, errors.New("--cluster and --brokers name two clusters; leave one of them out")
	case f.clusterID != "" && len(f.brokers) == 0:
		return kmq.Config{}, errors.New("--cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out")
	case f.access != "" && len(f.brokers) == 0:
		return kmq.Config{}, errors.New("--command-config is for an existing cluster; name its addresses with --brokers, or leave it out")
	}
	if err := flagFault("--brokers", cluster.CheckAddresses(f.brokers)); err != nil {
		return kmq.Config{}, err
	}
	var a access.Access
	if f.access != "" {
		var warnings []string
		var err error
		a, warnings, err = access.Read(f.access)
		for _, warning := range warnings {
			progressTo(c.ErrOrStderr())(warning)
		}
		if err != nil {
			return kmq.Config{}, err
		}
	}
	a = f.in.through(a)
	brokers, err := f.bootstrap(ctx)
	if err != nil {
		return kmq.Config{}, err
	}
	at, err := cluster.Connect(ctx, brokers, f.clusterID, a)
	if err != nil {
		return kmq.Config{}, err
	}
	for _, text := range at.Silent() {
		progressTo(c.ErrOrStderr())(text)
	}
	if f.known {
		if err := wantGroup(ctx, at, group); err != nil {
			return kmq.Config{}, err
		}
	}
	return kmq.Config{
		Brokers: at.Bootstrap(), Topic: f.topic, Group: group, DeadLetterTopic: f.deadLetter,
		Client: a.Options(),
	}, nil
}

func (f queueFlags) bootstrap(ctx context.Context) ([]string, error) {
	if len(f.brokers) > 0 {
		return f.brokers, nil
	}
	home, err := cluster.UserHome()
	if err != nil {
		return nil, err
	}
	status, err := home.Status(ctx, f.cluster)
	if err == nil {
		err = status.Problem
	}
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, b := range status.Brokers {
		addresses = append(addresses, b.Addr)
	}
	return addresses, nil
}
