package receive

import (
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// A gap begins at the due time of the next record, or at the previous delivery if that is later.
func TestGapsInWhatIsHandedOver(t *testing.T) {
	const ms = int64(1e6)
	p := &partition{receiver: ledger.NewReceiver(0, 1), handed: load.NewGapWatch(1)}
	corpus, err := loadtest.HundredBytes()
	if err != nil {
		t.Fatal(err)
	}
	stamped := func(offset, due int64) []driver.Received {
		stamp := payload.Stamp{Run: 1, Sequence: uint64(offset), Intended: due}
		return []driver.Received{{Offset: offset, Value: corpus.Value(nil, uint64(offset), &stamp)}}
	}
	p.hand(stamped(0, 1*ms), 2*ms)
	p.hand(stamped(1, 30*ms), 40*ms)
	p.hand(stamped(0, 1*ms), 60*ms)
	p.hand(stamped(2, 41*ms), 100*ms)
	p.hand([]driver.Received{{Offset: 3}}, 110*ms)
	g := p.handed.Gaps()
	want := []snapshot.Gap{{LastNs: 2 * ms, FromNs: 30 * ms, ToNs: 40 * ms}, {LastNs: 40 * ms, FromNs: 41 * ms, ToNs: 100 * ms}, {LastNs: 100 * ms, FromNs: 100 * ms, ToNs: 110 * ms}}
	if got := g.Within(1000 * ms)[1:]; !slices.Equal(got, want) {
		t.Errorf("the gaps are %v, want %v", got, want)
	}
	if got, open := g.Waiting(0).Within(1000 * ms)[4], (snapshot.Gap{LastNs: 110 * ms, FromNs: 110 * ms, ToNs: 1000 * ms}); got != open {
		t.Errorf("what was never delivered leaves %v, want %v", got, open)
	}
}
