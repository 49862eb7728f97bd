package receive

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

func TestPositionNeverGoesBack(t *testing.T) {
	p := &partition{receiver: ledger.NewReceiver(0, 1), handed: load.NewGapWatch(1)}
	p.hand([]driver.Received{{Offset: 8}, {Offset: 9}}, 5)
	p.hand([]driver.Received{{Offset: 3}, {Offset: 4}}, 7)
	if at := p.position(); at.Position != 10 || at.At != 5 || at.Delivered != 4 {
		t.Errorf("the group is at %d since %d, with %d deliveries; want 10 since 5, with 4", at.Position, at.At, at.Delivered)
	}
}
