package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

type failing struct {
	control.Log
	append func(record []byte) (drop bool, err error) // may be nil
	read   func(all []control.Entry) ([]control.Entry, error)
}

func (l *failing) Append(ctx context.Context, record []byte) error {
	if l.append != nil {
		if drop, err := l.append(record); drop || err != nil {
			return err
		}
	}
	return l.Log.Append(ctx, record)
}

func (l *failing) Read(ctx context.Context, from int64) ([]control.Entry, error) {
	all, err := l.Log.Read(ctx, from)
	if err != nil || l.read == nil {
		return all, err
	}
	return l.read(all)
}

func kindOf(record []byte) control.Kind {
	r, err := control.Open(nil, [16]byte{1}, record)
	if err != nil {
		return 0
	}
	return r.Kind
}

func hasKind(all []control.Entry, kind control.Kind) bool {
	return slices.ContainsFunc(all, func(e control.Entry) bool { return kindOf(e.Record) == kind })
}

func (l *failing) with(w *world) func(context.CancelFunc, *fleet.AgentConfig) {
	return func(_ context.CancelFunc, cfg *fleet.AgentConfig) {
		l.Log = w.log
		cfg.Session.Log = l
	}
}

func (w *world) invalid(o *bench.Outcome, err error, words ...string) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	reasons := strings.Join(o.Run.Verdict.Reasons, "\n")
	for _, word := range words {
		if o.Run.Verdict.Status != result.Invalid || !strings.Contains(reasons, word) {
			w.t.Errorf("the verdict does not say %q: %+v", word, o.Run.Verdict)
		}
	}
}

// If an agent reads the start too late, the others stop.
func TestStartIsReadTooLate(t *testing.T) {
	within(t, 2, func(w *world) {
		late := &failing{read: func(all []control.Entry) ([]control.Entry, error) {
			if hasKind(all, control.KindStart) {
				time.Sleep(2600 * time.Millisecond) // the load begins 3 s after the start is written
			}
			return all, nil
		}}
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, late.with(w))
		o, err := w.run(small)
		w.invalid(o, err, "agent 1 (node-1)", "the start of the run was read too late")
		if !o.Run.Run.Interrupted || o.Run.Agents[0].Counts == nil || o.Run.Agents[0].Counts.Scheduled == 0 {
			t.Errorf("the other agent did not end early: %+v", o.Run.Agents[0].Counts)
		}
		w.running.Wait()
		if !errors.Is(w.ended["node-1"], fleet.ErrNotHandedIn) || w.ended["node-0"] != nil {
			t.Errorf("the agents ended so: %v", w.ended)
		}
	})
}

func TestAgentStandsStill(t *testing.T) {
	within(t, 2, func(w *world) {
		var stood atomic.Bool
		began := time.Now()
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, func(_ context.CancelFunc, cfg *fleet.AgentConfig) {
			cfg.Bench.Sleep = func(d time.Duration) {
				if time.Since(began) > 6*time.Second && stood.CompareAndSwap(false, true) {
					d = max(d, time.Second)
				}
				time.Sleep(d)
			}
		})
		o, err := w.run(small)
		w.invalid(o, err, "agent 1 (node-1): the pacer was late")
	})
}

func TestGapInASequence(t *testing.T) {
	within(t, 2, func(w *world) {
		dropped := false
		gap := &failing{append: func(record []byte) (bool, error) {
			drop := !dropped && kindOf(record) == control.KindSnapshot
			dropped = dropped || drop
			return drop, nil
		}}
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, gap.with(w))
		o, err := w.run(small)
		w.invalid(o, err, "agent 1 (node-1) did not hand in its part: some of its records are missing")
		if sent, lacking := o.Run.Agents[0], o.Run.Agents[1]; lacking.HandedIn || lacking.Producers != sent.Producers ||
			lacking.Consumers != sent.Consumers {
			t.Errorf("the agents had producers and consumers so: %+v, %+v", sent, lacking)
		}
	})
}

