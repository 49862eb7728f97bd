package fleet_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
	"kafkabench.example/kafka-bench/internal/run/fleet/echo"
)

const small = `
name: small
topic: {partitions: 8}
load: {rate: 2k/s, producers: 4, pacer: frugal, acks: all, record: {size: 100B}}
consume: {consumers: 4, commit: 100ms}
phases: {warmup: 1s, measure: 4s, drain: 5s}
sampling: {interval: 500ms, lag: 1s}
cluster: {metrics: none}
`

type world struct {
	t       *testing.T
	cluster *virtual.Cluster
	log     *control.Memory
	of      int
	placed  string
	running sync.WaitGroup
	mu      sync.Mutex
	ended   map[string]error
}

func within(t *testing.T, of int, f func(*world)) {
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		w := &world{t: t, cluster: c, log: &control.Memory{}, of: of, ended: make(map[string]error)}
		f(w)
		w.running.Wait()
	})
}

func (w *world) session() fleet.Session {
	return fleet.Session{Name: "test", Log: w.log, Topic: [16]byte{1}}
}

func (w *world) base() bench.Config {
	return bench.Config{Cluster: w.cluster, Out: w.t.TempDir(), Tool: result.Tool{Version: "1"}, Probes: probe.Unknown()}
}

func (w *world) agent(name string, index int, with func(context.CancelFunc, *fleet.AgentConfig)) {
	ctx, cancel := context.WithCancel(w.t.Context())
	cfg := fleet.AgentConfig{
		Session: w.session(), Index: index, Of: w.of, Bench: w.base(), HostName: name,
		Clock: fleet.Clock{Boot: echo.Boot{ID: "test"}},
		Open:  func(string) (driver.Driver, error) { return franz.New(), nil },
	}
	if with != nil {
		with(cancel, &cfg)
	}
	w.running.Go(func() {
		err := fleet.RunAgent(ctx, cfg)
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended[name] = err
	})
}

func (w *world) agents(of int) {
	for i := range of {
		w.agent(fmt.Sprintf("node-%d", i), i, nil)
	}
}

func (w *world) coordinator() *fleet.Coordinator {
	return fleet.Open(fleet.Config{
		Session: w.session(), Of: w.of, Placed: cmp.Or(w.placed, bench.Own), Tool: result.Tool{Version: "1"}, ClusterID: w.cluster.Info().ID,
		JoinTimeout: time.Minute, Spool: w.t.TempDir(),
	})
}

func (w *world) scenario(yaml string) scenario.Scenario {
	s, err := scenario.Parse("test", []byte(yaml))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) run(yaml string) (*bench.Outcome, error) {
	lead := w.coordinator()
	defer func() {
		if err := lead.Close(w.t.Context()); err != nil {
			w.t.Error(err)
		}
	}()
	cfg := w.base()
	cfg.Scenario, cfg.Fleet, cfg.Driver = w.scenario(yaml), lead, franz.New()
	return bench.Run(w.t.Context(), cfg)
}

func TestAgentsAreOneLoad(t *testing.T) {
	one, firstOfOne, dueOfOne := oneLoad(t, 1)
	four, firstOfFour, dueOfFour := oneLoad(t, 4)
	type books struct{ scheduled, admitted, acked, unique, duplicates, warmup int64 }
	of := func(r result.Run) books {
		return books{
			r.Load.Scheduled, r.Load.Admitted, r.Load.Acked, r.Delivery.Unique, r.Delivery.Duplicates, r.Warmup.Load.Acked,
		}
	}
	if of(four) != of(one) {
		t.Errorf("the agents have the books %+v, one process %+v", of(four), of(one))
	}
	if got, want := four.Time["e2e_response_time"].Count, one.Time["e2e_response_time"].Count; got != want {
		t.Errorf("%d e2e response times, want %d", got, want)
	}
	if len(dueOfOne) < 9000 || !maps.Equal(dueOfOne, dueOfFour) {
		t.Errorf("one process has %d due times, four agents %d, and they are not the same", len(dueOfOne), len(dueOfFour))
	}
	span := func(i result.Interval) [2]int64 { return [2]int64{i.ReadFromNs, i.ReadToNs} }
	if got, want := span(firstOfFour), span(firstOfOne); got != want {
		t.Errorf("the rates of the agents' first interval are of the times %v, of one process %v", got, want)
	}
}

