package judge

import (
	"math"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/result"
)

// A record that was not delivered is pending, or lost if the queue is empty.
func TestBooksOfAQueue(t *testing.T) {
	sender, receiver := ledger.NewSender(0, 1), ledger.NewReceiver(0, 1)
	for i := range 10 {
		sender.Acked(0, sender.Next(0, true), int64(i))
		if i != 3 && i != 9 {
			receiver.Deliver(0, uint64(i), true)
		}
	}
	for _, empty := range []bool{false, true} {
		q := &Queue{Empty: empty}
		b := q.undelivered(ledger.Close([]*ledger.Sender{sender}, []*ledger.Receiver{receiver}, nowhere)).Measured
		want := [2]int64{0, 2}
		if empty {
			want = [2]int64{2, 0}
		}
		if got := [2]int64{b.Lost, b.Pending}; got != want || len(b.Imbalance()) > 0 {
			t.Errorf("empty %t: lost and pending are %v, want %v; %v", empty, got, want, b.Imbalance())
		}
	}
}

func TestQueueCost(t *testing.T) {
	e := &Evidence{Window: Window{EndNs: 10e9}, Queue: &Queue{}}
	if c := e.queueCost(nil); c != nil {
		t.Errorf("nothing was acknowledged: %+v", c)
	}
	e.Start.QueueAcked, e.End.QueueAcked = 100, 1100
	e.End.QueueTraffic = QueueTraffic{Requests: map[string]int64{"Fetch": 250}, Written: 50_000, Read: 150_000}
	in, out := 20_000., 60_000.
	told := result.Broker{Metrics: &result.BrokerMetrics{BytesInPerS: &in, BytesOutPerS: &out, Requests: []result.RequestUse{{Type: "Fetch", Count: 400}, {Type: "Produce", Count: 100}}}}
	c := e.queueCost([]result.Broker{told, told})
	if c.ClientRequestsPerRecord != 0.25 || c.ClientWrittenBytesPerRecord != 50 || c.ClientReadBytesPerRecord != 150 || c.ClientRequests["Fetch"] != 250 {
		t.Errorf("of the clients: %+v", c)
	}
	if c.BrokerRequestsPerRecord == nil || *c.BrokerRequestsPerRecord != 1 || math.Abs(*c.BrokerBytesInPerRecord-400) > 1e-9 || math.Abs(*c.BrokerBytesOutPerRecord-1200) > 1e-9 {
		t.Errorf("of the brokers: %+v", c)
	}
	if c := e.queueCost([]result.Broker{told, {}}); c.BrokerRequestsPerRecord != nil {
		t.Errorf("a broker did not tell: %+v", c)
	}
}

func TestTrafficSince(t *testing.T) {
	before := QueueTraffic{Requests: map[string]int64{"Produce": 1, "Metadata": 2}, Written: 100, Read: 10}
	now := QueueTraffic{Requests: map[string]int64{"Produce": 2, "Metadata": 2, "Fetch": 3}, Written: 260, Read: 6020}
	got := now.since(before)
	if r := got.Requests; r["Fetch"] != 3 || r["Produce"] != 1 || len(r) != 2 || got.Written != 160 || got.Read != 6010 {
		t.Errorf("%+v", got)
	}
}

func TestWarningsOfAQueue(t *testing.T) {
	v := verdict{Evidence: &Evidence{Window: Window{Drained: true}}}
	v.out = &result.Run{Queue: &result.Queue{Received: 10, Redelivered: 5, Dropped: 5, Lateness: &result.Time{Count: 5}}}
	if got := v.warningsOfTheQueue(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	v.Drained = false
	v.out = &result.Run{Queue: &result.Queue{
		Lost: 3, Pending: 2, AckedAgain: 4, AckedAndDead: 1, Missing: 7, GivenUp: result.Counts{"expired": 6, "lost": 8},
		Lateness: &result.Time{Negative: 9}, RetentionAlarm: "soon",
	}}
	got := strings.Join(v.warningsOfTheQueue(), "\n")
	for _, want := range []string{"LOST: 3 ", "not drained: 2 ", "EARLY: 9 ", "4 records were acknowledged again", "1 records are both", "6 records were worked on and not settled: their lock had run out", "8 records were worked on and not settled: their partition had moved to another member", "7 records that were to be", "retention: soon"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
}