func TestForeignRecords(t *testing.T) {
	within(t, 2, func(w *world) {
		s := w.session()
		w.agent("old", 1, nil)
		time.Sleep(time.Second)
		w.agents(2)
		time.AfterFunc(5*time.Second, func() {
			ctx := w.t.Context()
			entries, err := w.log.Read(ctx, 0)
			if err != nil {
				t.Error(err)
			}
			for _, e := range entries { // again, and with a flipped bit
				forged := slices.Clone(e.Record)
				forged[len(forged)/2] ^= 1
				for _, record := range [][]byte{e.Record, forged, []byte("nonsense")} {
					if err := w.log.Append(ctx, record); err != nil {
						t.Error(err)
					}
				}
			}
			zombie := control.NewWriter(s.Log, s.Key, s.Topic, 1, 77)
			second := control.NewWriter(s.Log, s.Key, s.Topic, control.Coordinator, 78)
			keyed := control.NewWriter(s.Log, control.Key("another key"), s.Topic, control.Coordinator, 79)
			for _, err := range []error{
				zombie.Write(ctx, 1, control.Sent{AckedIn: []int64{1 << 40}, Failed: "forged"}),
				zombie.HandIn(ctx, 1, 0, []byte("forged"), true),
				second.Write(ctx, 1, control.Stop{}), second.Write(ctx, 1, control.End{}),
				keyed.Write(ctx, 1, control.Stop{}), keyed.Write(ctx, 1, control.End{}),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		})
		o, err := w.run(small)
		if err != nil || o.Run.Verdict.Status != result.Valid || o.Run.Run.Interrupted || o.Run.Delivery.Unique != o.Run.Load.Acked {
			t.Errorf("the run: %v, %+v", err, o)
		}
	})
}

func TestSecondCoordinator(t *testing.T) {
	within(t, 1, func(w *world) {
		w.agents(1)
		time.AfterFunc(6*time.Second, func() {
			second := w.coordinator()
			_, err := second.Make(w.t.Context(), w.plan(), bench.FleetWatch{Event: func(result.Event) {}})
			if err == nil || !strings.Contains(err.Error(), "another process coordinates the session test") {
				t.Errorf("the second coordinator: %v", err)
			}
			_ = second.Close(w.t.Context())
		})
		if o, err := w.run(small); err != nil || o.Run.Verdict.Status != result.Valid {
			t.Errorf("the run: %v, %+v", err, o)
		}
	})
}

func (w *world) plan() bench.Plan {
	yaml, err := w.scenario(small).Marshal()
	if err != nil {
		w.t.Error(err)
	}
	return bench.Plan{Scenario: yaml, Parts: w.of, Placement: bench.Own, Partitions: 8}
}

func TestLogIsLost(t *testing.T) {
	within(t, 1, func(w *world) {
		gone, gate := false, sync.Mutex{}
		lose := func() *failing {
			return &failing{Log: w.log,
				append: func([]byte) (bool, error) {
					gate.Lock()
					defer gate.Unlock()
					if gone {
						return false, control.ErrGone
					}
					return false, nil
				},
				read: func(all []control.Entry) ([]control.Entry, error) {
					if hasKind(all, control.KindPulse) {
						gate.Lock()
						defer gate.Unlock()
						gone = true
						return nil, control.ErrGone
					}
					return all, nil
				}}
		}
		w.agent("node-0", 0, lose().with(w))
		lead := fleet.Open(fleet.Config{
			Session: fleet.Session{Name: "test", Log: lose(), Topic: [16]byte{1}}, Of: 1, Placed: bench.Own,
			Tool: result.Tool{Version: "1"}, ClusterID: w.cluster.Info().ID, JoinTimeout: time.Minute, Spool: t.TempDir(),
		})
		cfg := w.base()
		cfg.Scenario, cfg.Fleet, cfg.Driver, cfg.KeepTopics = w.scenario(small), lead, franz.New(), true
		began := time.Now()
		_, err := bench.Run(w.t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), control.ErrGone.Error()) || time.Since(began) > 10*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		_ = lead.Close(w.t.Context())
		w.running.Wait()
		if !errors.Is(w.ended["node-0"], fleet.ErrNotHandedIn) || !errors.Is(w.ended["node-0"], control.ErrGone) {
			t.Errorf("the agent ended with %v", w.ended["node-0"])
		}
	})
}

