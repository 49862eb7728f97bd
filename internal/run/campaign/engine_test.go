package campaign

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

type advertising struct {
	cluster.Cluster
	addresses []string
}

func (a advertising) Bootstrap() []string { return a.addresses }

// A cluster that was reached on this machine, through a tunnel, is elsewhere if it advertises so.
func TestAdvertisesOthers(t *testing.T) {
	const here, elsewhere = "127.0.0.1:9092", "192.0.2.1:9092" // RFC 5737
	for want, addresses := range map[bool][]string{false: {here, "localhost:9093"}, true: {here, elsewhere}} {
		if got := advertisesOthers(advertising{addresses: addresses}); got != want {
			t.Errorf("%v advertise brokers elsewhere: %v", addresses, got)
		}
	}
}
