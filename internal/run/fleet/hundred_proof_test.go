//go:build proof

package fleet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/topic"
)

func TestHundredAgents(t *testing.T) {
	const of = 100
	plain := []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression())} // zstd has finalizers
	within(t, of, func(w *world) {
		open := func(find func(topic.Config) (*topic.Topic, error)) fleet.Session {
			log, err := find(topic.Config{Brokers: w.cluster.Bootstrap(), Access: w.cluster.Access(), Session: "hundred", Client: plain})
			if err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(log.Close)
			return fleet.Session{Name: "hundred", Log: log, Topic: log.ID()}
		}
		session := open(func(c topic.Config) (*topic.Topic, error) { return topic.Create(w.t.Context(), c) })
		for i := range of {
			session := open(func(c topic.Config) (*topic.Topic, error) { return topic.Open(w.t.Context(), c) })
			w.agent(fmt.Sprintf("node-%d", i), i, func(_ context.CancelFunc, cfg *fleet.AgentConfig) { cfg.Session = session })
		}
		lead := fleet.Open(fleet.Config{
			Session: session, Of: of, Placed: bench.Own, Tool: result.Tool{Version: "1"}, ClusterID: w.cluster.Info().ID,
			JoinTimeout: time.Minute, Spool: w.t.TempDir(),
		})
		cfg := w.base()
		cfg.Fleet, cfg.Driver = lead, franz.New()
		cfg.Scenario = w.scenario(`
name: hundred
topic: {partitions: 100}
load: {rate: 1k/s, producers: 100, pacer: frugal, acks: all, record: {size: 100B}}
consume: {consumers: 100, commit: 1s}
phases: {warmup: 1s, measure: 4s, drain: 10s}
sampling: {interval: 1s, lag: 1s}
cluster: {metrics: none}
`)
		o, err := bench.Run(w.t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := lead.Close(w.t.Context()); err != nil {
			t.Error(err)
		}
		r := o.Run
		if r.Verdict.Status != result.Valid || len(r.Agents) != of || r.Load.Acked != 4000 || r.Delivery.Unique != 4000 {
			t.Errorf("verdict %+v; %d agents, %d acked, %d unique", r.Verdict, len(r.Agents), r.Load.Acked, r.Delivery.Unique)
		}
		for _, a := range r.Agents {
			if !a.HandedIn {
				t.Errorf("%s did not hand in", a)
			}
		}
	})
}