func TestCollectAfterTheCoordinator(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agents(2)
		ctx, die := context.WithCancel(w.t.Context())
		dead := func([]byte) (bool, error) { return false, ctx.Err() }
		lead := fleet.Open(fleet.Config{
			Session: fleet.Session{Name: "test", Log: &failing{Log: w.log, append: dead}, Topic: [16]byte{1}}, Of: 2, Placed: bench.Own,
			Tool: result.Tool{Version: "1"}, ClusterID: w.cluster.Info().ID, JoinTimeout: time.Minute, Spool: t.TempDir(),
		})
		cfg := w.base()
		cfg.Scenario, cfg.Fleet, cfg.Driver, cfg.KeepTopics = w.scenario(small), lead, franz.New(), true
		time.AfterFunc(6*time.Second, die)
		if _, err := bench.Run(ctx, cfg); err == nil {
			t.Fatal("the coordinator lives")
		}
		_ = lead.Close(ctx) // writes nothing: ctx has ended
		impatient, leave := context.WithCancel(w.t.Context())
		leave()
		plan, handed, err := fleet.Collect(w.t.Context(), impatient, w.session(), t.TempDir(), nil)
		if err != nil || len(handed.Missing) != 2 || !strings.Contains(handed.Missing[1], "agent 1 (node-1) did not hand in") {
			t.Errorf("meanwhile: %v, %q", err, handed.Missing)
		}
		early := w.base()
		_, err = bench.Conclude(early, plan, handed)
		if left, _ := os.ReadDir(early.Out); !errors.Is(err, bench.ErrNoPart) || len(left) > 0 {
			t.Errorf("without a part: %v, and %d folders", err, len(left))
		}
		var told []string
		plan, handed, err = fleet.Collect(w.t.Context(), w.t.Context(), w.session(), t.TempDir(), func(text string) { told = append(told, text) })
		if len(told) == 0 || told[0] != "agents 0, 1 did not hand in yet; waiting until the session is silent for 1m0s, or an interrupt" {
			t.Errorf("it said %q", told)
		}
		if err != nil || len(handed.Missing) != 0 {
			t.Fatalf("afterwards: %v, %q", err, handed.Missing)
		}
		o, err := bench.Conclude(w.base(), plan, handed)
		if err != nil || o.Run.Verdict.Status != result.Valid || o.Run.Load.Acked != 8000 || o.Run.Delivery.Unique != 8000 {
			t.Errorf("collected: %v, %+v", err, o)
		}
		if o.Run.Says("broker") || o.Run.Says("storage.disk_bytes") {
			t.Errorf("not measured is %v", o.Run.Run.NotMeasured)
		}
		if o.Run.Run.Session != "test" {
			t.Errorf("the session is %q", o.Run.Run.Session)
		}
		if err := bench.Remove(w.t.Context(), w.base(), plan); err != nil {
			t.Error(err)
		}
		admin := kadm.NewClient(w.cluster.NewClient(w.t))
		topics, err := admin.ListTopics(w.t.Context())
		groups, groupsErr := admin.ListGroups(w.t.Context())
		if err != nil || groupsErr != nil || len(topics.Names()) != 0 || len(groups.Groups()) != 0 {
			t.Errorf("after Remove there are the topics %v (%v) and the groups %v (%v)", topics.Names(), err, groups.Groups(), groupsErr)
		}
		w.running.Wait()
		if w.ended["node-0"] != nil || w.ended["node-1"] != nil {
			t.Errorf("the agents ended so: %v", w.ended)
		}
	})
}

// An interrupted agent ends the run for all.
func TestAgentIsInterrupted(t *testing.T) {
	within(t, 2, func(w *world) {
		interrupt := make(chan struct{})
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, func(_ context.CancelFunc, cfg *fleet.AgentConfig) { cfg.Bench.Interrupt = interrupt })
		time.AfterFunc(6*time.Second, func() { close(interrupt) })
		o, err := w.run(strings.Replace(small, "measure: 4s", "measure: 1h", 1))
		w.invalid(o, err, "agent 1 (node-1): it was interrupted, and ended early")
		for i, a := range o.Run.Agents {
			if !a.HandedIn || !o.Run.Run.Interrupted {
				t.Errorf("agent %d is %+v", i, a)
			}
		}
		if o.Run.Delivery.Unique != o.Run.Load.Acked {
			t.Errorf("acked %d, delivered %d", o.Run.Load.Acked, o.Run.Delivery.Unique)
		}
	})
}

func TestCollectBeforeThereIsARun(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agent("node-0", 0, nil)
		time.AfterFunc(5*time.Second, func() {
			if _, _, err := fleet.Collect(w.t.Context(), w.t.Context(), w.session(), t.TempDir(), nil); err == nil || err.Error() != "the session has no run" {
				t.Errorf("collected: %v", err)
			}
			w.agent("node-1", 1, nil)
		})
		if o, err := w.run(small); err != nil || o.Run.Verdict.Status != result.Valid {
			t.Errorf("the run: %v, %+v", err, o)
		}
	})
}

