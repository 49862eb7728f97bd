package cluster

import (
	"context"
	"errors"
	"reflect"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Source provides the cluster that the command line chose, and keeps it for the next run with the same settings.
type Source struct {
	Home Home
	// Kind is KindKafka, KindEmbedded, or the name of a cluster that Up made. Empty means the cluster DefaultName
	// if it is up, else Kafka if this machine can run it, else the embedded broker.
	Kind string
	// Brokers are the addresses of an existing cluster, which overrides Kind; ClusterID is its expected ID (see
	// Connect).
	Brokers   []string
	ClusterID string
	// Metrics are the metrics endpoints of an existing cluster's brokers, in Prometheus' text format; may be empty.
	Metrics []string
	Access  access.Access
	// Embedded are the options of an embedded cluster, except the number of its brokers.
	Embedded EmbeddedOptions
	// Progress receives short sentences about slow steps.
	Progress func(string)

	current  Cluster
	settings scenario.Cluster
}

// For returns the cluster for a run. It keeps the cluster of the run before, unless the settings differ or that run
// left it broken. A cluster that does not fit the run is ErrInput; see Fits.
func (s *Source) For(ctx context.Context, run scenario.Scenario) (Cluster, error) {
	settings := run.Cluster
	if s.current == nil || broken(s.current) || s.owned() && !reflect.DeepEqual(s.settings, settings) {
		if err := s.Close(); err != nil {
			return nil, err
		}
		started, err := s.open(ctx, settings)
		if err != nil {
			return nil, err
		}
		s.current, s.settings = started, settings
		if !s.owned() {
			s.mentionLeft(ctx, started)
		}
	}
	if err := Fits(s.current.Info(), run); err != nil {
		return nil, err
	}
	return s.current, nil
}

func broken(c Cluster) bool {
	k, own := c.(*Kafka)
	return own && k.Broken()
}

func (s *Source) owned() bool {
	kind := s.current.Info().Kind
	_, named := s.current.(*Named)
	return kind != KindExisting && !named
}

func (s *Source) open(ctx context.Context, settings scenario.Cluster) (Cluster, error) {
	if len(s.Brokers) > 0 {
		return s.existing(ctx)
	}
	switch s.Kind {
	case KindEmbedded:
		return s.embedded(settings)
	case KindKafka:
		return s.kafka(ctx, settings)
	case "":
		return s.automatic(ctx, settings)
	default:
		return s.Home.Find(ctx, s.Kind)
	}
}

func (s *Source) automatic(ctx context.Context, settings scenario.Cluster) (Cluster, error) {
	up, err := s.Home.Find(ctx, DefaultName)
	if err == nil {
		tell(s.Progress, "using the cluster that is up; its settings replace the scenario's")
		return up, nil
	}
	if !errors.Is(err, ErrNotUp) {
		return nil, err
	}
	if reason := s.Home.CanRunKafka(ctx, settings.Version); reason != nil {
		tell(s.Progress, "using the embedded broker, because Kafka can't run here: %v", reason)
		return s.embedded(settings)
	}
	return s.kafka(ctx, settings)
}

func (s *Source) existing(ctx context.Context) (Cluster, error) {
	e, err := Connect(ctx, s.Brokers, s.ClusterID, s.Access)
	if err != nil {
		return nil, err
	}
	for _, text := range e.Silent() {
		tell(s.Progress, "%s", text)
	}
	if len(s.Metrics) > 0 {
		if err := e.Meter(s.Metrics); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (s *Source) kafka(ctx context.Context, settings scenario.Cluster) (Cluster, error) {
	return s.Home.StartKafka(ctx, KafkaOptions{
		Version: settings.Version, Brokers: settings.Brokers, HeapBytes: int64(settings.Heap), Disks: settings.Disks,
		JVM: settings.JVM, Config: settings.Config, NoMetrics: settings.Metrics == "none", Progress: s.Progress,
	})
}

func (s *Source) embedded(settings scenario.Cluster) (Cluster, error) {
	o := s.Embedded
	o.Brokers = settings.Brokers
	return StartEmbedded(o)
}

// Close stops the current cluster if it was started here.
func (s *Source) Close() error {
	if s.current == nil {
		return nil
	}
	c := s.current
	s.current = nil
	ctx, cancel := context.WithTimeout(context.Background(), 2*stopGrace)
	defer cancel()
	return c.Stop(ctx)
}
