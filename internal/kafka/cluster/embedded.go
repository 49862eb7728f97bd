package cluster

import (
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

// kfakeModule is where the embedded cluster comes from.
const kfakeModule = "github.com/twmb/franz-go/pkg/kfake"

// embeddedNote is the caveat that every figure of an embedded cluster carries.
const embeddedNote = "embedded broker: the figures describe the harness, not Apache Kafka"

// Retention of the embedded cluster. It holds every record in memory: what a
// run may use is this many bytes for each partition, and what is produced
// between two sweeps. Memory is freed by whole segments, so they are small.
const (
	embeddedRetentionBytes = 64 << 20
	embeddedSegmentBytes   = 4 << 20
	embeddedSweep          = time.Second
)

// minSessionTimeout is a property that kfake takes as an option, and not as a property.
const minSessionTimeout = "group.min.session.timeout.ms"

// EmbeddedOptions says what kind of embedded cluster to start. The zero value
// is one broker.
type EmbeddedOptions struct {
	// Brokers is 1 to MaxBrokers; 0 is 1. They share one core, and nothing is
	// replicated between them.
	Brokers int
	// RetentionBytes bounds the memory that the records of one partition take:
	// the oldest go first, delivered or not. 0 is 64 MiB.
	RetentionBytes int64
	// ProduceDelay holds each produce request back for this long before a
	// broker sees it: acks and deliveries come later by exactly that.
	ProduceDelay time.Duration
	// ProducePerSecond is how many records the brokers take in a second, all of
	// them together: a produce request is held back until its turn has come.
	// 0 is as many as they can.
	ProducePerSecond int64
	// FetchDelay holds each fetch response back for this long before it is
	// sent. A record that arrives while a response is held back waits for the
	// next one: deliveries come later by once to twice that.
	FetchDelay time.Duration
	// Network is what the brokers listen on instead of this machine's loopback, for
	// runs in virtual time (testing/synctest). Connections are then opened by the
	// cluster's Access.
	Network *kfake.VirtualNetwork
	// Config has properties of the brokers, those that kfake knows, over the ones
	// that the fields above make.
	Config map[string]string
}

// Embedded is franz-go's kfake: a Kafka in this process, for trying the tool and
// for tests.
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
	if opts.RetentionBytes == 0 {
		opts.RetentionBytes = embeddedRetentionBytes
	}
	if opts.Brokers < 1 || opts.Brokers > MaxBrokers || opts.RetentionBytes < 0 || opts.ProduceDelay < 0 ||
		opts.FetchDelay < 0 || opts.ProducePerSecond < 0 {
		return nil, &Error{
			Kind: ErrInput, What: fmt.Sprintf("an embedded cluster can't have %+v", opts),
			Remedy: fmt.Sprintf("give it 1 to %d brokers, and no negative sizes, rates or times", MaxBrokers),
		}
	}
	id := newClusterID()
	settings := map[string]string{
		"log.retention.bytes": fmt.Sprint(opts.RetentionBytes),
		"log.segment.bytes":   fmt.Sprint(embeddedSegmentBytes),
		"log.retention.ms":    "-1", // only by size: by age, each sweep would visit every batch
	}
	maps.Copy(settings, opts.Config)
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

// virtualPorts are those of n brokers on a network of their own.
func virtualPorts(n int) []int {
	ports := make([]int, n)
	for i := range ports {
		ports[i] = 9092 + i
	}
	return ports
}

// sweep applies the retention. kfake does so by itself only for topics that
// have a retention of their own.
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

// Info describes the cluster. Its note says that the figures are not Kafka's.
func (e *Embedded) Info() Info { return e.info }

// Access is how clients reach the cluster: in plain text, and through its Network.
func (e *Embedded) Access() access.Access { return e.access }

// Stop ends the cluster and frees its records.
func (e *Embedded) Stop(context.Context) error {
	e.stop.Do(func() {
		close(e.stopSweep)
		e.sweeps.Wait()
		e.fake.Close()
	})
	return nil
}

// Fake is the kfake cluster itself, for tests that inject faults. It must not be
// closed but by Stop.
func (e *Embedded) Fake() *kfake.Cluster { return e.fake }

// kfakeVersion is the module version of kfake that this binary was built with.
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
