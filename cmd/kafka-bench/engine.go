package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/show/web"
)

type engineFlags struct {
	in         surroundings
	out        string
	driver     string
	cluster    string
	brokers    []string
	clusterID  string
	metrics    []string
	access     string
	clientID   string
	writeTo    []string
	keepTopics bool
	allowJVM   bool
	guardFlags
}

func addEngine(c *cobra.Command, flags *engineFlags) {
	addOut(c, &flags.out)
	f := c.Flags()
	f.StringVar(&flags.driver, "driver", "",
		"the client under test (default: as the scenario says, or franz); kafka-bench drivers lists them")
	f.StringVar(&flags.cluster, "cluster", "", "kafka, embedded, or the name of a cluster that is up")
	addList(f, &flags.brokers, "brokers", nil, "addresses of an existing cluster, host:port")
	f.StringVar(&flags.clusterID, "cluster-id", "",
		"the ID of the existing cluster; required unless it is on this machine")
	addList(f, &flags.metrics, "broker-metrics", nil,
		"the metrics pages of the existing cluster's brokers, in the order of their IDs: http://host:port/metrics,... (Prometheus text, as of the JMX exporter)")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file with the access to the existing cluster (TLS, SASL)")
	f.StringVar(&flags.clientID, "client-id", "",
		"the client ID of each producer and consumer, for quotas (default: kafka-bench; on this machine, a name after the run)")
	f.StringArrayVar(&flags.writeTo, "write-to", nil,
		"the `NAME` of an existing topic that the scenario may write to (topic.existing); repeatable")
	addGuards(f, &flags.guardFlags)
	f.BoolVar(&flags.keepTopics, "keep-topics", false, "do not delete the runs' topics")
	f.BoolVar(&flags.allowJVM, "allow-jvm", false,
		"allow a scenario any JVM option and broker property, also those that run other programs")
}

func (f engineFlags) check() error {
	switch {
	case f.cluster != "" && len(f.brokers) > 0:
		return errors.New("--cluster and --brokers name two clusters; leave one of them out")
	case f.clusterID != "" && len(f.brokers) == 0:
		return errors.New("--cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out")
	case f.anyway && len(f.brokers) == 0:
		return errors.New("--anyway is for an existing cluster; name its addresses with --brokers, or leave it out")
	case len(f.groups) > 0 && len(f.brokers) == 0:
		return errors.New("--watch-group is for an existing cluster; name its addresses with --brokers, or leave it out")
	case len(f.metrics) > 0 && len(f.brokers) == 0:
		return errors.New("--broker-metrics is for an existing cluster; name its addresses with --brokers, or leave it out")
	case f.access != "" && len(f.brokers) == 0:
		return errors.New("--command-config is for an existing cluster; name its addresses with --brokers, or leave it out")
	}
	return errors.Join(f.checkOut(), flagFault("--brokers", cluster.CheckAddresses(f.brokers)),
		flagFault("--broker-metrics", cluster.CheckEndpoints(f.metrics)))
}

