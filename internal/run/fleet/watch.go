package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// pulseGather is how long the coordinator collects pulses, to report them together.
const pulseGather = 500 * time.Millisecond

type told struct {
	instance                       uint64
	ready, handed, missing, silent bool
	pulse                          *control.Pulse

	heard   *control.Pulse // the last one
	heardAt time.Time
}

// quiet reports once that the agent is silent under load.
func (t *told) quiet(a control.Agent, now time.Time) bool {
	if a.Pulse != t.heard {
		t.heard, t.heardAt, t.silent = a.Pulse, now, false
	}
	if t.silent || t.heard == nil || a.Sent != nil || now.Sub(t.heardAt) < result.SilentAfter {
		return false
	}
	t.silent = true
	return true
}

func (c *Coordinator) watch(ctx context.Context, w bench.FleetWatch) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		seen := make([]told, c.cfg.Of)
		for started := false; ; {
			var events []result.Event
			var pulse *result.Pulse
			look := func(s *control.State) bool {
				events, pulse = c.news(s, seen, &started)
				return len(events) > 0 || pulse != nil
			}
			wait, cancel := context.WithTimeout(ctx, pulseEvery)
			err := c.m.await(wait, look)
			cancel()
			if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
				return
			}
			for _, e := range events {
				w.Event(e)
			}
			if pulse == nil {
				continue
			}
			select {
			case <-time.After(pulseGather):
			case <-ctx.Done():
				return
			}
			c.m.look(func(s *control.State) { pulse = c.pulse(s, seen) })
			w.Pulse(*pulse)
		}
	}()
	return done
}

// news returns the events that seen lacks, and notes them in seen. The member's lock is held.
func (c *Coordinator) news(s *control.State, seen []told, started *bool) (events []result.Event, pulse *result.Pulse) {
	tell := func(i int, a control.Agent, what string) {
		events = append(events, result.Event{
			Kind: "agent", What: fmt.Sprintf("agent %d (%s) %s", i, a.Hello.HostName, what),
			Data: map[string]any{"agent": i, "host": a.Hello.HostName},
		})
	}
	if !*started && s.Start() != nil {
		*started = true
		events = append(events, result.Event{Kind: "agent", What: fmt.Sprintf("%d agents were started", c.cfg.Of)})
	}
	for i := range seen {
		a, known := s.Agent(i)
		if known && seen[i].instance != a.Instance {
			seen[i] = told{instance: a.Instance}
			tell(i, a, "joined")
		}
		if r := a.Ready; r != nil && r.Failed == "" && !seen[i].ready {
			seen[i].ready = true
			tell(i, a, "is ready")
		}
		if s.Complete(i) && !seen[i].handed {
			seen[i].handed = true
			tell(i, a, "handed in")
		}
		if why, ended := c.ended[i]; ended && !s.Complete(i) && !seen[i].missing {
			seen[i].missing = true
			tell(i, a, fmt.Sprintf("is missing: it ended: %v", why))
		}
		if a.Sent != nil && a.Sent.Failed != "" && !seen[i].missing {
			seen[i].missing = true
			tell(i, a, "ended early: "+a.Sent.Failed)
		}
		if seen[i].quiet(a, time.Now()) {
			tell(i, a, fmt.Sprintf("has been silent for %v", result.SilentAfter))
		}
		if a.Pulse != nil && a.Pulse != seen[i].pulse {
			pulse = &result.Pulse{}
		}
	}
	return events, pulse
}

// pulse marks in seen what it returns. The member's lock is held.
func (c *Coordinator) pulse(s *control.State, seen []told) *result.Pulse {
	p := &result.Pulse{RunID: s.Plan().RunID}
	for i := range seen {
		a, _ := s.Agent(i)
		if a.Pulse == nil {
			continue
		}
		seen[i].pulse = a.Pulse
		p.Agents = append(p.Agents, result.AgentPulse{
			Index: i, HostName: a.Hello.HostName, AtNs: a.Pulse.AtNs, Phase: a.Pulse.Phase, Scheduled: a.Pulse.Scheduled,
			Acked: a.Pulse.Acked, Delivered: a.Pulse.Delivered, Failed: a.Pulse.Failed,
			DeferredRecords: a.Pulse.Deferred, InFlightRecords: a.Pulse.InFlight,
		})
	}
	return p
}
