package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

func (c *Coordinator) interrupt(ctx context.Context, in time.Duration, interrupt <-chan struct{}) {
	began := time.Now()
	select {
	case <-interrupt:
		stopped := false
		c.m.look(func(s *control.State) { stopped = s.Stop() != nil })
		c.byUser.Store(!stopped)
		c.stop(ctx, began, in)
	case <-ctx.Done():
	}
}

// stop ends the load at a future time that all agents know. The measured window begins at the time
// began + in.
func (c *Coordinator) stop(ctx context.Context, began time.Time, in time.Duration) {
	_ = c.m.writer.Write(ctx, c.run, control.Stop{AtNs: int64(time.Since(began) - in + lead)})
}

// tellEnd reports an early end of the window, once.
func (c *Coordinator) tellEnd(ctx context.Context, parts []int, ends func(atNs int64)) {
	var at int64
	err := c.m.await(ctx, func(s *control.State) bool {
		all, complete := spent(s, parts)
		if complete {
			at = all.End()
			return true
		}
		if stop := s.Stop(); stop != nil {
			at = stop.AtNs
		}
		return s.Stop() != nil
	})
	if err == nil {
		ends(at)
	}
}

// gather waits until all agents have handed in or cannot, or until the agents together are silent
// for handInWithin after limit. It returns what is missing. If an agent fails, the load of the
// others ends.
func (c *Coordinator) gather(ctx context.Context, limit, in time.Duration) (missing []string) {
	began := time.Now()
	deadline := began.Add(limit + handInWithin)
	stopped, last := false, false
	for {
		wait, cancel := context.WithDeadline(ctx, deadline)
		var before int64
		c.m.look(func(s *control.State) { before = s.Count(control.Applied) })
		var incomplete, failed, lost []int
		err := c.m.await(wait, func(s *control.State) bool {
			incomplete = s.Incomplete(c.cfg.Of)
			failed, lost = c.failing(s, incomplete)
			return len(incomplete) == 0 || len(failed) > 0 && !stopped || len(lost) == len(incomplete) && !last ||
				s.Count(control.Applied) != before
		})
		cancel()
		if missing = c.missing(); len(missing) == 0 || err != nil {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				missing = append(missing, err.Error())
			}
			return missing
		}
		if len(failed) > 0 && !stopped {
			stopped = true
			c.stop(ctx, began, in)
		}
		if silence := time.Now().Add(handInWithin); silence.After(deadline) && !last {
			deadline = silence
		}
		if len(lost) == len(incomplete) && !last { // their last records may not be read yet
			last, deadline = true, time.Now().Add(lastWords)
		}
	}
}

const lastWords = 5 * time.Second

// failing returns the agents that failed or ended early, and those of them that will not hand in.
// The member's lock is held.
func (c *Coordinator) failing(s *control.State, incomplete []int) (failed, lost []int) {
	for i := range c.cfg.Of {
		a, _ := s.Agent(i)
		_, ended := c.ended[i]
		ended = ended && slices.Contains(incomplete, i)
		early := a.Sent != nil && a.Sent.Failed != ""
		if ended || early {
			failed = append(failed, i)
		}
		if ended || early && a.Sent.AckedIn == nil {
			lost = append(lost, i)
		}
	}
	return failed, lost
}

func (c *Coordinator) missing() (missing []string) {
	c.m.look(func(s *control.State) {
		for _, i := range s.Incomplete(c.cfg.Of) {
			a, _ := s.Agent(i)
			text := fmt.Sprintf("agent %d (%s) did not hand in its part", i, a.Hello.HostName)
			switch why, ended := c.ended[i]; {
			case a.Sent != nil && a.Sent.Failed != "":
				text += ": " + a.Sent.Failed
			case ended:
				text += fmt.Sprintf(": it ended: %v", why)
			case a.Gaps > 0:
				text += ": some of its records are missing in the session's log"
			}
			missing = append(missing, text)
		}
	})
	return missing
}

func (c *Coordinator) handed(missing []string) (h bench.Handed, err error) {
	h.Missing, h.Parts = missing, make([]iter.Seq2[snapshot.Snapshot, error], c.cfg.Of)
	complete := make([]bool, c.cfg.Of)
	c.m.look(func(s *control.State) {
		h.Stopped = s.Stop() != nil
		for i := range complete {
			a, _ := s.Agent(i)
			complete[i] = s.Complete(i)
			h.Agents = append(h.Agents, bench.Agent{
				Name: fmt.Sprintf("agent %d (%s)", i, a.Hello.HostName), Instance: a.Instance, HostName: a.Hello.HostName,
				Host: a.Hello.Host,
			})
			if start := s.Start(); start != nil {
				for _, owner := range start.Owners {
					if owner == i {
						h.Agents[i].Partitions++
					}
				}
			}
			if a.Ready != nil {
				h.Agents[i].ClockErrorNs = &a.Ready.ClockErrorNs
			}
			if a.Sent != nil && a.Sent.Failed != "" {
				h.Agents[i].Reasons = []string{a.Sent.Failed}
			}
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range complete {
		if complete[i] {
			h.Parts[i] = c.spools[i].snapshots()
		}
	}
	return h, c.failed
}
