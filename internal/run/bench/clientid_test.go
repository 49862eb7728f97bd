package bench_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// clientIDs is a driver that notes the client IDs.
type clientIDs struct {
	driver.Driver
	seen map[string]bool
}

func (d clientIDs) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	d.seen[cfg.ClientID] = true
	return d.Driver.NewProducer(cfg)
}

func (d clientIDs) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	d.seen[cfg.ClientID] = true
	return d.Driver.NewConsumer(cfg)
}

// TestClientID: each producer and consumer has exactly the chosen ID; without one they differ on this machine.
func TestClientID(t *testing.T) {
	for id, want := range map[string]int{"team-a": 1, "": 4} {
		t.Run(id, func(t *testing.T) {
			cfg := connected(t, access.Access{})
			d := clientIDs{franz.New(), make(map[string]bool)}
			cfg.Driver, cfg.ClientID = d, id
			if _, err := bench.Run(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			if len(d.seen) != want || id != "" && !d.seen[id] {
				t.Errorf("the client IDs are %v", d.seen)
			}
		})
	}
}
