//go:build full

package cluster

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

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

func wantMetrics(t *testing.T, k *Kafka) {
	t.Helper()
	endpoints := k.MetricsEndpoints()
	if len(endpoints) != 1 || endpoints[0].ID != 1 {
		t.Fatalf("endpoints %+v", endpoints)
	}
	text := scrape(t, endpoints[0].URL)
	for _, want := range []string{
		`kafka_network_requestmetrics_mean{name="TotalTimeMs",request="Produce"}`,
		`kafka_network_requestmetrics_count{name="RemoteTimeMs",request="FetchFollower"}`,
		`kafka_server_kafkarequesthandlerpool_count{name="BrokerRequestHandlerAvgIdlePercent"}`,
		`kafka_server_socket_server_metrics_io_wait_time_ns{listener="PLAINTEXT",networkProcessor="0"}`,
		`kafka_server_replicamanager_value{name="UnderReplicatedPartitions"}`,
		`kafka_log_logflushstats_mean{`,
		"process_start_time_seconds", "jvm_gc_collection_seconds_sum", "jmx_scrape_error 0.0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the broker does not tell %s", want)
		}
	}
	for _, costs := range []string{"requestmetrics_99thpercentile", "kafka_log_log_", "oneminuterate"} {
		if strings.Contains(text, costs) {
			t.Errorf("the broker tells %s, which was not asked for", costs)
		}
	}
}
