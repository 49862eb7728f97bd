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
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// The run's side of consumers in processes of their own; worker.go is theirs.

// consumersApart tells that the consumers are in processes of their own.
func (r *run) consumersApart() bool {
	c := r.cfg.Scenario.Consume
	return c.Consumers > 0 && (c.Processes > 1 || !r.limits().None())
}

// limits are what each process of the consumers is confined to.
func (r *run) limits() confine.Limits {
	c := r.cfg.Scenario.Consume
	return confine.Limits{CPU: c.CPU, MemoryBytes: int64(c.Memory)}
}

// Reap removes what runs have left on this machine whose process died, beside clusters
// (cluster.Home.Reap): the control groups of their consumers. It says what it removed.
func Reap(tell func(string)) {
	for _, name := range confine.Reap() {
		tell("removed what was left of a confined process whose owner died: " + name)
	}
}

// openGroup opens the group of a number, wherever its members are to be.
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

// startConsumers starts a process for the consumers that are at a place of a group,
// in a cell of its own where it is to be confined, and has it followed.
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
		Name: name, Access: access, Command: cell.Command(r.cfg.Worker), Env: cell.Env(), Why: cell.Why, Here: r.cfg.Here,
		Died: r.noteDeath(name), Tell: func(e result.Event) {
			e.Data["process"], e.Data["of"] = place, "consumers"
			if len(r.groupIDs) > 1 {
				e.What = fmt.Sprintf("group %d: %s", group+1, e.What)
			}
			r.journal.event(e)
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
	r.journal.event(started)
	return child, nil
}

// openGroup opens this process' part of a consumer group.
func (w *worker) openGroup(a remote.GroupAssignment, client driver.Driver, let access.Access, axis *load.Axis) (remote.Load, error) {
	cfg := a.Config()
	cfg.Driver, cfg.Client.Access, cfg.Axis = client, let, axis
	cfg.OnEvent = func(kind, what, reason string) {
		w.service.Tell(result.Event{AtNs: axis.Now(), Kind: kind, What: what, Reason: reason})
	}
	return openGroup(cfg)
}

// openGroup opens a group, or some of its members, in this process.
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

// consumeHere opens the group of a number in this process.
func (r *run) consumeHere(ctx context.Context, number int) (*remote.Consumers, error) {
	cfg := r.groupConfig(number)
	here := remote.NewHere(r.cfg.Probes, func(ctx context.Context, _ remote.Assignment) (remote.Load, error) {
		if r.hasQueue() {
			return r.openQueue(ctx)
		}
		return openGroup(cfg)
	})
	opened, err := here.Open(ctx, remote.Assignment{Version: remote.Version})
	if err != nil {
		return nil, err
	}
	return remote.ConsumersOf(here, cfg, opened), nil
}

// begin tells the groups the axis, or where its window ends now.
func (gs groups) begin() {
	for _, g := range gs {
		g.Begin()
	}
}

// dead is why the first process of a group is gone that was not told to end.
func (gs groups) dead() error {
	for _, g := range gs {
		if err := g.Dead(); err != nil {
			return err
		}
	}
	return nil
}

// processes are all processes of all groups that there have been.
func (gs groups) processes() (all remote.Children) {
	for _, g := range gs {
		all = append(all, g.Children()...)
	}
	return all
}

// cells are what processes are confined in. It may be used from several goroutines.
type cells struct {
	mu       sync.Mutex
	by, note string // of the first of them
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

// throttled is for how long the operating system has held processes back so far.
func (c *cells) throttled() (sum time.Duration, known bool) {
	for _, cell := range c.list() {
		if u, tells := cell.Usage(); tells {
			sum, known = sum+u.Throttled, true
		}
	}
	return sum, known
}

// close removes the cells, whose processes have ended.
func (c *cells) close() (failed error) {
	for _, cell := range c.list() {
		failed = errors.Join(failed, cell.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = nil
	return failed
}

// apartReading is what is read of the consumers' processes at one end of the
// measured window.
type apartReading struct {
	usages         []snapshot.Usage // by process
	pauses         snapshot.Pauses  // of the worst, since the reading before
	throttled      time.Duration
	throttledKnown bool
}

func (r *run) readApart() (a apartReading, died error) {
	if !r.consumersApart() {
		return a, nil
	}
	a.usages, a.pauses, died = used(r.groups.processes(), remote.Want{Usage: true, Pauses: true, Fresh: true})
	a.throttled, a.throttledKnown = r.cells.throttled()
	return a, died
}

// processesOfTheConsumers returns over how many processes the consumers are spread, 0 if
// over none of their own, and what became of their limits; nil if they have none.
func (r *run) processesOfTheConsumers() (processes int, _ *result.Confined) {
	if !r.consumersApart() {
		return 0, nil
	}
	processes = max(1, r.cfg.Scenario.Consume.Processes)
	limits := r.limits()
	if limits.None() {
		return processes, nil
	}
	c := &result.Confined{CPU: limits.CPU, MemoryBytes: limits.MemoryBytes, By: r.cells.by, Note: r.cells.note}
	a, b := r.atStart.apart, r.atEnd.apart
	c.CPUCoresUsed = busiest(a.usages, b.usages, r.atEnd.at-r.atStart.at)
	if b.throttledKnown {
		throttled := (b.throttled - a.throttled).Seconds()
		c.ThrottledS = &throttled
	}
	if r.heldBack() {
		delay, pause := quantile(b.pauses.Sched), quantile(b.pauses.GC)
		c.SchedDelayNs, c.GCPauseNs = &delay, &pause
	}
	return processes, c
}

// heldBack tells that the consumers' processes wait for the processors because of the
// scenario's own limit. That they wait is then what is measured, and no fault of the
// tool. A limit of memory alone has nobody wait.
func (r *run) heldBack() bool { return r.consumersApart() && r.limits().CPU > 0 }

// busiest is how many cores the busiest process used between two readings; the second
// may have processes that started in between.
func busiest(before, after []snapshot.Usage, lengthNs int64) *float64 {
	var most *float64
	for i, u := range after {
		if !u.Known {
			continue
		}
		used := u.User + u.System
		if i < len(before) {
			used -= before[i].User + before[i].System
		}
		if c := cores(used.Seconds(), lengthNs); c != nil && (most == nil || *c > *most) {
			most = c
		}
	}
	return most
}
