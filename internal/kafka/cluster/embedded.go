package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const kfakeModule = "github.com/twmb/franz-go/pkg/kfake"

const embeddedNote = "embedded broker: the figures describe the harness, not Apache Kafka"

// Every record is in memory. A partition may use this many bytes, plus what is produced between two sweeps. kfake
// frees whole segments.
const (
	embeddedRetentionBytes = 64 << 20
	embeddedSegmentBytes   = 4 << 20
	embeddedSweep          = time.Second
)

// minSessionTimeout is a property that kfake supports only as an option.
const minSessionTimeout = "group.min.session.timeout.ms"

// EmbeddedOptions configures an embedded cluster. The zero value is one broker.
type EmbeddedOptions struct {
	// Brokers is 1 to MaxBrokers; 0 means 1. They share one core and replicate nothing.
	Brokers int
	// RetentionBytes limits the records of one partition; the oldest are deleted first, read or not. 0 means 64
	// MiB.
	RetentionBytes int64
	// ProduceDelay delays each produce request before a broker sees it.
	ProduceDelay time.Duration
	// ProducePerSecond is how many records a second all brokers together accept; they delay further
	// records. 0 means no limit.
	ProducePerSecond int64
	// FetchDelay delays each fetch response. A record that arrives meanwhile waits for the next
	// response, so deliveries come later by one to two times FetchDelay.
	FetchDelay time.Duration
	// Network replaces loopback, for runs in virtual time (testing/synctest). Clients then must dial with the cluster's
	// Access.
	Network *kfake.VirtualNetwork
	// Config holds broker properties that kfake supports. They override those that the fields above set.
	Config map[string]string
}

// Embedded is franz-go's kfake: a fake Kafka in this process, for trials and tests.
type Embedded struct {
	fake      *kfake.Cluster
	access    access.Access
	bootstrap []string
	info      Info
	stopSweep chan struct{}
	sweeps    sync.WaitGroup
	stop      sync.Once
}

// StartEmbedded starts an embedded cluster. The caller must Stop it.
func StartEmbedded(opts EmbeddedOptions) (*Embedded, error) {
	if opts.Brokers == 0 {
		opts.Brokers = 1
	}
	if opts.Brokers < 1 || opts.Brokers > MaxBrokers || opts.RetentionBytes < 0 || opts.ProduceDelay < 0 ||
		opts.FetchDelay < 0 || opts.ProducePerSecond < 0 {
		return nil, &Error{
			Kind: ErrInput, What: fmt.Sprintf("an embedded cluster can't have %+v", opts),
			Remedy: fmt.Sprintf("give it 1 to %d brokers, and no negative sizes, rates or times", MaxBrokers),
		}
	}
	id := newClusterID()
	settings := opts.Settings()
	fakeOpts := []kfake.Opt{
		kfake.NumBrokers(opts.Brokers), kfake.ClusterID(id), kfake.BrokerConfigs(settings),
	}
	if ms, err := strconv.Atoi(settings[minSessionTimeout]); err == nil {
		fakeOpts = append(fakeOpts, kfake.GroupMinSessionTimeout(time.Duration(ms)*time.Millisecond))
	}
	listen, access := net.Listen, access.Access{}
	if opts.Network != nil {
		listen, access.Dial = opts.Network.Listen, opts.Network.DialContext
		fakeOpts = append(fakeOpts, kfake.Ports(virtualPorts(opts.Brokers)...))
	}
	if opts.ProduceDelay > 0 || opts.FetchDelay > 0 || opts.ProducePerSecond > 0 {
		line := delays{
			under: listen, produce: opts.ProduceDelay, fetch: opts.FetchDelay,
			capacity: newCapacity(opts.ProducePerSecond),
		}
		listen = line.listen
	}
	fakeOpts = append(fakeOpts, kfake.ListenFn(parting{under: listen}.listen))
	fake, err := kfake.NewCluster(fakeOpts...)
	if err != nil {
		return nil, &Error{Kind: ErrUnavailable, What: "the embedded cluster did not start", Cause: err}
	}
	e := &Embedded{
		fake: fake, access: access, bootstrap: fake.ListenAddrs(), stopSweep: make(chan struct{}),
		info: Info{Kind: KindEmbedded, ID: id, Version: kfakeVersion(), Brokers: opts.Brokers, Note: embeddedNote,
			Settings: settings},
	}
	e.sweeps.Go(e.sweep)
	return e, nil
}

// Settings returns the broker properties of a cluster with these options.
func (o EmbeddedOptions) Settings() map[string]string {
	settings := map[string]string{
		"log.retention.bytes": fmt.Sprint(cmp.Or(o.RetentionBytes, embeddedRetentionBytes)),
		"log.segment.bytes":   fmt.Sprint(embeddedSegmentBytes),
		"log.retention.ms":    "-1", // only by size: by age, each sweep would visit every batch
	}
	maps.Copy(settings, o.Config)
	return settings
}

func virtualPorts(n int) []int {
	ports := make([]int, n)
	for i := range ports {
		ports[i] = 9092 + i
	}
	return ports
}

// kfake itself applies the retention only to topics that have a retention of their own.
func (e *Embedded) sweep() {
	ticker := time.NewTicker(embeddedSweep)
	defer ticker.Stop()
	for {
		select {
		case <-e.stopSweep:
			return
		case <-ticker.C:
			e.fake.ApplyRetention()
		}
	}
}

// Bootstrap returns the addresses of all brokers.
func (e *Embedded) Bootstrap() []string { return e.bootstrap }

// Info describes the cluster.
func (e *Embedded) Info() Info { return e.info }

// Access returns how clients reach the cluster: in plain text, through its Network.
func (e *Embedded) Access() access.Access { return e.access }

// Stop stops the cluster and frees its records.
func (e *Embedded) Stop(context.Context) error {
	e.stop.Do(func() {
		close(e.stopSweep)
		e.sweeps.Wait()
		e.fake.Close()
	})
	return nil
}

// Fake returns the kfake cluster, for tests that inject faults. Only Stop may close it.
func (e *Embedded) Fake() *kfake.Cluster { return e.fake }

func kfakeVersion() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range build.Deps {
		if module.Path == kfakeModule {
			return "kfake " + module.Version
		}
	}
	return ""
}
