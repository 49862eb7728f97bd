package cluster

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// scrape asks a broker's agent.
func scrape(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url) //nolint:gosec,noctx // our own broker's, on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A broker tells about itself, at the same address after it was killed and started
// again, and tells nothing that it was not asked for.
func TestBrokerTellsOfItself(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{Config: map[string]string{"broker.session.timeout.ms": "2000"}})
	endpoints := k.MetricsEndpoints()
	if len(endpoints) != 1 || endpoints[0].ID != 1 {
		t.Fatalf("endpoints %+v", endpoints)
	}
	_, topic := testTopic(t, k, "told", 1, 1)
	produce(t, k, topic.Name, "record")
	text := scrape(t, endpoints[0].URL)
	for _, want := range []string{
		`kafka_network_requestmetrics_mean{name="TotalTimeMs",request="Produce"}`,
		`kafka_network_requestmetrics_count{name="RemoteTimeMs",request="FetchFollower"}`,
		`kafka_server_kafkarequesthandlerpool_count{name="BrokerRequestHandlerAvgIdlePercent"}`,
		`kafka_server_socket_server_metrics_io_wait_time_ns{listener="PLAINTEXT",networkProcessor="0"}`,
		`kafka_server_replicamanager_value{name="UnderReplicatedPartitions"}`,
		`kafka_log_logflushstats_mean{`, "process_start_time_seconds", "jvm_gc_collection_seconds_sum", "jmx_scrape_error 0.0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the broker does not tell %s", want)
		}
	}
	for _, costs := range []string{"requestmetrics_99thpercentile", "kafka_log_log_", "oneminuterate"} {
		if strings.Contains(text, costs) {
			t.Errorf("the broker tells %s, which nobody asked for", costs)
		}
	}
	broker := k.Brokers()[0]
	broker.Kill()
	if err := broker.Restart(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if again := k.MetricsEndpoints(); again[0] != endpoints[0] || !strings.Contains(scrape(t, again[0].URL), "process_start_time_seconds") {
		t.Errorf("after a restart: %+v", again)
	}
	if err := k.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestBrokerWithoutAgent(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{NoMetrics: true})
	if endpoints := k.MetricsEndpoints(); len(endpoints) != 0 {
		t.Errorf("endpoints %+v", endpoints)
	}
	if line, err := commandLine(k.Brokers()[0].PID()); err != nil || strings.Contains(line, "-javaagent") {
		t.Errorf("the broker runs with an agent: %s, %v", line, err)
	}
	if err := k.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestMeteredExisting(t *testing.T) {
	e := startEmbedded(t, EmbeddedOptions{Brokers: 2})
	found, err := Connect(testContext(t), e.Bootstrap(), "", access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.MetricsEndpoints()) != 0 {
		t.Errorf("endpoints that nobody named: %+v", found.MetricsEndpoints())
	}
	wantError(t, found.Meter([]string{"http://a:1/metrics"}), ErrInput, "1 endpoints of metrics for 2 brokers", "in the order of their IDs: [0 1]")
	wantError(t, found.Meter([]string{"http://a:1/metrics", "b:1"}), ErrInput, `"b:1" is no endpoint`, "http://host:port/metrics")
	if err := found.Meter([]string{"http://a:1/metrics", "https://b/metrics"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(found.MetricsEndpoints()); got != "[{0 http://a:1/metrics} {1 https://b/metrics}]" {
		t.Errorf("endpoints %s", got)
	}
}
