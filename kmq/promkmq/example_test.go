package promkmq_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/promkmq"
)

// The metrics of a queue on the page that Prometheus scrapes.
func ExampleNew() {
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders")) // in memory
	defer cluster.Close()
	q, err := kmq.Open(context.Background(), kmq.Config{
		Brokers: cluster.ListenAddrs(), Topic: "orders", Group: "billing", Engine: kmq.OffsetMap{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close(context.Background())
	registry := prometheus.NewRegistry()
	registry.MustRegister(promkmq.New(q, prometheus.Labels{"group": "billing", "topic": "orders"}))
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()

	page, err := http.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer page.Body.Close()
	for lines := bufio.NewScanner(page.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "kafka_kmq_in_flight") || strings.HasPrefix(lines.Text(), "kafka_kmq_retention") {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// kafka_kmq_in_flight_records{group="billing",topic="orders"} 0
	// kafka_kmq_retention_alarm{group="billing",topic="orders"} 0
}