// oneLoad makes the small run with this number of agents, or without agents if the number is 1. It
// also returns the first interval, and how many records were due at each time.
func oneLoad(t *testing.T, agents int) (r result.Run, first result.Interval, due map[int64]int) {
	within(t, agents, func(w *world) {
		cfg := w.base()
		cfg.Scenario, cfg.Driver, cfg.KeepTopics = w.scenario(small), franz.New(), true
		if agents > 1 {
			w.agents(agents)
			lead := w.coordinator()
			cfg.Fleet = lead
			defer func() { _ = lead.Close(w.t.Context()) }()
		}
		o, err := bench.Run(w.t.Context(), cfg)
		if err != nil {
			w.t.Fatal(err)
		}
		if r = o.Run; r.Verdict.Status != result.Valid {
			w.t.Errorf("verdict %+v", r.Verdict)
		}
		recorded, err := result.Read(o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		first = recorded.Intervals[0]
		due = w.due(r.Run.Topic, r.Load.Scheduled+r.Warmup.Load.Scheduled)
	})
	return r, first, due
}

func (w *world) due(topic string, records int64) map[int64]int {
	client := w.cluster.NewClient(w.t, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	of := make(map[int64]int)
	for left := records; left > 0; {
		client.PollFetches(w.t.Context()).EachRecord(func(r *kgo.Record) {
			stamp, _ := payload.ReadStamp(r.Value)
			of[stamp.Intended]++
			left--
		})
	}
	return of
}

func TestAgentsAnywhere(t *testing.T) {
	within(t, 4, func(w *world) {
		w.placed = bench.Any
		w.agents(4)
		o, err := w.run(strings.Replace(small, "acks: all, record: {size: 100B}", "acks: all, partitioning: key, record: {size: 100B, keys: {distribution: uniform, count: 10}}", 1))
		if err != nil {
			t.Fatal(err)
		}
		var crossed int64
		for _, a := range o.Run.Agents {
			crossed += a.Counts.Crossed
		}
		r := o.Run
		if r.Verdict.Status != result.Valid || r.Run.Placement != bench.Any || r.Delivery.Unique != r.Load.Acked || crossed < r.Load.Acked/2 {
			t.Errorf("verdict %+v, placement %q, %d of %d records delivered, %d crossed", r.Verdict, r.Run.Placement, r.Delivery.Unique, r.Load.Acked, crossed)
		}
	})
}

type folder func(dir string)

func (f folder) Began(dir string)       { f(dir) }
func (folder) Interval(result.Interval) {}
func (folder) Event(result.Event)       {}

// An agent's folder has the ID and the name of the run that the coordinator makes.
func TestPartsHaveTheIDOfTheRun(t *testing.T) {
	within(t, 2, func(w *world) {
		w.placed = bench.Any
		headIn := func(dir string) *result.Run {
			head, err := result.ReadSummary(os.DirFS(dir), ".")
			if err != nil {
				t.Error(err)
				return &result.Run{}
			}
			return head
		}
		heads, dirs := make([]result.Info, w.of), make([]string, w.of)
		for i := range heads {
			w.agent(fmt.Sprintf("node-%d", i), i, func(_ context.CancelFunc, cfg *fleet.AgentConfig) {
				cfg.Bench.Watch = folder(func(dir string) { heads[i], dirs[i] = headIn(dir).Run, dir })
			})
		}
		o, err := w.run(small)
		if err != nil {
			t.Fatal(err)
		}
		w.running.Wait()
		for i, head := range heads {
			if head.ID != o.Run.Run.ID || head.Name != o.Run.Run.Name {
				t.Errorf("agent %d makes a part of %q %s, of the run %q %s", i, head.Name, head.ID, o.Run.Run.Name, o.Run.Run.ID)
			}
			// Another agent may have received what this one has sent.
			if r := headIn(dirs[i]); r.Says("intervals.backlog_records") || r.Says("intervals.time_lag_ns") || !r.Says("intervals.acked") {
				t.Errorf("agent %d did not measure %q", i, r.Run.NotMeasured)
			}
		}
	})
}

func TestLaterClaimCounts(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agent("old", 0, nil)
		time.Sleep(time.Second)
		w.agent("new", 0, nil)
		w.agent("other", 1, nil)
		if o, err := w.run(small); err != nil || o.Run.Verdict.Status != result.Valid {
			t.Errorf("the run: %v, %+v", err, o)
		}
		w.running.Wait()
		if !errors.Is(w.ended["old"], fleet.ErrReplaced) || w.ended["new"] != nil || w.ended["other"] != nil {
			t.Errorf("the agents ended so: %v", w.ended)
		}
	})
}