// An event names a silent agent once. A run that the user interrupts counts as ended by the user
// even if an agent hands in nothing.
func TestInterruptBesideASilentAgent(t *testing.T) {
	within(t, 2, func(w *world) {
		began := time.Now()
		silent := &failing{append: func([]byte) (bool, error) { return time.Since(began) > 8*time.Second, nil }}
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, silent.with(w))
		interrupt := make(chan struct{})
		time.AfterFunc(30*time.Second, func() { close(interrupt) })
		lead := w.coordinator()
		cfg := w.base()
		cfg.Scenario = w.scenario(strings.Replace(small, "measure: 4s", "measure: 1m", 1))
		cfg.Fleet, cfg.Driver, cfg.Interrupt = lead, franz.New(), interrupt
		o, err := bench.Run(w.t.Context(), cfg)
		_ = lead.Close(w.t.Context())
		w.running.Wait()
		w.invalid(o, err, "agent 1 (node-1)", "its part is missing")
		events, err := os.ReadFile(o.Dir + "/" + result.EventsFile)
		if n := strings.Count(string(events), "agent 1 (node-1) has been silent for 15s"); n != 1 || strings.Contains(string(events), "(node-0) has been silent") {
			t.Errorf("%d events of its silence, %v", n, err)
		}
		if !o.Run.EndedByUser() || len(o.Run.Lost()) != 1 {
			t.Errorf("ended by the user: %t, lost: %v", o.Run.EndedByUser(), o.Run.Lost())
		}
	})
}

// The second interrupt abandons the run.
func TestCoordinatorIsInterrupted(t *testing.T) {
	for name, twice := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			within(t, 2, func(w *world) {
				w.agents(2)
				ctx, abandon := context.WithCancel(w.t.Context())
				defer abandon()
				interrupt := make(chan struct{})
				time.AfterFunc(6*time.Second, func() { close(interrupt) })
				if twice {
					time.AfterFunc(7*time.Second, abandon)
				}
				lead := w.coordinator()
				cfg := w.base()
				cfg.Scenario = w.scenario(strings.Replace(small, "measure: 4s", "measure: 1h", 1))
				cfg.Fleet, cfg.Driver, cfg.Interrupt = lead, franz.New(), interrupt
				cfg.KeepTopics = twice // records in flight to a deleted topic take long to fail
				o, err := bench.Run(ctx, cfg)
				if err := lead.Close(w.t.Context()); err != nil {
					t.Error(err)
				}
				w.running.Wait()
				if twice {
					if !errors.Is(err, context.Canceled) || !errors.Is(w.ended["node-1"], fleet.ErrNotHandedIn) {
						t.Errorf("the run: %v; the agents ended so: %v", err, w.ended)
					}
					return
				}
				if err != nil || o.Run.Verdict.Status != result.Valid || !o.Run.Run.Interrupted || o.Run.Delivery.Unique != o.Run.Load.Acked {
					t.Fatalf("the run: %v, %+v", err, o)
				}
				if a := o.Run.Agents; a[0].Counts.Scheduled != a[1].Counts.Scheduled {
					t.Errorf("the agents did not end as one: %+v, %+v", a[0].Counts, a[1].Counts)
				}
			})
		})
	}
}

func TestAgentsThatDoNotFit(t *testing.T) {
	within(t, 3, func(w *world) {
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, func(_ context.CancelFunc, cfg *fleet.AgentConfig) { cfg.Bench.Tool.Version = "2" })
		w.agent("node-2", 2, func(_ context.CancelFunc, cfg *fleet.AgentConfig) { cfg.Of = 4 })
		_, err := w.run(small)
		for _, want := range []string{
			"agent 1 (node-1): it is kafka-bench 2, and this is 1: use one release on all machines",
			"agent 2 (node-2): it was started as one of 4 agents, and the run has 3: give both the same number",
		} {
			name, _, _ := strings.Cut(strings.TrimPrefix(want[len("agent 1 ("):], "("), ")")
			w.running.Wait()
			if err == nil || !strings.Contains(err.Error(), want) || w.ended[name] == nil || !strings.Contains(w.ended[name].Error(), want) {
				t.Errorf("the coordinator says %v, %s says %v, want %s", err, name, w.ended[name], want)
			}
		}
		if !fleet.NoCoordinator(w.ended["node-0"]) {
			t.Errorf("the agent that fits ended with %v", w.ended["node-0"])
		}
	})
	within(t, 1, func(w *world) {
		w.agent("node-0", 0, func(_ context.CancelFunc, cfg *fleet.AgentConfig) { cfg.Session.Key = control.Key("another key") })
		_, err := w.run(small)
		w.running.Wait()
		if !errors.Is(err, fleet.ErrAgents) || !errors.Is(err, control.ErrNoKey) || !errors.Is(w.ended["node-0"], control.ErrUnsealed) {
			t.Errorf("the coordinator says %v, the agent %v", err, w.ended["node-0"])
		}
	})
}

