package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	host = "127.0.0.1"
	// Three controllers survive the loss of one; more would only be slower.
	maxVoters = 3
	// Eight partitions spread groups over the brokers, and are created sooner than Kafka's default of 50.
	internalPartitions = 8
)

func sharedProperties(brokers int) map[string]string {
	replication := strconv.Itoa(min(brokers, 3))
	// If both of two replicas had to be in sync, an internal topic would stop at the first restart.
	minInSync := strconv.Itoa(max(1, min(brokers, 3)-1))
	partitions := strconv.Itoa(internalPartitions)
	return map[string]string{
		"auto.create.topics.enable": "false", // a mistyped name must fail, not create a topic

		"offsets.topic.replication.factor":                 replication,
		"offsets.topic.num.partitions":                     partitions,
		"transaction.state.log.replication.factor":         replication,
		"transaction.state.log.min.isr":                    minInSync,
		"transaction.state.log.num.partitions":             partitions,
		"share.coordinator.state.topic.replication.factor": replication,
		"share.coordinator.state.topic.min.isr":            minInSync,
		"share.coordinator.state.topic.num.partitions":     partitions,
		"group.initial.rebalance.delay.ms":                 "0",    // a run waits for its group anyway
		"log.segment.delete.delay.ms":                      "1000", // frees the disk soon after a topic is deleted
		"controlled.shutdown.enable":                       "true",
		"listener.security.protocol.map":                   "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"controller.listener.names":                        "CONTROLLER",
	}
}

type layout struct {
	clusterID string
	dir       string
	disks     []string // the cluster's own folders on other disks; if empty, the data is in dir
	brokers   []place  // by ID, from 1
}

type place struct {
	id             int32
	host           string
	port           int // for clients and other brokers
	controllerPort int // 0 for a broker that is not a controller
	metricsPort    int // of its agent; 0 without one
}

func (p place) addr() string { return fmt.Sprintf("%s:%d", cmp.Or(p.host, host), p.port) }

// The quorum is static: a dynamic one (KIP-853) would have to be formatted into each disk.
func (l layout) voters() string {
	var voters []string
	for _, p := range l.brokers {
		if p.controllerPort != 0 {
			voters = append(voters, fmt.Sprintf("%d@%s:%d", p.id, host, p.controllerPort))
		}
	}
	return strings.Join(voters, ",")
}

func (l layout) brokerProperties(p place, shared map[string]string) map[string]string {
	props := maps.Clone(shared)
	props["process.roles"] = "broker"
	props["listeners"] = "PLAINTEXT://" + p.addr()
	if p.controllerPort != 0 {
		props["process.roles"] = "broker,controller"
		props["listeners"] += fmt.Sprintf(",CONTROLLER://%s:%d", host, p.controllerPort)
	}
	props["advertised.listeners"] = "PLAINTEXT://" + p.addr()
	props["controller.quorum.voters"] = l.voters()
	props["node.id"] = strconv.Itoa(int(p.id))
	props["log.dirs"] = strings.Join(l.dataDirs(p.id), ",")
	return props
}

func formatProperties(props map[string]string) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(props)) {
		b.WriteString(name + "=" + propertyEscaper.Replace(props[name]) + "\n")
	}
	return []byte(b.String())
}

// propertyEscaper does not keep leading blanks, which no property has.
var propertyEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)

// The user's options come last, and override the others.
func jvmOptions(heapBytes int64, extra []string) []string {
	heap := fmt.Sprintf("%dk", heapBytes>>10)
	options := []string{"-server", "-Xms" + heap, "-Xmx" + heap, "-Djava.awt.headless=true"}
	if !choosesCollector(extra) {
		options = append(options, "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
			"-XX:+ExplicitGCInvokesConcurrent")
	}
	return append(options, extra...)
}

// The JVM accepts only one collector.
func choosesCollector(options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		return strings.HasPrefix(o, "-XX:+Use") && strings.HasSuffix(o, "GC")
	})
}