// checkOut refuses a new folder that is named as other tools name a kind of output.
func (f engineFlags) checkOut() error {
	if kind, _, is := strings.Cut(f.out, "="); is && !strings.ContainsAny(kind, `/\`) && !exists(f.out) {
		return fmt.Errorf("--out %s: it is the folder of the runs; a file is written by --format json > FILE", f.out)
	}
	return nil
}

func flagFault(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

func (f engineFlags) readAccess(tell func(string)) (access.Access, error) {
	if f.access == "" {
		return access.Access{}, nil
	}
	a, warnings, err := access.Read(f.access)
	for _, warning := range warnings {
		tell(warning)
	}
	return a, err
}

// words returns the flags that are not at their defaults. The output folder is left out, and so is
// the driver, because a campaign's scenarios name the driver.
func (f engineFlags) words() (words []string) {
	add := func(name, value, otherwise string) {
		if value != otherwise {
			words = append(words, "--"+name, value)
		}
	}
	add("cluster", f.cluster, "")
	add("brokers", strings.Join(f.brokers, ","), "")
	add("cluster-id", f.clusterID, "")
	for _, address := range f.metrics {
		words = append(words, "--broker-metrics", access.HideUser(address))
	}
	add("command-config", f.access, "")
	add("client-id", f.clientID, "")
	for _, name := range f.writeTo {
		words = append(words, "--write-to", name)
	}
	words = append(words, f.guardFlags.words()...)
	if f.keepTopics {
		words = append(words, "--keep-topics")
	}
	if f.allowJVM {
		words = append(words, "--allow-jvm")
	}
	return words
}

// rig has what a command needs to make its runs, read from its flags before anything is started.
type rig struct {
	flags    engineFlags
	fleet    fleetFlags
	lasts    time.Duration // all runs together, at most; only with agents
	access   access.Access
	progress func(string)
	page     string // file of the page at the end; "" is none
	judging  judgingFlags
	ci       ciFlags
	expected []string // of every run
	labels   map[string]string
	counted  func(topic string, replicas int) error // see bench.Guards.Replicated
	full     bool
	watch    pagesFlags
	served   web.Options
	pages    *web.Pages // nil if nothing is shown
}

// newRig returns the mistakes of the flags and of the access file, joined with the mistakes of the
// command's own input (others).
func newRig(f engineFlags, agents fleetFlags, stderr io.Writer, others error) (rig, error) {
	f.in.outliveReaders()
	r := rig{flags: f, fleet: agents, progress: progressTo(stderr)}
	var err error
	r.access, err = f.readAccess(r.progress)
	return r, errors.Join(others, err, f.check(), agents.check(f))
}

func (r *rig) take(f runFlags, served web.Options, plan campaign.Plan) {
	r.page, r.served, r.watch = f.page, served, f.pagesFlags
	r.judging, r.ci, r.full = f.judgingFlags, f.ciFlags, f.progress == fullProgress
	r.expected, r.labels = plan.Expected, plan.Labels
}

func (r rig) makers() campaign.Makers {
	m := campaign.Makers{Host: result.Host(probe.DescribeHost())}
	if n := r.fleet.of(); n > 0 {
		m.Fleet = result.Fleet{Agents: n, Placement: r.fleet.placed(), Senders: r.fleet.senders}
	}
	return m
}

func (r rig) able(scenarios ...scenario.Scenario) error {
	return campaign.Unmet(scenarios, driver.AccessNeeds(r.access), driverNames(), driverNamed)
}

func (r rig) runGuards() bench.Guards {
	g := r.flags.guards()
	g.Remote = len(r.flags.brokers) > 0 && !loopback(r.flags.brokers)
	g.Replicated = r.counted
	return g
}

// keepable refuses to keep topics if several runs have the same topic or group name, because only
// the first run could create it. runs has one scenario for each run.
func (f engineFlags) keepable(runs ...scenario.Scenario) error {
	had := make(map[string]bool)
	for _, s := range runs {
		for _, chosen := range [][2]string{{"topic.name", s.Topic.Name}, {"consume.group", s.Consume.Group}} {
			key, name := chosen[0], chosen[1]
			if f.keepTopics && name != "" && had[key+name] {
				return fmt.Errorf("--keep-topics: several runs have %s %s, and only the first could make it; "+
					"leave out one of the two", key, name)
			}
			had[key+name] = true
		}
	}
	return nil
}

// checkAllowed refuses JVM options and broker properties that only --allow-jvm allows.
func (f engineFlags) checkAllowed(scenarios ...scenario.Scenario) error {
	var faults []error
	for _, s := range scenarios {
		if err := s.CheckListed(); err != nil && !f.allowJVM {
			faults = append(faults, campaign.Failure(s, err))
		}
	}
	return errors.Join(faults...)
}

// checkWriteTo refuses scenarios that write to an existing topic which the command line does not name: a file alone is not
// enough.
func (f engineFlags) checkWriteTo(scenarios ...scenario.Scenario) error {
	for _, s := range scenarios {
		if name := s.Topic.Existing; name != "" && s.Load.Producers > 0 && !slices.Contains(f.writeTo, name) {
			return campaign.Failure(s, fmt.Errorf("topic.existing: the run writes to the topic %s, which is not its own, "+
				"and its records stay there; add --write-to %[1]s, or load.producers: 0 to only read it", name))
		}
	}
	return nil
}

// check returns why the scenarios cannot be run, as far as it is known before anything is started. A
// dry run calls it too.
func (r rig) check(ctx context.Context, scenarios ...scenario.Scenario) (place, error) {
	at := r.flags.place(ctx)
	at.guards = r.runGuards()
	err := errors.Join(r.able(scenarios...), at.suited(scenarios...), r.flags.checkAllowed(scenarios...))
	if err == nil {
		err = r.flags.checkWriteTo(scenarios...)
	}
	if err == nil {
		err = r.checkOut()
	}
	return at, err
}

// place is what is known about a run's cluster before the run. Kind is "" if it depends on what can
// be started, and Version is "" if the cluster was not reached.
type place struct {
	cluster.Info
	kept  bool          // it stays up
	local cluster.Local // nil unless it is up
	err   error         // why the named cluster cannot be used

	guards bench.Guards
	asked  asked // by a dry run
}

func (f engineFlags) place(ctx context.Context) place {
	switch {
	case len(f.brokers) > 0:
		return place{Info: cluster.Info{Kind: cluster.KindExisting}}
	case f.cluster == cluster.KindEmbedded:
		return place{Info: cluster.Info{Kind: f.cluster, Settings: f.in.embedded.Settings()}}
	case f.cluster == cluster.KindKafka:
		return place{Info: cluster.Info{Kind: f.cluster}}
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	up, err := find(ctx, cmp.Or(f.cluster, cluster.DefaultName))
	switch {
	case err == nil:
		return place{Info: up.Info(), kept: true, local: up}
	case f.cluster != "":
		return place{Info: cluster.Info{Kind: cluster.KindKafka}, kept: true, err: err}
	case errors.Is(err, cluster.ErrNotUp):
		err = nil
	}
	return place{err: err}
}

// suited refuses scenarios that the cluster does not allow, or that do not fit it.
func (p place) suited(scenarios ...scenario.Scenario) error {
	for _, s := range scenarios {
		settings := p.Settings
		if settings == nil {
			settings = s.Cluster.Config
		}
		err := errors.Join(bench.CheckTopic(s, !p.kept && p.Kind != cluster.KindExisting), bench.CheckFill(s, settings))
		if p.Kind != "" {
			err = errors.Join(err, bench.CheckFaults(s, p.Kind, p.kept))
		}
		if p.Version != "" || p.Kind == cluster.KindEmbedded {
			err = errors.Join(err, cluster.Fits(p.Info, s))
		}
		if err == nil {
			_, _, err = p.bound(s)
		}
		if err != nil {
			return campaign.Failure(s, err)
		}
	}
	return nil
}

// bound returns what a run makes of s to fit the disk of brokers on this machine, and says what it
// changes; "" if nothing.
func (p place) bound(s scenario.Scenario) (bounded scenario.Scenario, change string, err error) {
	var free int64
	known := false
	switch {
	case p.local != nil:
		free, known, err = cluster.LeastFree(p.local)
	case !p.kept && (p.Kind == cluster.KindKafka || p.Kind == ""):
		home, noHome := cluster.UserHome()
		if noHome != nil {
			return s, "", nil // the start of a Kafka reports it
		}
		free, err = home.Free(s.Cluster.Disks)
		known = true
	}
	if err != nil || !known {
		return s, "", err
	}
	return bench.BoundToDisk(s, free, p.guards)
}

type viewer interface {
	observe.Watcher
	ready(s scenario.Scenario, c cluster.Info)
}

// with calls the function work and passes it an engine. When work returns, with stops what it
// started.
func (r rig) with(ctx context.Context, v viewer, work func(context.Context, campaign.Engine) error) (err error) {
	home, err := cluster.UserHome()
	if err != nil {
		return err
	}
	source := r.source(home)
	worker, err := workerCommandLine()
	if err != nil {
		return err
	}
	machine := calibrated(home.Dist, r.progress)
	bench.Reap(r.progress)
	ctx, interrupt, stop := r.flags.in.interruptible(ctx, r.progress)
	defer stop() // runs last: an interrupt while the cluster stops must not end the program
	defer func() {
		// A single error stays unwrapped, because exitCode compares it with errInvalid.
		if closeErr := source.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}()
	var agents func(context.Context, cluster.Cluster) (bench.Fleet, error)
	if r.fleet.of() > 0 {
		s := &session{flags: r.fleet, engine: r.flags, lasts: r.lasts, tell: r.progress}
		agents = s.on
		defer func() { err = errors.Join(err, s.close()) }()
	}
	return work(ctx, campaign.Engine{
		Source: source, Fleet: agents,
		Open: driverNamed,
		Bench: bench.Config{
			Guards: r.runGuards(),
			Out:    r.flags.out, KeepTopics: r.flags.keepTopics, ClientID: r.flags.clientID, Tool: tool(), Expected: r.expected,
			Labels:  r.labels,
			Joining: r.fleet.joining(),
			Worker:  worker, Watch: v, Interrupt: interrupt, Caveats: machine.Caveats, DiskYardsticks: machine.DiskYardsticks(),
			Probes: r.flags.in.probes,
		},
		Ready:        v.ready,
		RetryInvalid: r.ci.retries,
		Warmer:       &campaign.Warmer{Tell: r.progress},
	})
}

func (r rig) source(home cluster.Home) *cluster.Source {
	return &cluster.Source{
		Home: home, Kind: r.flags.cluster, Brokers: r.flags.brokers, ClusterID: r.flags.clusterID,
		Access: r.flags.in.through(r.access), Metrics: r.flags.metrics, Embedded: r.flags.in.embedded,
		Progress: r.progress,
	}
}

func (r rig) checkOut() error { return writable("--out", r.flags.out) }

func writable(flag, folder string) error {
	if err := result.CheckWritable(folder); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// The first interrupt closes the channel, which ends a run gently, and calls tell. The second one
// ends the context, which abandons the run; but not a SIGHUP.
func (s surroundings) interruptible(parent context.Context, tell func(string)) (ctx context.Context,
	interrupt <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	first := make(chan struct{})
	signals := make(chan os.Signal, 2)
	s.notify(signals)
	go func() {
		select {
		case <-signals:
			tell("ending gently; interrupt again to abandon")
			close(first)
		case <-ctx.Done():
			return
		}
		for {
			select {
			case again := <-signals:
				if again == syscall.SIGHUP { // a terminal that closes sends two
					continue
				}
				signal.Stop(signals) // a third interrupt ends the program
				cancel()
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, first, func() {
		signal.Stop(signals)
		cancel()
	}
}
