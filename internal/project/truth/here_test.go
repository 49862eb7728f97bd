package truth

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// crew does the work of a run's processes in the test's own process.
type crew struct {
	serve remote.InProcess
	// within, if not nil, wraps the input of a worker.
	within func(name string, in io.Reader) io.Reader

	began, ended atomic.Int64
}

func crewOf(c *virtual.Cluster) *crew {
	franzAlone := func(string) (driver.Driver, error) { return franz.New(), nil }
	return &crew{serve: bench.WorkerConfig{
		Driver: franzAlone, Probes: probe.Unknown(), Dial: c.Access().Dial,
	}.Serve}
}

func (w *crew) work(ctx context.Context, name string, in io.Reader, out io.WriteCloser) error {
	w.began.Add(1)
	defer w.ended.Add(1)
	if w.within != nil {
		in = w.within(name, in)
	}
	return w.serve(ctx, name, in, out)
}

func (w *crew) wantDone(t *testing.T, n int64) {
	t.Helper()
	wantCount(t, "workers that came", w.began.Load(), n)
	wantCount(t, "workers that are gone", w.ended.Load(), n)
}

func withCrew(t *testing.T, c *virtual.Cluster, s scenario.Scenario) (bench.Config, *crew) {
	t.Helper()
	cfg, w := config(t, c, s), crewOf(c)
	cfg.Here = w.work
	return cfg, w
}

func runApart(t *testing.T, c *virtual.Cluster, s scenario.Scenario, n int64) *result.Recorded {
	t.Helper()
	cfg, w := withCrew(t, c, s)
	r := run(t, cfg)
	w.wantDone(t, n)
	return r
}

func orUnknown[N int64 | float64](n *N, format string) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *n)
}