// A mismatch is reported as soon as one agent has joined, and the agents that wait learn the
// reason.
func TestRefusedBeforeAllHaveJoined(t *testing.T) {
	within(t, 3, func(w *world) {
		w.agent("node-0", 0, nil)
		w.agent("node-1", 1, func(_ context.CancelFunc, cfg *fleet.AgentConfig) { cfg.Of = 2 })
		began := time.Now()
		_, err := w.run(small)
		if want := "agent 1 (node-1): it was started as one of 2 agents, and the run has 3: give both the same number"; err == nil ||
			err.Error() != want || time.Since(began) > 5*time.Second {
			t.Errorf("after %v: %v, want %s", time.Since(began), err, want)
		}
		w.running.Wait()
		if err := w.ended["node-0"]; !fleet.NoCoordinator(err) || !strings.Contains(err.Error(), "there was a run: agent 1 (node-1): it was started") {
			t.Errorf("the other agent: %v", err)
		}
	})
}

// Each agent's events are reported once.
func TestPulses(t *testing.T) {
	within(t, 3, func(w *world) {
		w.agents(3)
		var mu sync.Mutex
		var pulses []result.Pulse
		lead := w.coordinator()
		cfg := w.base()
		cfg.Scenario, cfg.Fleet, cfg.Driver = w.scenario(strings.NewReplacer("measure: 4s", "measure: 12s", "100B", "1KiB").Replace(small)), lead, franz.New()
		cfg.Watch = pulseWatcher(func(p result.Pulse) {
			mu.Lock()
			defer mu.Unlock()
			pulses = append(pulses, p)
		})
		o, err := bench.Run(w.t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := lead.Close(w.t.Context()); err != nil {
			t.Error(err)
		}
		if len(pulses) < 3 {
			t.Fatalf("%d pulses", len(pulses))
		}
		acked := make(map[int]int64)
		for n, p := range pulses {
			if len(p.Agents) != 3 || p.RunID != o.Run.Run.ID {
				t.Errorf("pulse %d is of %d agents, run %s", n, len(p.Agents), p.RunID)
			}
			for _, a := range p.Agents {
				if a.Acked <= acked[a.Index] && n < 2 || a.Acked > a.Scheduled {
					t.Errorf("pulse %d of agent %d: %d acked of %d, and %d before", n, a.Index, a.Acked, a.Scheduled, acked[a.Index])
				}
				acked[a.Index] = a.Acked
			}
		}
		var sum result.AgentPulse
		for _, a := range lastPulse(t, o.Dir).Agents {
			sum.Scheduled, sum.Acked, sum.Delivered = sum.Scheduled+a.Scheduled, sum.Acked+a.Acked, sum.Delivered+a.Delivered
			sum.InFlightRecords += a.InFlightRecords
		}
		r := o.Run
		want := result.AgentPulse{
			Scheduled: r.Warmup.Load.Scheduled + r.Load.Scheduled, Acked: r.Warmup.Load.Acked + r.Load.Acked,
			Delivered: r.Warmup.Delivery.Delivered + r.Delivery.Delivered,
		}
		if sum != want {
			t.Errorf("the last pulse adds up to %+v, the run to %+v", sum, want)
		}
		if written := w.writtenUnderLoad(); written == 0 || 1000*written > o.Run.Load.Bytes {
			t.Errorf("under the load, %d bytes of control records for %d of load: more than a thousandth", written, o.Run.Load.Bytes)
		}
		text, err := os.ReadFile(o.Dir + "/" + result.EventsFile)
		for _, want := range []string{"agent 2 (node-2) joined", "agent 2 (node-2) is ready", "3 agents were started", "agent 2 (node-2) handed in"} {
			if strings.Count(string(text), want) != 1 {
				t.Errorf("the events have %d times %q, %v", strings.Count(string(text), want), want, err)
			}
		}
	})
}

func lastPulse(t *testing.T, dir string) (p result.Pulse) {
	text, err := os.ReadFile(dir + "/" + result.PulsesFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// writtenUnderLoad returns the bytes of the control records from the start until the first agent
// has closed its producers.
func (w *world) writtenUnderLoad() (bytes int64) {
	entries, err := w.log.Read(w.t.Context(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	running := false
	for _, e := range entries {
		switch kindOf(e.Record) {
		case control.KindStart:
			running = true
		case control.KindSent:
			running = false
		}
		if running {
			bytes += int64(len(e.Record))
		}
	}
	return bytes
}

type pulseWatcher func(result.Pulse)

func (pulseWatcher) Began(string)             {}
func (pulseWatcher) Interval(result.Interval) {}
func (pulseWatcher) Event(result.Event)       {}
func (w pulseWatcher) Pulse(p result.Pulse)   { w(p) }
