package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/childenv"
)

// discardGrace may be short, because the data is deleted next. With more time, a controller would
// wait five seconds for a successor.
const (
	stopGrace    = 10 * time.Second
	discardGrace = 3 * time.Second
)

const portAttempts = 3

// Kafka is an Apache Kafka that this process has started.
type Kafka struct {
	home      Home
	opts      KafkaOptions
	name      string // of a cluster that outlives this process; else empty
	detached  bool
	startedAt time.Time
	java      Java
	dist      Dist
	classes   string
	layout    layout
	shared    map[string]string
	owner     *fileLock
	kept      *record   // the cluster to start again with its data; nil for a new one
	brokers   []*Broker // by ID, from 1

	stop    sync.Once
	stopErr error
	broken  atomic.Bool
}

// StartKafka starts a cluster and returns when all brokers are registered and each confirms that a controller is
// elected. The caller must Stop it. If this process dies first, its brokers die with it on Linux.
// Elsewhere, Reap kills them at the next start.
//
// Errors are of kind ErrInput or ErrUnavailable. A failed start leaves nothing behind.
func (h Home) StartKafka(ctx context.Context, opts KafkaOptions) (*Kafka, error) {
	if _, err := h.Reap(ctx, opts.Progress); err != nil { // which may make room on a disk
		tell(opts.Progress, "remains of an earlier cluster could not be removed: %v", err)
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	k := &Kafka{home: h, opts: opts.withDefaults(), detached: opts.orphaned}
	if err := k.start(ctx, randomFolder()); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Kafka) start(ctx context.Context, folder string) error {
	var err error
	if k.java, err = FindJava(ctx); err != nil {
		return err
	}
	if k.dist, err = k.home.KafkaDist(ctx, k.opts.Version, k.opts.Progress); err != nil {
		return err
	}
	k.classes = k.home.classArchive(ctx, k.java, k.dist, k.opts.Progress)
	tell(k.opts.Progress, "starting Kafka %s, brokers: %d", k.dist.Version, k.opts.Brokers)
	err = k.bringUp(ctx, folder)
	if errors.Is(err, ErrUnavailable) {
		err = errors.Join(err, k.dist.condemn())
	}
	return err
}

// bringUp tries other ports if another process has taken one. After an error it has removed everything.
func (k *Kafka) bringUp(ctx context.Context, folder string) error {
	id := newClusterID()
	if k.kept != nil {
		id = k.kept.ClusterID
	}
	disks, err := diskFolders(k.opts.Disks, id)
	if err != nil {
		return err
	}
	dir, owner, err := k.home.claimFolder(ctx, folder, k.kept != nil)
	if err != nil {
		return err
	}
	k.owner = owner
	k.startedAt = time.Now().UTC()
	k.layout = layout{clusterID: id, dir: dir, disks: disks}
	k.shared = sharedProperties(k.opts.Brokers)
	maps.Copy(k.shared, k.opts.Config)
	for attempt := 1; ; attempt++ {
		err := k.startBrokers(ctx)
		if err == nil {
			return nil
		}
		k.killAll()
		if !errors.Is(err, errPortTaken) || attempt == portAttempts {
			return errors.Join(err, k.discard())
		}
		tell(k.opts.Progress, "a port was taken in the meantime, trying others")
		if err := k.wipe(); err != nil {
			return errors.Join(err, k.discard())
		}
	}
}

func (k *Kafka) startBrokers(ctx context.Context) error {
	places, err := k.places()
	if err != nil {
		return err
	}
	k.layout.brokers = places
	k.brokers = nil
	for _, p := range places {
		k.brokers = append(k.brokers, &Broker{place: p, kafka: k})
	}
	if k.kept == nil { // a kept one keeps its record until it is up
		if err = k.writeRecord(stateOwned); err == nil {
			err = k.layout.makeDisks()
		}
		if err != nil {
			return err
		}
	}
	if err := k.launchAll(ctx); err != nil {
		return err
	}
	return awaitReady(ctx, k.brokers, len(k.brokers))
}

// After an error, brokers that have started still run.
func (k *Kafka) launchAll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(k.brokers))
	for _, b := range k.brokers {
		go func() { errs <- b.formatAndStart(ctx) }()
	}
	var first error
	for range k.brokers {
		if err := <-errs; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	return first
}

func (k *Kafka) places() ([]place, error) {
	n := k.opts.Brokers
	voters, agents := min(n, maxVoters), n
	if k.opts.NoMetrics {
		agents = 0
	}
	picked, err := k.opts.pickPorts(n + voters + agents)
	if err != nil {
		return nil, err
	}
	places := make([]place, n)
	for i := range places {
		places[i] = place{id: int32(i + 1), host: k.opts.Host, port: picked[i]}
		if i < voters {
			places[i].controllerPort = picked[n+i]
		}
		if i < agents {
			places[i].metricsPort = picked[n+voters+i]
		}
		if len(k.opts.Ports) == 0 {
			continue
		}
		places[i].port = k.opts.Ports[i]
		if !portFree(places[i].port) {
			return nil, &Error{
				Kind: ErrUnavailable, What: fmt.Sprintf("port %d on %s is taken", places[i].port, host),
				Remedy: "stop the process that listens there, or remove the cluster with: kafka-bench cluster down",
			}
		}
	}
	return places, nil
}

// Bootstrap returns the addresses of all brokers.
func (k *Kafka) Bootstrap() []string {
	addrs := make([]string, len(k.brokers))
	for i, b := range k.brokers {
		addrs[i] = b.Addr()
	}
	return addrs
}

