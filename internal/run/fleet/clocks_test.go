package fleet_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/echo/echotest"
)

type shifted struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (s *shifted) now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().UnixNano() + int64(s.ahead)
}

type began struct {
	mu sync.Mutex
	at []time.Time
}

func (b *began) Began(string)             {}
func (b *began) Interval(result.Interval) {}

func (b *began) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.at = append(b.at, time.Now())
	}
}

type skew struct {
	udp   bool // by UDP, 3 ms one way and 1 ms the other
	ahead func(agent int) time.Duration
	step  func(agent int, c *shifted) // may step the clock later
}

func (w *world) apart(s skew) (result.Run, []time.Time) {
	var wires echotest.Network
	wires.Set(func(from, to string, packet []byte, arrive func([]byte, time.Duration)) {
		took := time.Millisecond
		if from > to {
			took = 3 * time.Millisecond
		}
		arrive(packet, took)
	})
	starts := &began{}
	for i := range 4 {
		name := fmt.Sprintf("node-%d", i)
		w.agent(name, i, func(_ context.CancelFunc, cfg *fleet.AgentConfig) {
			if s.ahead == nil {
				return
			}
			c := &shifted{ahead: s.ahead(i)}
			cfg.Bench.Probes, cfg.Bench.Watch = probe.Unknown().WithClock(c.now), starts
			cfg.Clock = fleet.Clock{Resolve: func(addr string) (net.Addr, error) { return echotest.Address(addr), nil }, NowNs: c.now}
			if s.udp {
				cfg.Clock.Conn = wires.Listen(name)
			}
			if s.step != nil {
				s.step(i, c)
			}
		})
	}
	lead := fleet.Open(fleet.Config{
		Session: w.session(), Of: 4, Placed: bench.Apart, Senders: 2, Tool: result.Tool{Version: "1"},
		ClusterID: w.cluster.Info().ID, JoinTimeout: time.Minute, Spool: w.t.TempDir(),
	})
	cfg := w.base()
	cfg.Scenario, cfg.Fleet, cfg.Driver = w.scenario(small), lead, franz.New()
	o, err := bench.Run(w.t.Context(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := lead.Close(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	return o.Run, starts.at
}

func hours(agent int) time.Duration {
	return []time.Duration{0, -7 * time.Hour, 100 * time.Hour, 13 * time.Minute}[agent]
}

// Agents with shifted clocks measure what agents with one clock measure, within the reported error.
func TestApartWithShiftedClocks(t *testing.T) {
	var truth result.Run
	within(t, 4, func(w *world) { truth, _ = w.apart(skew{}) })
	for _, by := range []struct {
		name    string
		skew    skew
		mostErr time.Duration
	}{
		{"udp", skew{udp: true, ahead: hours}, 3 * time.Millisecond},
		{"log", skew{ahead: hours}, 3 * time.Millisecond},
	} {
		t.Run(by.name, func(t *testing.T) {
			within(t, 4, func(w *world) {
				r, starts := w.apart(by.skew)
				if r.Verdict.Status != result.Valid || r.Delivery.Unique != truth.Delivery.Unique || r.Run.Placement != bench.Apart {
					t.Errorf("verdict %+v, %d records, want %d", r.Verdict, r.Delivery.Unique, truth.Delivery.Unique)
				}
				for _, m := range []string{"e2e_service_time", "e2e_response_time"} {
					got, want := r.Time[m], truth.Time[m]
					off := max(got.MaxNs-want.MaxNs, want.MaxNs-got.MaxNs, int64(got.MeanNs-want.MeanNs), int64(want.MeanNs-got.MeanNs))
					if want.ErrorNs != 0 || got.ErrorNs == 0 || got.ErrorNs > int64(by.mostErr) || off > got.ErrorNs+1000 {
						t.Errorf("%s: max %d, mean %.0f ± %d; the truth is %d, %.0f", m, got.MaxNs, got.MeanNs, got.ErrorNs, want.MaxNs, want.MeanNs)
					}
				}
				worst := int64(0)
				for _, a := range r.Agents {
					if a.ClockErrorNs == nil {
						t.Fatalf("%s does not know its clock", a)
					}
					worst = max(worst, *a.ClockErrorNs)
				}
				spread := slices.MaxFunc(starts, time.Time.Compare).Sub(slices.MinFunc(starts, time.Time.Compare))
				t.Logf("spread of the start %v, clock error %v; e2e %v", spread, time.Duration(worst), time.Duration(r.Time["e2e_service_time"].ErrorNs))
				if len(starts) != 4 || int64(spread) > 2*worst {
					t.Errorf("%d agents started within %v, and their clocks were known within %v", len(starts), spread, time.Duration(worst))
				}
			})
		})
	}
	if len(truth.Agents) != 4 || truth.Agents[0].Consumers != 0 || truth.Agents[3].Producers != 0 || truth.Agents[3].Consumers != 2 {
		t.Errorf("the agents are %+v", truth.Agents)
	}
}

// If a clock is stepped, the e2e times count as not measured.
func TestSteppedClock(t *testing.T) {
	within(t, 4, func(w *world) {
		r, _ := w.apart(skew{udp: true, ahead: hours, step: func(agent int, c *shifted) {
			if agent != 1 {
				return
			}
			time.AfterFunc(7*time.Second, func() { // the load begins after 4 s and lasts 5 s
				c.mu.Lock()
				defer c.mu.Unlock()
				c.ahead += 100 * time.Millisecond
			})
		}})
		if r.Says("time.e2e_response_time.p99_ns") || !r.Says("time.send_response_time.p99_ns") {
			t.Errorf("not measured is %v", r.Run.NotMeasured)
		}
		if !strings.Contains(strings.Join(r.Verdict.Warnings, "\n"), "agent 2 (node-2): its e2e times are not known") {
			t.Errorf("verdict %+v", r.Verdict)
		}
	})
}
