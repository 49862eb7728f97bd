package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func clusterCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Keep a local Apache Kafka running between runs",
		Example: `  kafka-bench cluster up
  kafka-bench run quick
  kafka-bench cluster down`,
		Args: ofItsCommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var name string
	c.PersistentFlags().StringVar(&name, "name", cluster.DefaultName, "the cluster's name")
	c.AddCommand(clusterUp(&name), clusterDown(&name), clusterStatus(&name))
	return c
}

// ofItsCommands refuses the arguments of a command that only holds others.
func ofItsCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range c.Commands() {
		names = append(names, command.Name())
	}
	return fmt.Errorf("%q is no command of %s: write %s", args[0], c.CommandPath(), spelling.OneOf(names))
}

func clusterUp(name *string) *cobra.Command {
	var options cluster.KafkaOptions
	var heap string
	var config map[string]string
	c := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster that stays until `cluster down`",
		Long: `Start a cluster that stays until ` + "`cluster down`" + `.

One that ` + "`cluster down --keep`" + ` has stopped is started again, with its cluster ID, its
data and its addresses. Without a flag, a setting stays as it was; the version, the
brokers and the disks can't be changed.`,
		Example: "  kafka-bench cluster up --brokers 3\n  kafka-bench cluster up --name old --version 3.9",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			home, err := cluster.UserHome()
			if err != nil {
				return err
			}
			switch { // 0 means one broker, or as many as a kept cluster has
			case !c.Flags().Changed("brokers"):
				options.Brokers = 0
			case options.Brokers == 0:
				return fmt.Errorf("--brokers: a local cluster has 1 to %d brokers, not 0", cluster.MaxBrokers)
			}
			if heap != "" {
				size, err := unit.ParseSize(heap)
				if err != nil {
					return fmt.Errorf("--heap: %w", err)
				}
				options.HeapBytes = int64(size)
			}
			options.Config, options.Progress = config, progressTo(c.ErrOrStderr())
			ctx, stop := signal.NotifyContext(c.Context(), ends...)
			defer stop()
			up, err := home.Up(ctx, *name, options)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "cluster %s is up: %s\n", *name, strings.Join(up.Bootstrap(), ","))
			return nil
		},
	}
	c.Flags().IntVar(&options.Brokers, "brokers", 1, "number of brokers, 1 to 9")
	c.Flags().StringVar(&options.Version, "version", "",
		"line of Apache Kafka: "+strings.Join(scenario.KafkaVersions(), ", ")+" (default the last)")
	c.Flags().StringArrayVar(&options.Disks, "disk", nil,
		"an existing folder that each broker keeps logs in (may be repeated; default in the user's cache)")
	c.Flags().StringVar(&heap, "heap", "",
		"heap of each broker's JVM (default 1GiB for one broker, 512MiB for several)")
	c.Flags().StringArrayVar(&options.JVM, "jvm", nil, "a further JVM option (may be repeated)")
	c.Flags().StringToStringVar(&config, "config", nil,
		"a broker property, as in log.segment.bytes=104857600 (may be repeated)")
	return c
}

func clusterDown(name *string) *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:     "down",
		Short:   "Stop a cluster and remove its data",
		Example: "  kafka-bench cluster down\n  kafka-bench cluster down --keep",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			home, err := cluster.UserHome()
			if err != nil {
				return err
			}
			end, kept := home.Down, ""
			if keep {
				end, kept = home.Keep, "; `cluster up` starts it again with its data"
			}
			if err := end(c.Context(), *name); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "cluster %s is down%s\n", *name, kept)
			return nil
		},
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep its data, for a later cluster up")
	return c
}

func clusterStatus(name *string) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Report whether a cluster is up and can be used",
		Example: "  kafka-bench cluster status",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			home, err := cluster.UserHome()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), 30*time.Second)
			defer cancel()
			status, err := home.Status(ctx, *name)
			if err != nil {
				return err
			}
			printStatus(c.OutOrStdout(), status)
			return status.Problem
		},
	}
}

func printStatus(w io.Writer, s cluster.Status) {
	printWrapped(w, "cluster %s: Apache Kafka %s, cluster ID %s, up since %s",
		s.Name, s.Info.Version, s.Info.ID, s.StartedAt.Local().Format(time.DateTime))
	for _, b := range s.Brokers {
		state := "running"
		if !b.Alive {
			state = "not running"
		}
		fmt.Fprintf(w, "  broker %d  %s  pid %d  %s\n", b.ID, b.Addr, b.PID, state)
	}
	fmt.Fprintf(w, "  data and logs: %s\n", strings.Join(append([]string{s.Dir}, s.Disks...), ", "))
}

func progressTo(w io.Writer) func(string) {
	return func(what string) { fmt.Fprintln(w, textfile.Lines(what)) }
}
