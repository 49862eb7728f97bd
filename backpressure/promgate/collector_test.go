package promgate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/promgate"
)

func gate(t *testing.T, cfg backpressure.Config) *backpressure.Gate {
	t.Helper()
	g, err := backpressure.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// slow answers once at once with a lag of 40, then after 1.5 s with 50.
type slow struct{ answers atomic.Int64 }

func (s *slow) Read(context.Context) (backpressure.Reading, error) {
	if s.answers.Add(1) <= 1 {
		return backpressure.Reading{Lag: 40}, nil
	}
	time.Sleep(1500 * time.Millisecond)
	return backpressure.Reading{Lag: 50}, nil
}

func TestEveryNumberIsTold(t *testing.T) { synctest.Test(t, everyNumberIsTold) }

func everyNumberIsTold(t *testing.T) {
	g := gate(t, backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 100}, Source: &slow{}, Interval: 1500 * time.Millisecond,
	})
	if !g.TryAcquire(60) {
		t.Fatal("no room for 60 at a lag of 40 of 100")
	}
	g.Done(20)
	time.Sleep(1500 * time.Millisecond) // now a reading begins
	synctest.Wait()
	g.TryAcquire(10)
	time.Sleep(1500 * time.Millisecond) // now it has room for 10
	synctest.Wait()
	c := promgate.New(g, prometheus.Labels{"group": "billing"})

	want := `
# HELP kafka_backpressure_admitted_records_total Records that the gate let through.
# TYPE kafka_backpressure_admitted_records_total counter
kafka_backpressure_admitted_records_total{group="billing"} 60
# HELP kafka_backpressure_blind 1 while the lag has not been known for longer than the grace time.
# TYPE kafka_backpressure_blind gauge
kafka_backpressure_blind{group="billing"} 0
# HELP kafka_backpressure_bound_records Bound of the consumer lag in force. No series while there is no bound.
# TYPE kafka_backpressure_bound_records gauge
kafka_backpressure_bound_records{group="billing"} 100
# HELP kafka_backpressure_closed_seconds_total Time in which records were refused: from the first refusal until there was room again.
# TYPE kafka_backpressure_closed_seconds_total counter
kafka_backpressure_closed_seconds_total{group="billing"} 1.5
# HELP kafka_backpressure_lag_records Consumer lag at the last reading; with a share, that of the gate's own records.
# TYPE kafka_backpressure_lag_records gauge
kafka_backpressure_lag_records{group="billing"} 50
# HELP kafka_backpressure_open 1 while the gate would let a record through.
# TYPE kafka_backpressure_open gauge
kafka_backpressure_open{group="billing"} 1
# HELP kafka_backpressure_outstanding_records Largest possible number of records that are in the log and not committed.
# TYPE kafka_backpressure_outstanding_records gauge
kafka_backpressure_outstanding_records{group="billing"} 90
# HELP kafka_backpressure_reading_age_seconds_max Age of the oldest reading that a decision rested on, since the gate was made.
# TYPE kafka_backpressure_reading_age_seconds_max gauge
kafka_backpressure_reading_age_seconds_max{group="billing"} 1.5
# HELP kafka_backpressure_refused_records_total Records that were asked for and not granted at once. One that is asked for again is refused again.
# TYPE kafka_backpressure_refused_records_total counter
kafka_backpressure_refused_records_total{group="billing"} 10
# HELP kafka_backpressure_room_records Records that could be let through now. No series while there is no ceiling.
# TYPE kafka_backpressure_room_records gauge
kafka_backpressure_room_records{group="billing"} 10
`
	var names []string
	for line := range strings.Lines(want) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			names = append(names, strings.Fields(name)[0])
		}
	}
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if got := testutil.CollectAndCount(c); got != 18 {
		t.Errorf("%d series", got)
	}
}

func TestTheNamesAreAsPrometheusWantsThem(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(promgate.New(gate(t, backpressure.Config{}), prometheus.Labels{"topic": "a"}))
	registry.MustRegister(promgate.New(gate(t, backpressure.Config{}), prometheus.Labels{"topic": "b"}))
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestWhatIsUnlimitedHasNoSeries(t *testing.T) {
	c := promgate.New(gate(t, backpressure.Config{}), nil)
	if got := testutil.CollectAndCount(c, "kafka_backpressure_bound_records", "kafka_backpressure_room_records"); got != 0 {
		t.Errorf("%d series", got)
	}
}

func TestANilGateIsRefused(t *testing.T) {
	if err := prometheus.NewRegistry().Register(promgate.New(nil, nil)); err == nil || !strings.Contains(err.Error(), "the gate is nil") {
		t.Errorf("registered: %v", err)
	}
}
