package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// collector is an index that no agent has, so that all readers ignore what Collect writes.
const collector = math.MaxInt32

// Collect reads the parts of a session's last run from its log, and keeps them in folder, for
// bench.Conclude. It waits for agents that have not handed in, until wait ends or the log is silent
// for as long as a coordinator waits. tell receives which agents these are, and may be nil.
func Collect(ctx, wait context.Context, s Session, folder string, tell func(string)) (plan bench.Plan, handed bench.Handed, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &Coordinator{cfg: Config{Spool: folder}}
	var last bench.Plan // guarded by the member's lock, like failed and read
	var failed error
	var mine uint64
	read := false
	ready := make(chan struct{})
	c.m = join(ctx, s, collector, func(change control.Change) {
		<-ready
		if change.Record.Kind == control.KindPlan && change.Effect == control.Applied {
			failed = errors.Join(failed, c.expect(*c.m.state.Plan(), c.m.state.Run(), &last))
		}
		if change.Snapshot != nil {
			c.take(change.Record.Agent, change.Snapshot, change.Record.Run)
		}
		read = read || change.Record.Instance == mine
	})
	mine = c.m.instance
	close(ready)
	writing, cancel := context.WithTimeout(ctx, handInWithin)
	defer cancel()
	if err := c.m.writer.Write(writing, 0, control.Pulse{}); err != nil { // marks the end of what was written before
		return plan, handed, err
	}
	err = c.m.awaitTalk(ctx, handInWithin, func(*control.State) bool { return read || failed != nil || c.m.key != nil })
	c.m.look(func(st *control.State) {
		switch {
		case err != nil || failed != nil:
			err = errors.Join(err, failed)
		case st.Plan() == nil && c.m.key != nil:
			err = c.m.key
		case st.Plan() == nil:
			err = errors.New("the session has no run")
		case st.Start() == nil:
			err = fmt.Errorf("the run %s was not started", last.RunID)
		}
	})
	if err != nil {
		return plan, handed, err
	}
	if err := c.awaitParts(wait, tell); err != nil {
		return plan, handed, err
	}
	handed, err = c.handed(c.missing())
	c.m.look(func(*control.State) { plan = last })
	return plan, handed, err
}

// awaitParts returns an error only if the log is lost.
func (c *Coordinator) awaitParts(ctx context.Context, tell func(string)) error {
	told := 0
	err := c.m.awaitTalk(ctx, handInWithin, func(s *control.State) bool {
		incomplete := s.Incomplete(c.cfg.Of)
		if n := len(incomplete); n != told && n > 0 && tell != nil {
			tell(fmt.Sprintf("%s did not hand in yet; waiting until the session is silent for %v, or an interrupt", agents(incomplete), handInWithin))
			told = n
		}
		return len(incomplete) == 0
	})
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (c *Coordinator) expect(record control.Plan, run int, plan *bench.Plan) error {
	*plan = bench.Plan{}
	if err := json.Unmarshal(record.Assignment, plan); err != nil {
		return fmt.Errorf("the plan of the run: %w", err)
	}
	c.cfg.Of = plan.Parts
	return c.makeRoom(run)
}
