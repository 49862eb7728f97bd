package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/confine"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// The run's side of consumers in child processes; worker.go is the child's side.

func (b *base) consumersApart() bool {
	c := b.cfg.Scenario.Consume
	return c.Consumers > 0 && (c.Processes > 1 || !b.limits().None())
}

func (b *base) limits() confine.Limits {
	c := b.cfg.Scenario.Consume
	return confine.Limits{CPU: c.CPU, MemoryBytes: int64(c.Memory)}
}

// Reap removes the control groups that dead runs left on this machine, and reports each to tell.
func Reap(tell func(string)) {
	for _, name := range confine.Reap() {
		tell("removed what was left of a confined process whose owner died: " + name)
	}
}

func (r *run) openGroup(ctx context.Context, number int) (*remote.Consumers, error) {
	if r.hasQueue() || !r.consumersApart() {
		return r.consumeHere(ctx, number)
	}
	if !r.cfg.canStart() {
		return nil, errors.New("consumers in processes of their own need the program's own command line, which nobody gave")
	}
	return remote.OpenConsumers(remote.ConsumersConfig{
		Group: r.groupConfig(number), Driver: r.cfg.Driver.Name(), Axis: r.axis,
		Processes: max(1, r.cfg.Scenario.Consume.Processes),
		Start:     func(place int) (*remote.Child, error) { return r.startConsumers(number, place) },
	})
}

func (r *run) startConsumers(group, place int) (*remote.Child, error) {
	name := fmt.Sprintf("process %d of the consumers", place)
	if len(r.groupIDs) > 1 {
		name += fmt.Sprintf(" of group %d", group+1)
	}
	access, err := r.access().Handover()
	if err != nil {
		return nil, err
	}
	cell := confine.Open(r.limits())
	child, err := remote.Start{
		Name: name, Access: access, Command: cell.Command(r.cfg.Worker), Env: cell.Env(), Why: cell.Why,
		Here: r.cfg.Here,
		Died: r.noteDeath(name), Tell: func(e result.Event) {
			e.Data["process"], e.Data["of"] = place, "consumers"
			if len(r.groupIDs) > 1 {
				e.What = fmt.Sprintf("group %d: %s", group+1, e.What)
			}
			r.journal.Event(e)
		},
	}.Child()
	if err != nil {
		return nil, errors.Join(err, cell.Close())
	}
	r.cells.add(cell)
	data := map[string]any{"process": place, "of": "consumers", "pid": child.PID()}
	if len(r.groupIDs) > 1 {
		data["group"] = group + 1
	}
	started := result.Event{AtNs: r.axis.Now(), Kind: "process", What: name + " started", Data: data}
	if !r.limits().None() {
		started.Reason = "confined by " + cell.By()
	}
	r.journal.Event(started)
	return child, nil
}

func (w *worker) openGroup(a remote.GroupAssignment, client driver.Driver, let access.Access,
	axis *load.Axis) (remote.Load, error) {
	cfg := a.Config()
	cfg.Driver, cfg.Client.Access, cfg.Axis = client, let, axis
	cfg.OnEvent = func(e receive.Event) {
		w.service.Tell(result.Event{AtNs: axis.Now(), Kind: e.Kind, What: e.What, Reason: e.Reason, Data: e.Data})
	}
	return openGroup(cfg)
}

func openGroup(cfg receive.Config) (remote.Load, error) {
	g, err := receive.Start(cfg)
	if err != nil {
		return remote.Load{}, err
	}
	l := remote.Load{Axis: cfg.Axis, Consumers: g, Partitions: cfg.Partitions}
	l.Settings, l.Workers = g.Settings(), g.Workers()
	if err := g.CanKill(); err != nil {
		l.CannotKill = err.Error()
	}
	return l, nil
}

func (r *run) consumeHere(ctx context.Context, number int) (*remote.Consumers, error) {
	cfg := r.groupConfig(number)
	here := remote.NewHere(r.cfg.Probes, func(ctx context.Context, _ remote.Assignment) (remote.Load, error) {
		if r.hasQueue() {
			r.queue = newQueue(&r.base)
			return r.queue.open(ctx)
		}
		return openGroup(cfg)
	})
	opened, err := here.Open(ctx, remote.Assignment{Version: remote.Version})
	if err != nil {
		return nil, err
	}
	return remote.ConsumersOf(here, cfg, opened), nil
}

type cells struct {
	mu       sync.Mutex
	by, note string // of the first cell
	all      []*confine.Cell
}

func (c *cells) add(cell *confine.Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == "" {
		c.by, c.note = cell.By(), cell.Note()
	}
	c.all = append(c.all, cell)
}

func (c *cells) list() []*confine.Cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

func (c *cells) throttled() (sum time.Duration, known bool) {
	for _, cell := range c.list() {
		if u, tells := cell.Usage(); tells {
			sum, known = sum+u.Throttled, true
		}
	}
	return sum, known
}

func (c *cells) close() (failed error) {
	for _, cell := range c.list() {
		failed = errors.Join(failed, cell.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = nil
	return failed
}
