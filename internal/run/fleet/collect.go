package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// Collect reads the parts of a session's last run from its log, and keeps them in folder, for
// bench.Conclude.
func Collect(ctx context.Context, s Session, folder string) (plan bench.Plan, handed bench.Handed, err error) {
	c := &Coordinator{cfg: Config{Spool: folder}}
	// Readers ignore this record; it marks the end of the log.
	mine := random()
	if err := control.NewWriter(s.Log, s.Key, s.Topic, control.Coordinator, mine).Write(ctx, 0, control.End{}); err != nil {
		return plan, handed, err
	}
	c.m = &member{state: control.NewState(s.Key, s.Topic)}
	for ended := false; !ended; {
		entries, err := s.Log.Read(ctx, c.m.state.Next())
		if err != nil {
			return plan, handed, err
		}
		for _, e := range entries {
			change, err := c.m.state.Apply(e)
			if err != nil && c.m.state.Plan() == nil {
				return plan, handed, err // another key or release
			}
			if change.Record.Kind == control.KindPlan && change.Effect == control.Applied {
				if err := c.expect(*c.m.state.Plan(), c.m.state.Run(), &plan); err != nil {
					return plan, handed, err
				}
			}
			if change.Snapshot != nil {
				c.take(change.Record.Agent, change.Snapshot, change.Record.Run)
			}
			ended = ended || change.Record.Instance == mine
		}
	}
	switch {
	case c.m.state.Plan() == nil:
		return plan, handed, errors.New("the session has no run")
	case c.m.state.Start() == nil:
		return plan, handed, fmt.Errorf("the run %s was not started", plan.RunID)
	}
	handed, err = c.handed(c.missing())
	return plan, handed, err
}

func (c *Coordinator) expect(record control.Plan, run int, plan *bench.Plan) error {
	*plan = bench.Plan{}
	if err := json.Unmarshal(record.Assignment, plan); err != nil {
		return fmt.Errorf("the plan of the run: %w", err)
	}
	c.cfg.Of = plan.Parts
	return c.makeRoom(run)
}
