package cluster

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/native"
)

// MaxBrokers limits a local cluster: each broker is a JVM.
const MaxBrokers = 9

const (
	heapAloneBytes  = 1 << 30   // of a single broker, as in Kafka's own scripts
	heapSharedBytes = 512 << 20 // of each of several brokers
	heapMinBytes    = 128 << 20
)

// KafkaOptions configures a local Kafka. The zero value is one broker with default settings.
type KafkaOptions struct {
	// Version is the release line of Kafka, for instance 4.3: one of scenario.KafkaVersions; "" is
	// the default.
	Version string
	// Brokers is 1 to MaxBrokers; 0 means 1.
	Brokers int
	// HeapBytes is the heap of each broker's JVM, at least 128 MiB; 0 means 1 GiB, or 512 MiB for several brokers.
	HeapBytes int64
	// JVM holds further options for each broker's JVM, which may select another garbage collector.
	JVM []string
	// Config holds broker properties that override the tool's own. It can't set properties of a
	// broker's identity or listeners.
	Config map[string]string
	// NoMetrics starts the brokers without the metrics agent (see Metered).
	NoMetrics bool
	// Disks are existing folders. Each broker keeps its logs in all of them; if empty, in the cluster's folder.
	Disks []string
	// Ports are the ports for clients, one for each broker; empty means free ones.
	Ports []int
	// Host is the address that brokers listen on for clients; "" means 127.0.0.1.
	Host string
	// Keep makes Stop keep the cluster's folder.
	Keep bool
	// Progress receives short sentences about slow steps; it may be nil.
	Progress func(string)

	pickPorts func(n int) ([]int, error)
	// orphaned starts brokers that survive their owner, for tests of Reap.
	orphaned bool
}

func (o KafkaOptions) withDefaults() KafkaOptions {
	if o.Version == "" {
		o.Version = versions[len(versions)-1].Line
	}
	if o.Brokers == 0 {
		o.Brokers = 1
	}
	if o.HeapBytes == 0 {
		o.HeapBytes = heapSharedBytes
		if o.Brokers == 1 {
			o.HeapBytes = heapAloneBytes
		}
	}
	if o.Host == "" {
		o.Host = host
	}
	if o.pickPorts == nil {
		o.pickPorts = freePorts
	}
	return o
}

func (o KafkaOptions) withAbsoluteDisks() (KafkaOptions, error) {
	disks, err := absolute(o.Disks)
	if len(disks) > 0 {
		o.Disks = disks
	}
	return o, err
}

// Validate returns all mistakes in the options, as Errors of kind ErrInput, or nil.
func (o KafkaOptions) Validate() error {
	o = o.withDefaults()
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, &Error{Kind: ErrInput, What: fmt.Sprintf(format, args...)})
	}
	refuse := func(problem, remedy string) bool {
		if problem != "" {
			faults = append(faults, &Error{Kind: ErrInput, What: problem, Remedy: remedy})
		}
		return problem != ""
	}
	if _, err := versionOf(o.Version); err != nil {
		faults = append(faults, err)
	}
	for i, dir := range o.Disks {
		if !refuse(DiskFault(dir)) && slices.ContainsFunc(o.Disks[:i], func(other string) bool { return filepath.Clean(other) == filepath.Clean(dir) }) {
			fault("the folder %q is named twice", dir)
		}
	}
	if o.Brokers < 1 || o.Brokers > MaxBrokers {
		fault("a local cluster has 1 to %d brokers, not %d", MaxBrokers, o.Brokers)
	}
	if o.HeapBytes < heapMinBytes {
		fault("a broker needs a heap of at least 128 MiB, not %d bytes", o.HeapBytes)
	}
	if len(o.Ports) != 0 && len(o.Ports) != o.Brokers {
		fault("%d ports for %d brokers: name one for each broker, or none", len(o.Ports), o.Brokers)
	}
	for i, port := range o.Ports {
		if port < 1 || port > 65535 {
			fault("port %d is not between 1 and 65535", port)
		} else if slices.Contains(o.Ports[:i], port) {
			fault("port %d is named twice", port)
		}
	}
	for _, option := range o.JVM {
		refuse(native.JVMFault(option))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Config)) {
		refuse(native.PropertyFault(name))
	}
	return errors.Join(faults...)
}
