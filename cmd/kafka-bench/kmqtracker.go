package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/promkmq"
)

// trackerGrace is the longest time that Close of a tracker may take.
const trackerGrace = 30 * time.Second

func kmqTracker(in surroundings) *cobra.Command {
	flags := queueFlags{in: in, known: true}
	var group, metrics string
	var visibility, session time.Duration
	var most int
	c := &cobra.Command{
		Use:   "tracker",
		Short: "Redeliver the records of a group whose locks have run out, until interrupted",
		Long: `Run the redelivery tracker of a group of queues of the engine markers apart from its
consumers, which then have kmq.Markers{ExternalTracker: true}. It redelivers records that were not
settled in time, and gives up those that were delivered too often. Several trackers of a
group share the partitions. An interrupt (or SIGTERM) ends it in order, with status 0.

Its group must be there: open a queue first. The tracker uses its own --max-deliveries and --dead-letter and not the queues'
configuration, so give it the same values. Its log begins with the values in effect. The
queues decide how long a record is lent, and their markers say so.`,
		Example: `  kafka-bench kmq tracker --group billing --topic orders
  kafka-bench kmq tracker --group billing --topic orders --max-deliveries 5 --dead-letter orders-dead --metrics 127.0.0.1:9400`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownWords{in: c}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if group == "" || flags.topic == "" {
				return errors.New("a tracker needs the --group and the --topic of its queues")
			}
			if most < 0 {
				return fmt.Errorf("--max-deliveries is %d: give 0, which is never, or more", most)
			}
			listener, err := listenLoopback(c.Context(), metrics)
			if err != nil {
				return err
			}
			if listener != nil {
				defer listener.Close()
			}
			ctx, stop := in.untilInterrupt(c.Context())
			defer stop()
			cfg, err := flags.config(ctx, c, group)
			if err != nil {
				return err
			}
			cfg.Engine = kmq.Markers{Topic: flags.markers, RetryTopic: flags.retry, ExternalTracker: true}
			cfg.Visibility, cfg.MaxDeliveries, cfg.SessionTimeout = visibility, most, session
			if most == 0 {
				cfg.MaxDeliveries = kmq.Unlimited
			}
			cfg.Logger = slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			return track(ctx, cfg, listener, c.OutOrStdout())
		},
	}
	addQueue(c, &flags)
	addRetryTopic(c, &flags)
	f := c.Flags()
	f.StringVar(&group, "group", "", "the group of the queues (required)")
	f.StringVar(&flags.topic, "topic", "", "the topic of the queues (required)")
	addDuration(f, &visibility, "visibility", 30*time.Second,
		"the queues' visibility, 100ms to 1h; it has no effect here, because their markers say it")
	addDuration(f, &session, "session-timeout", 0,
		"after how long a silent tracker is removed from its group, 1s to 30m; 0 is 45s")
	f.IntVar(&most, "max-deliveries", 10,
		"after how many deliveries a record goes to the dead-letter topic, whatever the queues have; 0 is never")
	f.StringVar(&metrics, "metrics", "",
		"a loopback address for Prometheus, as 127.0.0.1:9400 (port 0: any that is free)")
	return c
}

func track(ctx context.Context, cfg kmq.Config, listener net.Listener, stdout io.Writer) (err error) {
	tracker, err := kmq.OpenTracker(ctx, cfg)
	if err != nil {
		return byFlag(err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), trackerGrace)
		defer cancel()
		if closeErr := tracker.Close(closing); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
		s := tracker.Stats()
		fmt.Fprintf(stdout, "redelivered %d, dead-lettered %d, missing %d\n", s.Moved, s.DeadLettered, s.Missing)
	}()
	fmt.Fprintf(stdout, "tracker of group %s on topic %s; interrupt to end\n", cfg.Group, cfg.Topic)
	if listener == nil {
		return untilEnd(ctx, tracker)
	}
	fmt.Fprintf(stdout, "metrics: http://%s/metrics\n", listener.Addr())
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- untilEnd(running, tracker)
	}()
	err = serveMetrics(running, listener,
		promkmq.New(tracker, prometheus.Labels{"group": cfg.Group, "topic": cfg.Topic}))
	stop()
	return errors.Join(err, <-ended)
}

func untilEnd(ctx context.Context, tracker *kmq.Tracker) error {
	if err := tracker.Wait(ctx); !errors.Is(err, context.Canceled) {
		return byFlag(err)
	}
	return nil
}

var flagOf = map[string]string{
	"MaxDeliveries": "--max-deliveries", "DeadLetterTopic": "--dead-letter", "Markers.RetryTopic": "--retry-topic", "Visibility": "--visibility",
	"SessionTimeout": "--session-timeout", "Markers.Topic": "--markers-topic",
}

var aField = regexp.MustCompile(`\b[A-Z]\w+(\.[A-Z]\w+)*\b`)

// flagged is an error whose text names flags instead of fields.
type flagged struct{ error }

func (e flagged) Error() string {
	return aField.ReplaceAllStringFunc(e.error.Error(),
		func(field string) string { return cmp.Or(flagOf[field], field) })
}
func (e flagged) Unwrap() error { return e.error }

func byFlag(err error) error {
	if errors.Is(err, kmq.ErrConfig) {
		return flagged{err}
	}
	return err
}

// listenLoopback returns nil for the address "". The metrics page has no authentication, so other
// machines must not reach it.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w; write it as 127.0.0.1:9400", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--metrics %s: choose a loopback address, as 127.0.0.1:9400; the page has no authentication", address)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return listener, nil
}

func serveMetrics(ctx context.Context, listener net.Listener, collector prometheus.Collector) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	case err := <-served:
		return fmt.Errorf("metrics: %w", err)
	}
}
