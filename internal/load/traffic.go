package load

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// TrafficOf returns the traffic between a client and the brokers, as far as its driver counts it.
func TrafficOf(client any) (t snapshot.Traffic) {
	if c, able := client.(driver.WireCounter); able {
		t.Wire, t.Counted = snapshot.Wire(c.Wire()), true
	}
	if c, able := client.(driver.RequestTimer); able {
		requests := c.Requests()
		t.Produce, t.Fetch, t.Timed = snapshot.RequestSum(requests.Produce), snapshot.RequestSum(requests.Fetch), true
	}
	return t
}
