package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A local broker tells about itself by an agent in its own process (Prometheus' JMX
// exporter), which answers on loopback with the broker's MBeans in Prometheus' text
// format. The alternative is remote JMX: Java's own protocol, which only Java speaks.
//
// The agent reads an MBean's attributes when it is asked, and only of those MBeans that
// its configuration names: Kafka has thousands. A histogram's percentiles sort a
// thousand samples each, so all but its count and mean are left out as well.

// AgentVersion is the agent that local brokers are started with.
const AgentVersion = "1.0.1"

// Agent is the agent's jar. It is in a folder of its own: it brings its own copies of
// libraries that the broker has, which must not be on the broker's classpath.
func (d Dist) Agent() string {
	return filepath.Join(d.Dir, agentFolder, "jmx_prometheus_javaagent-"+AgentVersion+".jar")
}

const (
	agentFolder = "agent"
	agentConfig = "agent.yaml"
)

func (l layout) agentConfigPath() string { return filepath.Join(l.dir, agentConfig) }

// agentOption has a broker's JVM load the agent; empty where the cluster goes without.
func (k *Kafka) agentOption(p place) []string {
	if p.metricsPort == 0 {
		return nil
	}
	return []string{fmt.Sprintf("-javaagent:%s=%s:%d:%s", k.dist.Agent(), host, p.metricsPort,
		k.layout.agentConfigPath())}
}

// endpoint is where the agent of a broker answers.
func endpoint(id int32, port int) MetricsEndpoint {
	return MetricsEndpoint{ID: id, URL: fmt.Sprintf("http://%s:%d/metrics", host, port)}
}

// What the agent is asked for. The types of requests are those that carry records,
// those of a group, and those by which the tool itself reads the lag.
var (
	agentRequests = []string{"Produce", "FetchConsumer", "FetchFollower", "Metadata", "OffsetCommit", "OffsetFetch",
		"ListOffsets"}
	agentPhases = []string{
		"TotalTimeMs", "RequestQueueTimeMs", "LocalTimeMs", "RemoteTimeMs", "ThrottleTimeMs", "ResponseQueueTimeMs",
		"ResponseSendTimeMs",
	}
	agentMeters = []string{
		"kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent",
		"kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", // of a Kafka before 4.2
		"kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec",
		"kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec",
	}
	agentTimers = []string{"kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs"}
	agentOthers = []string{
		"kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
		"kafka.controller:type=KafkaController,name=ActiveControllerCount", // tells that it is a controller too
		"kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*",
	}
)

// Attributes of Kafka's metrics that are left out: what they are made of is not
// worth its cost, or they are rates of another time than the run's.
const (
	ofHistogram = "Min, Max, StdDev, 50thPercentile, 75thPercentile, 95thPercentile, 98thPercentile, 99thPercentile, 999thPercentile"
	ofMeter     = "MeanRate, OneMinuteRate, FiveMinuteRate, FifteenMinuteRate, RateUnit, EventType"
)

// agentYAML is the agent's configuration. Without rules, the agent names metrics after
// their MBeans.
func agentYAML() []byte {
	var objects []string
	left := make(map[string]string)
	add := func(without string, names ...string) {
		for _, name := range names {
			objects, left[name] = append(objects, name), without
		}
	}
	for _, request := range agentRequests {
		for _, phase := range agentPhases {
			add(ofHistogram, fmt.Sprintf("kafka.network:type=RequestMetrics,name=%s,request=%s", phase, request))
		}
	}
	add(ofMeter, agentMeters...)
	add(ofHistogram+", "+ofMeter+", LatencyUnit", agentTimers...)
	add("", agentOthers...)

	var b strings.Builder
	b.WriteString("lowercaseOutputName: true\nincludeObjectNames:\n")
	for _, name := range objects {
		fmt.Fprintf(&b, "- %q\n", name)
	}
	b.WriteString("excludeObjectNameAttributes:\n")
	for _, name := range objects {
		if left[name] != "" {
			fmt.Fprintf(&b, "  %q: [%s]\n", name, left[name])
		}
	}
	return []byte(b.String())
}