// Info describes the cluster, with all properties that were set.
func (k *Kafka) Info() Info {
	return k.record(stateOwned).info()
}

// Processes returns the brokers that run now.
func (k *Kafka) Processes() []Process {
	var processes []Process
	for _, b := range k.brokers {
		if b.Alive() {
			processes = append(processes, Process{
				ID: b.id, PID: b.PID(), DataDirs: k.layout.dataDirs(b.id), HeapMaxBytes: k.opts.HeapBytes,
			})
		}
	}
	return processes
}

// MetricsEndpoints returns the address of each broker's agent, also while the broker is stopped; nil without
// agents.
func (k *Kafka) MetricsEndpoints() []MetricsEndpoint {
	var endpoints []MetricsEndpoint
	for _, b := range k.brokers {
		if b.metricsPort != 0 {
			endpoints = append(endpoints, endpoint(b.id, b.metricsPort))
		}
	}
	return endpoints
}

// Brokers returns the brokers, ordered by ID.
func (k *Kafka) Brokers() []*Broker { return k.brokers }

// Dir returns the cluster's folder. Stop removes it, unless KafkaOptions.Keep is set.
func (k *Kafka) Dir() string { return k.layout.dir }

// Dist returns the Kafka that the brokers run.
func (k *Kafka) Dist() Dist { return k.dist }

// Stop stops all brokers and removes the cluster's folder. It kills brokers that have not ended when ctx ends or
// after 3 s (10 s if the folder is kept). If a broker had already died, the error has the end of its log, and the
// logs are kept. Later calls return the same error.
func (k *Kafka) Stop(ctx context.Context) error {
	k.stop.Do(func() {
		var died error
		for _, b := range k.brokers {
			if b.deserted() {
				died = errors.Join(died, b.deathError("died during the run"))
			}
		}
		k.shutdownAll(ctx)
		if died != nil {
			k.stopErr = errors.Join(died, k.keepLogs())
			return
		}
		k.stopErr = k.discard()
	})
	return k.stopErr
}

func (k *Kafka) serving() int {
	n := 0
	for _, b := range k.brokers {
		if b.Alive() && !b.Paused() {
			n++
		}
	}
	return n
}

func (k *Kafka) shutdownAll(ctx context.Context) {
	grace := discardGrace
	if k.opts.Keep {
		grace = stopGrace
	}
	var wg sync.WaitGroup
	for _, b := range k.brokers {
		wg.Go(func() { b.shutdown(ctx, grace) })
	}
	wg.Wait()
}

// The arguments contain the path of the cluster's folder, by which Reap recognises the process.
func (k *Kafka) command(id int32, jvm []string, class string, args ...string) *exec.Cmd {
	var all []string
	if k.classes != "" {
		all = append(all, "-XX:SharedArchiveFile="+k.classes)
	}
	all = append(append(all, jvm...),
		"-Dlog4j2.configurationFile="+k.layout.logConfigPath(),
		"-Dkafkabench.log="+k.layout.logPath(id),
		"-cp", k.dist.Classpath(), class)
	cmd := exec.Command(k.java.Path, append(all, args...)...)
	cmd.Env = childenv.Java()
	return cmd
}

func (k *Kafka) killAll() {
	for _, b := range k.brokers {
		if b.current() != nil {
			b.Kill()
		}
	}
}

func (k *Kafka) wipe() error {
	l := k.layout
	for _, b := range k.brokers {
		for _, path := range []string{l.logPath(b.id), l.outPath(b.id), l.pidPath(b.id)} {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("clean up after a failed start: %w", err)
			}
		}
	}
	if k.kept != nil {
		return nil
	}
	return l.removeData()
}

func (k *Kafka) discard() error {
	defer k.owner.unlock()
	switch {
	case k.kept != nil: // its record is as it was
		return nil
	case k.opts.Keep:
		return k.writeRecord(stateKept)
	}
	return k.home.removeFolder(k.Dir())
}

func (k *Kafka) keepLogs() error {
	defer k.owner.unlock()
	if err := k.layout.removeData(); err != nil {
		return err
	}
	if err := k.writeRecord(stateKept); err != nil {
		return err
	}
	return &Error{Kind: ErrUnavailable, What: "the logs of all brokers are kept in " + filepath.Join(k.Dir(), "logs")}
}

func (k *Kafka) record(state string) record {
	settings := maps.Clone(k.shared)
	settings["jvm"] = strings.Join(jvmOptions(k.opts.HeapBytes, k.opts.JVM), " ")
	settings["java.version"] = k.java.Version
	settings["heap.bytes"] = strconv.FormatInt(k.opts.HeapBytes, 10)
	o := k.opts
	r := record{
		Version: recordVersion, Name: k.name, State: state, Owner: os.Getpid(), StartedAt: k.startedAt,
		Kafka: k.dist.Version, ClusterID: k.layout.clusterID, HeapBytes: o.HeapBytes, Settings: settings,
		Disks: k.layout.disks, Options: &recordOptions{o.Version, o.Brokers, o.HeapBytes, o.JVM, o.Config, o.NoMetrics,
			o.Disks},
	}
	for _, b := range k.brokers {
		r.Brokers = append(r.Brokers, brokerRecord{ID: b.id, Port: b.port, MetricsPort: b.metricsPort})
	}
	return r
}

func (k *Kafka) writeRecord(state string) error {
	if err := writeJSON(k.layout.recordPath(), k.record(state)); err != nil {
		return fmt.Errorf("record the cluster: %w", err)
	}
	return nil
}
