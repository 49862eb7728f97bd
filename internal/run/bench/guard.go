package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// Guards says what keeps a run from doing harm to its cluster. The zero value has the defaults.
type Guards struct {
	// Remote reports that the cluster is not on this machine.
	Remote bool
	// MinFreeBytes must stay free on each disk of the brokers; nil is the default of package guard.
	MinFreeBytes *int64
	// MaxBytesStated reports that the user bounds what is stored, so that a run may load brokers
	// whose free disk is unknown.
	MaxBytesStated bool
	// Replicated is called with the replicas of an existing topic that the run writes to, before the load. Its error
	// refuses the run; nil is not called.
	Replicated func(topic string, replicas int) error
	// Anyway lets a run load a cluster with unhealthy partitions, and go on if partitions lack
	// replicas or quotas throttle it.
	Anyway bool
	// Groups has the most lag of each group that the run must not hold up. Below 0 is the default.
	Groups map[string]int64
}

const whoGuards = "the guards of the run"

// A group may lag by twice its lag before the load, and lagAllowance records.
const lagAllowance = 1000

// ErrGuarded reports that a guard ended a run.
var ErrGuarded = errors.New("a guard ended the run")

// guarded ends a run, by its interrupt, when the watch of its cluster has a reason. Its methods may be
// called on nil, which guards nothing.
type guarded struct {
	cfg       Config
	interrupt chan struct{} // closed by the user's interrupt, or with a reason
	reader    *probe.ClusterReader
	running   sync.WaitGroup
	closed    chan struct{}
	once      sync.Once
	began     time.Time

	mu     sync.Mutex
	watch  *guard.Watch // nil until it begins
	over   bool         // interrupt is closed
	reason string
}

// guardRun returns the configuration whose Interrupt also closes when a guard ends the run. An
// embedded broker, which keeps its records in memory, has no guard.
func guardRun(cfg Config) (Config, *guarded) {
	if cfg.Cluster == nil || cfg.Cluster.Info().Kind == cluster.KindEmbedded {
		return cfg, nil
	}
	g := &guarded{cfg: cfg, interrupt: make(chan struct{}), closed: make(chan struct{}), began: time.Now()}
	asked := cfg.Interrupt
	select {
	case <-asked:
		g.end()
	default:
		g.running.Go(func() { g.forward(asked) })
	}
	cfg.Interrupt = g.interrupt
	return cfg, g
}

func (g *guarded) forward(asked <-chan struct{}) {
	select {
	case <-asked:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.end()
	case <-g.closed:
	}
}

// end closes interrupt, once. The caller holds mu.
func (g *guarded) end() {
	if !g.over {
		g.over = true
		close(g.interrupt)
	}
}

// ended returns why a guard ended the run; "" if none did.
func (g *guarded) ended() string {
	if g == nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason
}

// failed replaces an error of a run that a guard ended, and adds what could not be removed.
func (g *guarded) failed(err error, leftBehind []error) error {
	if reason := g.ended(); reason != "" {
		return errors.Join(append([]error{fmt.Errorf("%w: %s", ErrGuarded, reason)}, leftBehind...)...)
	}
	return err
}

// close ends the watch. It may be called more than once.
func (g *guarded) close() {
	if g == nil {
		return
	}
	g.once.Do(func() {
		close(g.closed)
		g.running.Wait()
		if g.reader != nil {
			g.reader.Close()
		}
	})
}

func (g *guarded) look(o guard.Observation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watch == nil || g.over { // if it is over before, the user's interrupt is the reason
		return
	}
	if g.reason = g.watch.Look(o); g.reason != "" {
		g.end()
	}
}

// throttled takes the traffic of the clients under test since they were opened.
func (g *guarded) throttled(sending, fetching snapshot.Traffic) {
	if g == nil {
		return
	}
	g.look(guard.Observation{At: time.Since(g.began), Throttled: &guard.Throttled{
		Produce: guard.Held{Sum: sending.Produce.Throttled, Connections: sending.Produce.Connections},
		Fetch:   guard.Held{Sum: fetching.Fetch.Throttled, Connections: fetching.Fetch.Connections},
	}})
}

func (g *guarded) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g.running.Go(func() {
		defer cancel()
		<-g.closed
	})
	observe.AtEach(ctx, probe.ClusterPeriod, func() {
		if o := g.reader.Read(ctx); ctx.Err() == nil {
			g.look(o)
		}
	})
}

// openGuard asks the cluster before anything is made there, refuses a run that would do harm, and
// begins to watch.
func (r *run) openGuard(ctx context.Context) (err error) {
	g := r.guard
	if g == nil {
		return nil
	}
	stored, bounded := Stored(r.cfg.Scenario)
	local, is := r.cfg.Cluster.(cluster.Local)
	if is {
		free, known, err := cluster.LeastFree(local)
		if err != nil || !known || bounded && guard.Ample(free, stored) {
			return err
		}
	}
	if g.reader, err = probe.NewClusterReader(r.seeds(), r.access(), groupsOf(r.cfg.Guards)); err != nil {
		return err
	}
	before, err := g.reader.ReadAll(ctx)
	if err != nil {
		return r.denied(whoGuards, err)
	}
	limits := guard.Limits{Floors: floors(before.Disks, r.cfg.Guards, !r.cfg.Guards.Remote),
		Lag: lagLimits(r.cfg.Guards.Groups, before.Lag)}
	if !is {
		limits.Brokers, limits.Health = true, !r.cfg.Guards.Anyway
		found, err := admitted(r.cfg, g.reader, before, limits.Floors)
		if err != nil {
			return err
		}
		for _, warning := range found.Warnings {
			r.warn(warning)
		}
		if r.unwatched = found.Unwatched; r.unwatched != "" {
			r.journal.Tell(result.Event{Kind: Unwatched, What: r.unwatched})
		}
	}
	g.mu.Lock()
	g.watch = guard.New(before, limits)
	g.mu.Unlock()
	g.running.Go(g.follow)
	return nil
}

// quotasUnseen says why the guard does not see throttling; "" if it does.
func quotasUnseen(cfg Config) string {
	if cfg.Fleet != nil {
		return "agents report throttle times only in their results"
	}
	return cfg.Driver.Lacks()[driver.ReportThrottle]
}

func groupsOf(g Guards) (names []string) {
	for name := range g.Groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func checkGroups(asked []string, lag map[string]int64) error {
	for _, group := range asked {
		if _, known := lag[group]; !known {
			return &cluster.Error{Kind: cluster.ErrInput,
				What:   fmt.Sprintf("group %s (--watch-group) has no committed offset, so its lag is unknown", group),
				Remedy: "correct its name (kafka-consumer-groups.sh --list prints all), or leave it out"}
		}
	}
	return nil
}

func lagLimits(asked, before map[string]int64) map[string]int64 {
	limits := make(map[string]int64)
	for group, most := range asked {
		if most < 0 {
			most = 2*before[group] + lagAllowance
		}
		limits[group] = most
	}
	return limits
}

func floors(disks []guard.Disk, g Guards, here bool) map[int32]int64 {
	floors := make(map[int32]int64)
	for _, d := range disks {
		floor := guard.Floor(d)
		switch {
		case g.MinFreeBytes != nil:
			floor = *g.MinFreeBytes
		case here:
			floor = guard.FloorHere(d.UsableBytes)
		}
		for _, id := range d.Brokers {
			floors[id] = floor
		}
	}
	return floors
}
