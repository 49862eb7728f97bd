package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// DefaultName is the default name of a long-lived cluster.
const DefaultName = "default"

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Named is a cluster made by Up, which runs without an owner until Down.
type Named struct {
	dir    string
	record record
}

// Status describes a named cluster.
type Status struct {
	Name      string
	Dir       string   // with the logs, in logs/
	Disks     []string // its folders on other disks, with the data
	StartedAt time.Time
	Info      Info
	Brokers   []BrokerStatus
	// Problem is why a run can't use the cluster now; nil if it can.
	Problem error
}

// BrokerStatus is one broker of a named cluster.
type BrokerStatus struct {
	ID    int32
	Addr  string
	PID   int  // 0 if it never ran
	Alive bool // whether that process still is this broker
}

// Up starts a cluster that outlives this process and returns when it is ready. A name has up to 32 lower-case
// letters, digits and dashes. A running cluster is ErrAlreadyUp; one whose brokers have all died is replaced. A
// cluster that Keep stopped starts again with its ID, data and addresses. opts may change its options, except
// version, brokers and disks (ErrInput).
func (h Home) Up(ctx context.Context, name string, opts KafkaOptions) (*Named, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts, err := opts.withAbsoluteDisks() // a later Up may run in another folder
	if err != nil {
		return nil, err
	}
	lock, err := h.lockName(ctx, name)
	if err != nil {
		return nil, err
	}
	defer lock.unlock()
	kept, err := h.makeRoom(name)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		if opts, err = kept.again(opts); err != nil {
			return nil, err
		}
	}
	if _, err := h.Reap(ctx, opts.Progress); err != nil {
		tell(opts.Progress, "remains of an earlier cluster could not be removed: %v", err)
	}
	opts.Keep = kept != nil // a new cluster that does not start leaves nothing
	k := &Kafka{home: h, opts: opts.withDefaults(), name: name, detached: true, kept: kept}
	if err := k.start(ctx, namedFolder(name)); err != nil {
		return nil, err
	}
	defer k.owner.unlock()
	if err := k.writeRecord(stateUp); err != nil {
		k.killAll()
		return nil, err
	}
	return &Named{dir: k.Dir(), record: k.record(stateUp)}, nil
}

func (h Home) makeRoom(name string) (kept *record, err error) {
	n, err := h.upOrKept(name)
	if errors.Is(err, ErrNotUp) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, err
	}
	if n.record.State == stateKept {
		return &n.record, killBrokers(n.dir) // left by an Up or a Keep that was killed
	}
	if len(n.Processes()) > 0 {
		return nil, &Error{
			Kind: ErrAlreadyUp, What: fmt.Sprintf("the cluster %q is up already, at %v", name, n.Bootstrap()),
			Remedy: "use it, or end it with: " + command("down", name),
		}
	}
	return nil, h.removeFolder(n.dir)
}

// again returns opts. What opts does not set comes from the kept cluster's record, if the
// record has it.
func (r record) again(opts KafkaOptions) (KafkaOptions, error) {
	had := r.Options
	again := opts
	again.Version = cmp.Or(opts.Version, had.Version)
	again.Brokers = cmp.Or(opts.Brokers, had.Brokers)
	again.HeapBytes = cmp.Or(opts.HeapBytes, had.HeapBytes)
	if opts.JVM == nil {
		again.JVM = had.JVM
	}
	if opts.Config == nil {
		again.Config = had.Config
	}
	if opts.Disks == nil {
		again.Disks = had.Disks
	}
	again.NoMetrics = opts.NoMetrics || had.NoMetrics
	if len(opts.Ports) == 0 {
		for _, b := range r.Brokers {
			again.Ports = append(again.Ports, b.Port)
		}
	}
	if again.Version != had.Version || again.Brokers != had.Brokers || !slices.Equal(again.Disks, had.Disks) {
		what := fmt.Sprintf("the cluster %q was kept with its data, with Kafka %s and brokers: %d", r.Name, had.Version,
			had.Brokers)
		if len(had.Disks) > 0 {
			what += ", on the disks " + strings.Join(had.Disks, ", ")
		}
		return opts, &Error{Kind: ErrInput, What: what,
			Remedy: "start it as it was with: kafka-bench cluster up, or remove it with: kafka-bench cluster down"}
	}
	for _, own := range r.Disks {
		if _, err := os.Stat(own); err != nil {
			return opts, &Error{Kind: ErrInput, What: fmt.Sprintf("data of the cluster %q are gone", r.Name), Cause: err,
				Remedy: "mount that disk, or remove the cluster with: kafka-bench cluster down"}
		}
	}
	return again, again.Validate()
}

