//go:build proof

package truth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

func TestCrash(t *testing.T) {
	k := clustertest.Own(t, 1, shortSession)
	levels := []string{"load.acks=1", "load.acks=all"}
	witnesses := make([]*witness, len(levels))
	configs := make([]bench.Config, len(levels))
	crash := &crash{broker: k.Brokers()[0], over: make(chan struct{})}
	for i, acks := range levels {
		witnesses[i] = newWitness()
		// A record times out after 3 s, and the broker is gone for longer: some fail, and the fate
		// of others is unknown.
		s := smallScenario(t, "crash-"+strings.TrimPrefix(acks, "load.acks="), acks,
			"load.delivery_timeout=3s", "phases.warmup=1s", "phases.measure=13s", "phases.drain=60s")
		configs[i] = withDriver(config(t, k, s), witnesses[i].watch(franz.New()))
		configs[i].KeepTopics = true
	}
	configs[0].Watch = crash
	runs := runTogether(t, configs...)
	<-crash.over
	if crash.err != nil {
		t.Fatal(crash.err)
	}
	t.Logf("the broker was gone for %v", crash.took)
	for i, r := range runs {
		t.Run(levels[i], func(t *testing.T) {
			wantCount(t, "scheduled", r.Run.Load.Scheduled, 13_000)
			if l := r.Run.Load; l.Failed+l.Unknown == 0 {
				t.Error("every record was acked: the broker was not gone for long enough to prove anything")
			}
			wantAsLogged(t, k, r, witnesses[i])
		})
	}
}

// crash kills a broker two seconds into the measured window, and restarts it.
type crash struct {
	broker *cluster.Broker
	took   time.Duration
	err    error
	over   chan struct{}
}

func (c *crash) Began(string)             {}
func (c *crash) Interval(result.Interval) {}
func (c *crash) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		time.AfterFunc(2*time.Second, c.strike)
	}
}

func (c *crash) strike() {
	defer close(c.over)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	c.broker.Kill()
	c.err = c.broker.Restart(ctx)
	c.took = time.Since(began)
}

func runTogether(t *testing.T, configs ...bench.Config) []*result.Recorded {
	t.Helper()
	runs, errs := make([]*result.Recorded, len(configs)), make([]error, len(configs))
	var making sync.WaitGroup
	for i, cfg := range configs {
		making.Go(func() { runs[i], errs[i] = tryRun(cfg) })
	}
	making.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return runs
}
