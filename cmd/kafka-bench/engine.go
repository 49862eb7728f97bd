package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/show/web"
)

// engineFlags are the flags of every command that makes runs: which client is
// put under test, on which cluster, and where the results go.
type engineFlags struct {
	in         surroundings
	out        string
	driver     string
	cluster    string
	brokers    []string
	clusterID  string
	metrics    []string
	access     string // the client properties file, as Kafka's tools take it
	keepTopics bool
}

func addEngine(c *cobra.Command, flags *engineFlags) {
	addOut(c, &flags.out)
	f := c.Flags()
	f.StringVar(&flags.driver, "driver", "",
		"the client under test (default: as the scenario says, or franz); kafka-bench drivers lists them")
	f.StringVar(&flags.cluster, "cluster", "", "kafka, embedded, or the name of a cluster that is up")
	f.StringSliceVar(&flags.brokers, "brokers", nil, "addresses of an existing cluster, host:port")
	f.StringVar(&flags.clusterID, "cluster-id", "",
		"the ID of the existing cluster; required unless it is on this machine")
	f.StringSliceVar(&flags.metrics, "broker-metrics", nil,
		"where the existing cluster's brokers tell about themselves, in the order of their IDs: http://host:port/metrics,... (Prometheus text, as of the JMX exporter)")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file that says how the existing cluster lets clients in (TLS, SASL)")
	f.BoolVar(&flags.keepTopics, "keep-topics", false, "do not delete the runs' topics")
}

// check finds which flags do not go together.
func (f engineFlags) check() error {
	switch {
	case f.cluster != "" && len(f.brokers) > 0:
		return errors.New("--cluster and --brokers name two clusters; leave one of them out")
	case f.clusterID != "" && len(f.brokers) == 0:
		return errors.New("--cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out")
	case len(f.metrics) > 0 && len(f.brokers) == 0:
		return errors.New("--broker-metrics is for an existing cluster; name its addresses with --brokers, or leave it out")
	case f.access != "" && len(f.brokers) == 0:
		return errors.New("--command-config is for an existing cluster; name its addresses with --brokers, or leave it out")
	}
	return nil
}

// readAccess reads how the existing cluster lets clients in, and tells what of
// the file was ignored.
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

// words are the flags as they would be written again: those that are not as they
// are by default. The folder of the results is not among them, nor the driver, which
// the scenarios of a campaign keep.
func (f engineFlags) words() (words []string) {
	add := func(name, value, otherwise string) {
		if value != otherwise {
			words = append(words, "--"+name, value)
		}
	}
	add("cluster", f.cluster, "")
	add("brokers", strings.Join(f.brokers, ","), "")
	add("cluster-id", f.clusterID, "")
	add("broker-metrics", strings.Join(f.metrics, ","), "")
	add("command-config", f.access, "")
	if f.keepTopics {
		words = append(words, "--keep-topics")
	}
	return words
}

// rig is what a command makes its runs with, read from its flags before anything
// is started.
type rig struct {
	flags    engineFlags
	fleet    fleetFlags
	access   access.Access
	progress func(string) // is told what takes time
	page     string       // the file that a page goes to at the end; "" is none
	full     bool         // every metric of every interval is printed
	watch    pagesFlags   // what served was read from
	served   web.Options  // what is to be watched while runs go on
	pages    *web.Pages   // who shows it; nil if nobody
}

// newRig reads what the flags name. What is wrong with the access file is told
// together with others, which are what is wrong with the command's own input.
func newRig(f engineFlags, stderr io.Writer, others error) (rig, error) {
	r := rig{flags: f, progress: progressTo(stderr)}
	var err error
	if r.access, err = f.readAccess(r.progress); err != nil || others != nil {
		return rig{}, errors.Join(others, err)
	}
	return r, f.check()
}

// able refuses scenarios that ask for what their clients do not have.
func (r rig) able(scenarios ...scenario.Scenario) error {
	secured := r.flags.access != "" && !reflect.DeepEqual(r.access, access.Access{})
	return campaign.Unmet(scenarios, secured, driverNamed)
}