// Down stops the named cluster and removes it with its data, also a kept one. It kills brokers that have not ended
// when ctx ends or after 3 s. A missing cluster is ErrNotUp.
func (h Home) Down(ctx context.Context, name string) error {
	find := func(name string) (*Named, error) {
		n, err := h.upOrKept(name)
		return n, withoutRemedy(err)
	}
	return h.onNamed(ctx, name, find, func(n *Named) error {
		if err := n.end(ctx, discardGrace); err != nil {
			return err
		}
		return h.removeFolder(n.dir)
	})
}

// Keep stops the named cluster and keeps its data for a later Up. A cluster that is not up is ErrNotUp. The cluster is
// recorded as kept before its brokers end, for an interrupt in between must not let a later Up remove the data.
func (h Home) Keep(ctx context.Context, name string) error {
	find := func(name string) (*Named, error) {
		n, err := h.upOrKept(name)
		err = withoutRemedy(err)
		if err == nil && n.record.State == stateKept && len(n.Processes()) == 0 { // else an earlier Keep did not end
			n, err = h.load(name)
		}
		if err == nil && n.record.Options == nil {
			err = &Error{Kind: ErrInput,
				What:   fmt.Sprintf("an older kafka-bench started the cluster %q and did not record its options", name),
				Remedy: "end it with: " + command("down", name) + ", which removes its data"}
		}
		return n, err
	}
	return h.onNamed(ctx, name, find, func(n *Named) error {
		n.record.State = stateKept
		if err := writeJSON(layout{dir: n.dir}.recordPath(), n.record); err != nil {
			return fmt.Errorf("record the cluster: %w", err)
		}
		return n.end(ctx, orderlyGrace)
	})
}

func (h Home) onNamed(ctx context.Context, name string, find func(string) (*Named, error), do func(*Named) error) error {
	lock, err := h.lockName(ctx, name)
	if err != nil {
		return err
	}
	defer lock.unlock()
	n, err := find(name)
	if err != nil {
		return err
	}
	return do(n)
}

// Find returns the named cluster for a run, after checking that all its brokers live.
func (h Home) Find(ctx context.Context, name string) (*Named, error) {
	n, err := h.load(name)
	if err != nil {
		return nil, orKind(name, err)
	}
	if err := n.problem(ctx); err != nil {
		return nil, err
	}
	return n, nil
}

// orKind suggests the kind of cluster that a name nearly is: both are values of one flag.
func orKind(name string, err error) error {
	near := spelling.Nearest(name, []string{KindKafka, KindEmbedded})
	var notUp *Error
	if near == "" || !errors.As(err, &notUp) || !errors.Is(notUp.Kind, ErrNotUp) {
		return err
	}
	meant := *notUp
	meant.Remedy = "did you mean " + near + "? If not, " + meant.Remedy
	return &meant
}

// Status describes the named cluster, usable or not.
func (h Home) Status(ctx context.Context, name string) (Status, error) {
	n, err := h.load(name)
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Name: name, Dir: n.dir, Disks: n.record.Disks, StartedAt: n.record.StartedAt, Info: n.Info(), Brokers: n.brokers(),
		Problem: n.problem(ctx),
	}
	return s, nil
}

// Names returns the names of the clusters that are up, and of those whose data are kept.
func (h Home) Names() (names []string) {
	dirs, _ := filepath.Glob(filepath.Join(h.Clusters, namedFolder("*"))) // only a bad pattern is an error
	for _, dir := range dirs {
		name := strings.TrimPrefix(filepath.Base(dir), namedFolder(""))
		if _, err := h.upOrKept(name); err == nil {
			names = append(names, name)
		}
	}
	return names
}

func (h Home) load(name string) (*Named, error) {
	n, err := h.upOrKept(name)
	if err == nil && n.record.State == stateKept {
		return nil, &Error{
			Kind: ErrNotUp, What: fmt.Sprintf("the cluster %q is not up; its data are kept in %s", name, n.dir),
			Remedy: "start it again with: " + command("up", name) + ", or remove it with: " + command("down", name),
		}
	}
	return n, err
}

