package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A local broker reports its metrics on loopback through an agent in its own process (Prometheus' JMX exporter);
// remote JMX would need a client in Java. The agent reads only these MBeans, and only the count and mean of a
// histogram: each percentile would sort a thousand samples.

// AgentVersion is the version of the agent.
const AgentVersion = "1.0.1"

// Agent returns the path of the agent's jar. It contains copies of the broker's libraries, so it must not be on the
// broker's classpath.
func (d Dist) Agent() string {
	return filepath.Join(d.Dir, agentFolder, "jmx_prometheus_javaagent-"+AgentVersion+".jar")
}

const (
	agentFolder = "agent"
	agentConfig = "agent.yaml"
)

func (l layout) agentConfigPath() string { return filepath.Join(l.dir, agentConfig) }

func (k *Kafka) agentOption(p place) []string {
	if p.metricsPort == 0 {
		return nil
	}
	return []string{fmt.Sprintf("-javaagent:%s=%s:%d:%s", k.dist.Agent(), host, p.metricsPort,
		k.layout.agentConfigPath())}
}

func endpoint(id int32, port int) MetricsEndpoint {
	return MetricsEndpoint{ID: id, URL: fmt.Sprintf("http://%s:%d/metrics", host, port)}
}

var (
	agentRequests = []string{"Produce", "FetchConsumer", "FetchFollower", "Metadata", "OffsetCommit", "OffsetFetch",
		"ListOffsets"}
	agentPhases = []string{
		"TotalTimeMs", "RequestQueueTimeMs", "LocalTimeMs", "RemoteTimeMs", "ThrottleTimeMs", "ResponseQueueTimeMs",
		"ResponseSendTimeMs",
	}
	agentMeters = []string{
		"kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent",
		"kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", // before Kafka 4.2
		"kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec",
		"kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec",
	}
	agentTimers = []string{"kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs"}
	agentOthers = []string{
		"kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
		"kafka.controller:type=KafkaController,name=ActiveControllerCount", // exists only in a controller
		"kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*",
	}
)

// The agent leaves these out: they cost too much, or are rates over another time than the run's.
const (
	ofHistogram = "Min, Max, StdDev, 50thPercentile, 75thPercentile, 95thPercentile, 98thPercentile, 99thPercentile, 999thPercentile"
	ofMeter     = "MeanRate, OneMinuteRate, FiveMinuteRate, FifteenMinuteRate, RateUnit, EventType"
)

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
