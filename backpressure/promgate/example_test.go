package promgate_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/promgate"
)

// A gate's metrics, as Prometheus scrapes them.
func ExampleNew() {
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 5000},
		Source: backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) {
			return backpressure.Reading{Lag: 4000}, nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(promgate.New(gate, prometheus.Labels{"group": "billing", "topic": "orders"}))
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()

	gate.TryAcquire(1000)
	gate.TryAcquire(500) // refused

	page, err := http.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer page.Body.Close()
	for lines := bufio.NewScanner(page.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "kafka_backpressure_bound") || strings.HasPrefix(lines.Text(), "kafka_backpressure_refused") {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// kafka_backpressure_bound_records{group="billing",topic="orders"} 5000
	// kafka_backpressure_refused_records_total{group="billing",topic="orders"} 500
}