func (h Home) upOrKept(name string) (*Named, error) {
	if !namePattern.MatchString(name) {
		return nil, &Error{
			Kind: ErrInput, What: fmt.Sprintf("%q is not a valid name for a cluster", name),
			Remedy: "use up to 32 lower-case letters, digits and dashes",
		}
	}
	dir := filepath.Join(h.Clusters, namedFolder(name))
	r, err := readRecord(dir)
	if err == nil && (r.State == stateUp || r.State == stateKept && r.Options != nil) {
		return &Named{dir: dir, record: r}, nil
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return nil, &Error{
			Kind: ErrNotUp, What: fmt.Sprintf("the cluster %q is not up", name),
			Remedy: "start it with: " + command("up", name),
		}
	}
	return nil, err
}

// withoutRemedy leaves out how to start a cluster that is not up, for a command that ends one.
func withoutRemedy(err error) error {
	var notUp *Error
	if !errors.As(err, &notUp) || !errors.Is(notUp.Kind, ErrNotUp) {
		return err
	}
	return &Error{Kind: ErrNotUp, What: notUp.What, Remedy: "there is nothing to end"}
}

// command is the command line that brings the named cluster up or down.
func command(verb, name string) string {
	line := "kafka-bench cluster " + verb
	if name != DefaultName {
		line += " --name " + name
	}
	return line
}

func (h Home) lockName(ctx context.Context, name string) (*fileLock, error) {
	if _, err := h.load(name); errors.Is(err, ErrInput) {
		return nil, err
	}
	if err := makeDir(h.Clusters); err != nil {
		return nil, err
	}
	return lockFile(ctx, filepath.Join(h.Clusters, "."+name+".lock"), nil)
}

func namedFolder(name string) string { return folderPrefix + "up-" + name }

// Bootstrap returns the addresses of all brokers.
func (n *Named) Bootstrap() []string {
	var addrs []string
	for _, b := range n.record.Brokers {
		addrs = append(addrs, place{port: b.Port}.addr())
	}
	return addrs
}

// Info describes the cluster, with all properties that were set.
func (n *Named) Info() Info { return n.record.info() }

// MetricsEndpoints returns the address of each broker's agent.
func (n *Named) MetricsEndpoints() []MetricsEndpoint {
	var endpoints []MetricsEndpoint
	for _, b := range n.record.Brokers {
		if b.MetricsPort != 0 {
			endpoints = append(endpoints, endpoint(b.ID, b.MetricsPort))
		}
	}
	return endpoints
}

// Stop does nothing: only Down stops the cluster.
func (n *Named) Stop(context.Context) error { return nil }

// Dir returns the cluster's folder.
func (n *Named) Dir() string { return n.dir }

// Processes returns the brokers that run now.
func (n *Named) Processes() []Process {
	var processes []Process
	for _, b := range n.brokers() {
		if b.Alive {
			processes = append(processes, Process{
				ID: b.ID, PID: b.PID, DataDirs: layout{dir: n.dir, disks: n.record.Disks}.dataDirs(b.ID),
				HeapMaxBytes: n.record.HeapBytes,
			})
		}
	}
	return processes
}

func (n *Named) brokers() []BrokerStatus {
	var brokers []BrokerStatus
	for _, b := range n.record.Brokers {
		s := BrokerStatus{ID: b.ID, Addr: place{port: b.Port}.addr()}
		if id, err := readPID(pidPath(n.dir, b.ID)); err == nil {
			s.PID, s.Alive = id.PID, id.runsIn(n.dir)
		}
		brokers = append(brokers, s)
	}
	return brokers
}

func (n *Named) problem(ctx context.Context) error {
	for _, b := range n.brokers() {
		if !b.Alive {
			return &Error{
				Kind: ErrUnreachable, What: fmt.Sprintf("broker %d of the cluster %q has died", b.ID, n.record.Name),
				Remedy: "end the rest with: kafka-bench cluster down",
				Log:    tailFile(layout{dir: n.dir}.logPath(b.ID), tailLines),
			}
		}
	}
	_, err := Connect(ctx, n.Bootstrap(), n.record.ClusterID, access.Access{})
	return err
}

// The brokers are not children of this process, so end finds them by pid files.
func (n *Named) end(ctx context.Context, grace time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok {
		grace = min(grace, time.Until(deadline))
	}
	var wg sync.WaitGroup
	errs := make([]error, len(n.record.Brokers))
	for i, b := range n.record.Brokers {
		id, err := readPID(pidPath(n.dir, b.ID))
		if err != nil || !id.runsIn(n.dir) {
			continue
		}
		wg.Go(func() { errs[i] = id.end(grace) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
