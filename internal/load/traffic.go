package load

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// trafficOf is what a client exchanged with brokers, as far as its driver counts it.
func trafficOf(client any) (t snapshot.Traffic) {
	if c, able := client.(driver.WireCounter); able {
		t.Wire, t.Counted = snapshot.Wire(c.Wire()), true
	}
	if c, able := client.(driver.RequestTimer); able {
		requests := c.Requests()
		t.Produce, t.Fetch, t.Timed = snapshot.RequestSum(requests.Produce), snapshot.RequestSum(requests.Fetch), true
	}
	return t
}

// Traffic is that of all clients, as far as the driver counts it.
func (ps *Producers) Traffic() (sum snapshot.Traffic) {
	for _, client := range ps.clients {
		sum = sum.Add(trafficOf(client))
	}
	return sum
}

// Traffic is that of all members, those that are gone included, as far as the driver
// counts it.
func (g *Group) Traffic() (sum snapshot.Traffic) {
	for _, m := range g.members.Ever() {
		sum = sum.Add(trafficOf(m.client))
	}
	return sum
}
