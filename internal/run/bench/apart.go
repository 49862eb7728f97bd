package bench

import (
	"context"
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// The run's side of producers in child processes; worker.go is the child's side.

func (b *base) apart() bool { return b.cfg.Scenario.Load.Processes > 1 }

func (c Config) canStart() bool { return len(c.Worker) > 0 || c.Here != nil }

func (r *run) startProcesses(context.Context) (err error) {
	if !r.apart() {
		return nil
	}
	if !r.cfg.canStart() {
		return errors.New("producers in processes of their own need the program's own command line, which nobody gave")
	}
	access, err := r.access().Handover()
	if err != nil {
		return err
	}
	r.children, err = remote.StartChildren(r.cfg.Scenario.Load.Processes, func(i int) remote.Start {
		return remote.Start{
			Command: r.cfg.Worker, Access: access, Here: r.cfg.Here, Died: r.noteDeath(fmt.Sprintf("process %d", i)),
			Tell: func(e result.Event) {
				e.Data["process"] = i
				r.journal.Event(e)
			},
		}
	})
	for i, c := range r.children {
		r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "process", What: fmt.Sprintf("process %d started", i),
			Data: map[string]any{"process": i, "pid": c.PID()}})
	}
	return err
}

func (b *base) noteDeath(name string) func(error) {
	return func(why error) { b.journal.Now("error", name+" ended before the run did", why.Error()) }
}

func (r *run) assignments(ctx context.Context) ([]remote.Assignment, error) {
	s := r.cfg.Scenario
	yaml, err := s.Marshal()
	if err != nil {
		return nil, fmt.Errorf("writing the resolved scenario: %w", err)
	}
	groups := r.groupIDs
	if r.manual() || len(r.groups) == 0 {
		groups = nil
	}
	parts := remote.Split(s.Load.Producers, s.Load.Clients, s.Load.Processes)
	all := make([]remote.Assignment, len(parts))
	for i, workers := range parts {
		all[i] = remote.Assignment{
			Version: remote.Version, Part: i, Parts: len(parts), Scenario: yaml, Driver: r.cfg.Driver.Name(),
			Brokers: r.seeds(), ClusterID: r.clusterID(), Zero: r.axis.Zero(),
			RunID: r.runID, ClientID: r.clientID(), Topic: r.topic.Name, Partitions: r.topic.Partitions,
			Groups: groups, Consumed: len(r.groups) > 0,
			Workers: workers,
		}
	}
	return all, nil
}