// keepable refuses to keep the topics of runs that are to have one under the same name, or a
// group: only the first could make it. Each run has its scenario here.
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

// breakable refuses faults of brokers that no run may break, as far as the flags say
// which they are, before anything is started or written. What is wrong with one scenario
// is so with all.
func (r rig) breakable(ctx context.Context, scenarios ...scenario.Scenario) error {
	for _, s := range scenarios {
		if bench.CheckFaults(s, cluster.KindExisting, false) == nil {
			continue // nothing of it befalls a broker
		}
		kind, kept := r.flags.place(ctx)
		if kind == "" {
			return nil
		}
		if err := bench.CheckFaults(s, kind, kept); err != nil {
			return campaign.Failure(s, err)
		}
	}
	return nil
}

// place is the kind of cluster that the flags choose, and whether it is kept up after the
// runs. The kind is "" where it depends on what can be started.
func (f engineFlags) place(ctx context.Context) (kind string, kept bool) {
	switch {
	case len(f.brokers) > 0:
		return cluster.KindExisting, false
	case f.cluster == cluster.KindEmbedded || f.cluster == cluster.KindKafka:
		return f.cluster, false
	case f.cluster != "":
		return cluster.KindKafka, true
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	if usable(ctx, cluster.DefaultName) == nil {
		return cluster.KindKafka, true
	}
	return "", false
}

// viewer follows runs from the moment when they have their cluster.
type viewer interface {
	observe.Watcher
	ready(s scenario.Scenario, c cluster.Info)
}

// with makes an engine whose runs the viewer follows, hands it to work, and stops
// what was started when work returns. An interrupt ends the run under way gently,
// a second one abandons it.
func (r rig) with(ctx context.Context, v viewer, work func(context.Context, campaign.Engine) error) (err error) {
	home, err := cluster.UserHome()
	if err != nil {
		return err
	}
	source := &cluster.Source{
		Home: home, Kind: r.flags.cluster, Brokers: r.flags.brokers, ClusterID: r.flags.clusterID,
		Access: r.flags.in.through(r.access), Metrics: r.flags.metrics, Embedded: r.flags.in.embedded,
		Progress: r.progress,
	}
	worker, err := workerCommandLine()
	if err != nil {
		return err
	}
	machine := calibrated(home.Dist, r.progress)
	bench.Reap(r.progress)
	ctx, interrupt, stop := r.flags.in.interruptible(ctx, r.progress)
	defer stop() // last: an interrupt while the cluster stops must not end the tool
	defer func() {
		// An error that is alone stays so: exitCode knows errInvalid by that.
		if closeErr := source.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}()
	var agents func(context.Context, cluster.Cluster) (bench.Fleet, error)
	if r.fleet.of() > 0 {
		s := &session{flags: r.fleet, engine: r.flags, tell: r.progress}
		agents = s.on
		defer func() { err = errors.Join(err, s.close()) }()
	}
	return work(ctx, campaign.Engine{
		Source: source, Fleet: agents,
		Open: driverNamed,
		Bench: bench.Config{
			Out: r.flags.out, KeepTopics: r.flags.keepTopics, Tool: tool(),
			Worker: worker, Watch: v, Interrupt: interrupt, Caveats: machine.Caveats, DiskYardsticks: machine.DiskYardsticks(),
			Probes: r.flags.in.probes,
		},
		Ready:  v.ready,
		Warmer: &campaign.Warmer{Tell: r.progress},
	})
}

// checkOut finds out whether results can be written, before anything is started.
func (r rig) checkOut() error { return result.CheckWritable(r.flags.out) }

// interruptible returns a context and a channel. The first interrupt closes the
// channel, which ends a run gently, and is told of, because that takes a while; or,
// before a run has begun, the second one ends the context, which abandons it.
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
		select {
		case <-signals:
			signal.Stop(signals) // a third one ends the tool as if nobody listened
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, first, func() {
		signal.Stop(signals)
		cancel()
	}
}