func TestClaimAfterTheStart(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agents(2)
		time.AfterFunc(6*time.Second, func() { w.agent("late", 1, nil) })
		if o, err := w.run(small); err != nil || o.Run.Verdict.Status != result.Valid {
			t.Errorf("the run: %v, %+v", err, o)
		}
		w.running.Wait()
		if !errors.Is(w.ended["late"], fleet.ErrReplaced) {
			t.Errorf("the late agent ended with %v", w.ended["late"])
		}
	})
}

func TestAgentDies(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, func(kill context.CancelFunc, _ *fleet.AgentConfig) { time.AfterFunc(6*time.Second, kill) })
		o, err := w.run(small)
		if err != nil {
			t.Fatal(err)
		}
		reasons := strings.Join(o.Run.Verdict.Reasons, "\n")
		if o.Run.Verdict.Status != result.Invalid || !strings.Contains(reasons, "agent 1 (node-1)") {
			t.Errorf("verdict %+v", o.Run.Verdict)
		}
		all := lastPulse(t, o.Dir).Agents
		if len(all) != 2 || all[0].Phase != "drain" || all[1].HostName != "node-1" || all[1].Phase == "drain" {
			t.Errorf("the last pulse is %+v, want the end of agent 0 and what was known of agent 1", all)
		}
		w.running.Wait()
		if w.ended["node-0"] != nil {
			t.Errorf("the other agent ended with %v", w.ended["node-0"])
		}
	})
}

func TestAgentsMissing(t *testing.T) {
	within(t, 3, func(w *world) {
		w.agent("node-1", 1, nil)
		_, err := w.run(small)
		if err == nil || !strings.Contains(err.Error(), "agents 0, 2 did not join the session test within 1m0s") {
			t.Errorf("error %v", err)
		}
	})
}

func TestCoordinatorDiesBeforeTheStart(t *testing.T) {
	within(t, 1, func(w *world) {
		w.agent("node-0", 0, nil)
		cfg := w.base()
		cfg.Scenario, cfg.Driver, cfg.Fleet = w.scenario(small), franz.New(), deaf{w}
		if _, err := bench.Run(w.t.Context(), cfg); err == nil {
			t.Error("there was a run")
		}
		if !fleet.NoCoordinator(w.ended["node-0"]) {
			t.Errorf("the agent ended with %v", w.ended["node-0"])
		}
	})
}

// deaf dies after it has written the plan.
type deaf struct{ w *world }

func (d deaf) Session() string   { return "test" }
func (d deaf) Parts() int        { return 1 }
func (d deaf) Placement() string { return bench.Own }
func (d deaf) Senders() int      { return 0 }

func (d deaf) Make(ctx context.Context, plan bench.Plan, _ bench.FleetWatch) (bench.Handed, error) {
	assignment, err := json.Marshal(plan)
	if err != nil {
		return bench.Handed{}, err
	}
	s := d.w.session()
	record := control.Plan{RunID: plan.RunID, Assignment: assignment, Placement: plan.Placement, ReadyWithin: time.Minute}
	err = control.NewWriter(s.Log, s.Key, s.Topic, control.Coordinator, 1).Write(ctx, 1, record)
	d.w.running.Wait()
	return bench.Handed{}, errors.Join(err, errors.New("it has died"))
}

func TestAgentsStayBetweenRuns(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agents(2)
		lead := w.coordinator()
		for range 3 {
			cfg := w.base()
			cfg.Scenario, cfg.Fleet, cfg.Driver = w.scenario(small), lead, franz.New()
			o, err := bench.Run(w.t.Context(), cfg)
			if err != nil || o.Run.Verdict.Status != result.Valid {
				t.Fatalf("the run: %v, %+v", err, o)
			}
		}
		if err := lead.Close(w.t.Context()); err != nil {
			t.Error(err)
		}
		w.running.Wait()
		if w.ended["node-0"] != nil || w.ended["node-1"] != nil {
			t.Errorf("the agents ended so: %v", w.ended)
		}
	})
}
