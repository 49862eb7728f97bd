package fleet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
)

const fromAQueue = `
name: queue
topic: {partitions: 8%s}
load: {%s, acks: all, compression: none, record: {size: 100B}}
consume:
  consumers: 4
  commit: 100ms
  work: 1ms
  queue: {engine: %s, threads: 2, in_flight: 10000%s}
phases: {warmup: 0s, measure: 2s, drain: 1m}
sampling: {interval: 500ms, lag: 500ms}
cluster: {metrics: none}
`

func ofTheQueue(r result.Run) string {
	q := r.Queue
	if q == nil {
		return "no queue"
	}
	return fmt.Sprintf("received %d, unique %d, redelivered %d, acked %d, again %d, dead %d, both %d, by attempt %v, lost %d, pending %d, drained %t",
		q.Received, q.UniqueDelivered, q.Redelivered, q.UniqueAcked, q.AckedAgain, q.DeadLettered, q.AckedAndDead,
		q.DeliveriesByAttempt, q.Lost, q.Pending, r.Lag.Drained)
}

const (
	paced   = "rate: 1k/s, producers: 4, pacer: frugal"
	readers = "producers: 0, max_buffered: 10, linger: 0s"
	filled  = ", fill_records: 4001, fill_producers: 4"
)

// queueCase is a scenario with a queue: its additions to topic, load and queue.
type queueCase struct{ name, fill, load, engine, more string }

// Four agents take from a queue what one process takes: counts and books are equal.
func TestAgentsShareAQueue(t *testing.T) {
	shareAQueue(t, []queueCase{
		{"offsetmap", "", paced, "offsetmap", ""},
		{"dead letters of markers", "", paced, "markers", ", drop: {share: 50%, how: nack}, max_deliveries: 3"},
		{"worked off with markers", filled, readers, "markers", ""},
	})
}

func shareAQueue(t *testing.T, cases []queueCase) {
	for _, of := range cases {
		t.Run(of.name, func(t *testing.T) {
			one, four := both(t, closed, fmt.Sprintf(fromAQueue, of.fill, of.load, of.engine, of.more))
			same(t, one, four)
			if got, want := ofTheQueue(four), ofTheQueue(one); got != want {
				t.Errorf("of four agents:\n%s\nof one process:\n%s", got, want)
			}
			if !four.Lag.Drained || four.Run.Placement != "any" {
				t.Errorf("drained %t, placement %q", four.Lag.Drained, four.Run.Placement)
			}
		})
	}
}

// If the only receiving agent dies, the run is invalid and names the agent, and has no figures of
// the queue.
func TestReceiverOfAQueueDies(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, func(kill context.CancelFunc, _ *fleet.AgentConfig) { time.AfterFunc(5*time.Second, kill) })
		lead := fleet.Open(fleet.Config{
			Session: w.session(), Of: 2, Placed: bench.Apart, Senders: 1, Tool: result.Tool{Version: "1"},
			ClusterID: w.cluster.Info().ID, JoinTimeout: time.Minute, Spool: w.t.TempDir(),
		})
		cfg := w.base()
		cfg.Scenario, cfg.Fleet, cfg.Driver = w.scenario(fmt.Sprintf(fromAQueue, "", paced, "offsetmap", "")), lead, franz.New()
		o, err := bench.Run(w.t.Context(), cfg)
		w.invalid(o, err, "agent 1 (node-1)")
		if o.Run.Queue != nil {
			w.t.Errorf("the queue is %+v", o.Run.Queue)
		}
		if err := lead.Close(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	})
}
