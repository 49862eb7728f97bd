package outcome_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// kept is a run of 10 s at 1,000/s that kept up.
func kept() *result.Run {
	none := int64(0)
	return &result.Run{
		Verdict:  result.Verdict{Status: result.Valid},
		Load:     result.Load{OfferedPerS: 1000, Scheduled: 10_000, Admitted: 10_000, Acked: 10_000, AckedPerS: 1000, AckGapMaxNs: &none},
		Delivery: result.Delivery{Checked: true, Unique: 10_000, DeliveredPerS: 1000, Ratio: 1},
		Consumer: result.Consumer{Members: 1, Workers: 1},
		Lag:      result.Lag{Drained: true},
		Scenario: resulttest.Settings(map[string]any{"load": map[string]any{"linger": "5ms"}}),
	}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		name, status, finding string
		change                func(*result.Run)
	}{
		{"all came through", result.KeptUp, "1,000/s came through, of 1,000/s", func(*result.Run) {}},
		{"invalid", result.NotJudged, "the measurement is invalid", func(r *result.Run) { r.Verdict.Status = result.Invalid }},
		{"closed loop", result.NotJudged, "a closed loop", func(r *result.Run) { r.Load.ClosedLoop = true }},
		{"reading only", result.NotJudged, "nothing was offered", func(r *result.Run) { r.Load.Scheduled = 0 }},
		{"unstamped", result.NotJudged, "without a stamp", func(r *result.Run) { r.Delivery.Checked = false }},
		{"imported", result.NotJudged, "another tool", func(r *result.Run) { r.Run.Imported = &result.Imported{} }},
		{"nobody consumes", result.KeptUp, "came through", func(r *result.Run) {
			r.Consumer.Members, r.Delivery, r.Lag = 0, result.Delivery{}, result.Lag{}
		}},
		{"lost", result.LostRecords, "1 record was acknowledged and never delivered", func(r *result.Run) { r.Delivery.Lost = 1 }},
		{"corrupt", result.LostRecords, "2 records were delivered with other content", func(r *result.Run) { r.Delivery.Corrupt = 2 }},
		{"lost by a queue", result.LostRecords, "not in the queue any more", func(r *result.Run) { r.Queue = &result.Queue{Lost: 3} }},
		{"a gap", result.Unavailable, "no acknowledgement for 1.00 s", func(r *result.Run) { *r.Load.AckGapMaxNs = 1e9 }},
		{"a shorter gap", result.KeptUp, "", func(r *result.Run) { *r.Load.AckGapMaxNs = 1e9 - 1 }},
		{"a gap under a gate", result.KeptUp, "", func(r *result.Run) {
			*r.Load.AckGapMaxNs, r.Backpressure = 9e9, &result.Backpressure{}
		}},
		{"a gap of an older run", result.Unavailable, "for 2.00 s", func(r *result.Run) {
			r.Load.AckGapMaxNs, r.Availability = nil, &result.Availability{AckGapMaxNs: 2e9}
		}},
		{"1 in 200 failed", result.Unavailable, "0.50 % of the scheduled records failed", func(r *result.Run) { r.Load.Failed, r.Load.Unknown = 25, 25 }},
		{"fewer failed", result.KeptUp, "", func(r *result.Run) { r.Load.Failed = 49 }},
		{"not drained", result.Overloaded, "61.12 % of the scheduled was delivered; 3,888 records were still under way when the drain ended", func(r *result.Run) {
			r.Lag.Drained, r.Delivery.Ratio, r.Delivery.Pending = false, 0.6112, 3888
		}},
		{"nothing pending when the drain was broken off", result.KeptUp, "", func(r *result.Run) { r.Lag.Drained = false }},
		{"deferred", result.Overloaded, "7 records were still waiting at the source", func(r *result.Run) { r.Load.Deferred = 7 }},
		{"full queue", result.Overloaded, "5.00 % of the scheduled was shed, because the queue at the source was full", func(r *result.Run) {
			r.Load.ShedByReason = result.Counts{"queue_full": 500}
		}},
		{"slow acks", result.Overloaded, "900/s of 1,000/s came through in the measured window", func(r *result.Run) { r.Load.AckedPerS = 900 }},
		{"slow deliveries", result.Overloaded, "900/s of 1,000/s", func(r *result.Run) { r.Delivery.DeliveredPerS = 900 }},
		{"the slowest group", result.Overloaded, "900/s of 1,000/s", func(r *result.Run) {
			r.Delivery.DeliveredPerS = 1900
			r.Groups = []result.Group{{Delivery: result.Delivery{DeliveredPerS: 1000}}, {Delivery: result.Delivery{DeliveredPerS: 900}}}
		}},
		// 0.5 % of 1,000/s, and the records of the linger and 50 ms: 5/s and 55 ÷ 10 s.
		{"on its way at the end", result.KeptUp, "", func(r *result.Run) { r.Delivery.DeliveredPerS = 1000 - 5 - 5.5 }},
		{"more than that", result.Overloaded, "", func(r *result.Run) { r.Delivery.DeliveredPerS = 1000 - 5 - 5.6 }},
		{"held until the drain", result.KeptUp, "", func(r *result.Run) {
			r.Scenario = resulttest.Settings(map[string]any{"consume": map[string]any{"hold": "drain"}})
			r.Delivery.DeliveredPerS = 0
		}},
		{"shed by the gate", result.HeldBack, "60.00 % of the scheduled was shed by the gate", func(r *result.Run) {
			r.Load.Admitted, r.Load.ShedByReason = 4000, result.Counts{"gate": 5000, "degrade": 1000}
			r.Load.AckedPerS, r.Delivery.DeliveredPerS = 400, 400
		}},
		// The gate lets 1,000 records wait, which is 100/s over the window.
		{"waiting by leave of the gate", result.HeldBack, "50.00 % of the scheduled was shed by the gate", func(r *result.Run) {
			r.Load.Admitted, r.Load.ShedByReason = 5000, result.Counts{"gate": 5000}
			r.Load.AckedPerS, r.Delivery.DeliveredPerS, r.Backpressure = 500, 400, &result.Backpressure{MaxLag: 1000}
		}},
		{"waiting in each of ten partitions", result.HeldBack, "50.00 % of the scheduled was shed", func(r *result.Run) {
			r.Scenario = resulttest.Settings(map[string]any{"topic": map[string]any{"partitions": 10}})
			r.Load.Admitted, r.Load.ShedByReason = 5000, result.Counts{"gate": 5000}
			r.Load.AckedPerS, r.Delivery.DeliveredPerS, r.Backpressure = 500, 400, &result.Backpressure{MaxLag: 100, Per: "partition"}
		}},
		{"more than it lets wait", result.Overloaded, "390/s of 500/s", func(r *result.Run) {
			r.Load.Admitted, r.Load.ShedByReason = 5000, result.Counts{"gate": 5000}
			r.Load.AckedPerS, r.Delivery.DeliveredPerS, r.Backpressure = 500, 390, &result.Backpressure{MaxLag: 1000}
		}},
		{"less than was admitted", result.Overloaded, "300/s of 400/s", func(r *result.Run) {
			r.Load.Admitted, r.Load.ShedByReason = 4000, result.Counts{"gate": 6000}
			r.Load.AckedPerS, r.Delivery.DeliveredPerS = 400, 300
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := kept()
			test.change(r)
			s := outcome.Of(r)
			if s.Status != test.status || !strings.Contains(outcome.Sentence(s), test.finding) {
				t.Errorf("the system is %q: %q; want %q: %q", s.Status, s.Findings, test.status, test.finding)
			}
			if len(s.Findings) == 0 {
				t.Error("there is no finding")
			}
		})
	}
}

func TestTheWorstNamesIt(t *testing.T) {
	r := kept()
	r.Delivery.Lost, *r.Load.AckGapMaxNs, r.Load.Deferred = 1, 2e9, 1
	r.Load.ShedByReason = result.Counts{"gate": 1}
	s := outcome.Of(r)
	if s.Status != result.LostRecords || len(s.Findings) != 4 {
		t.Errorf("%q: %q", s.Status, s.Findings)
	}
}

func TestIn(t *testing.T) {
	r := kept()
	r.Load.Deferred = 1
	if s := outcome.In(r); s.Status != result.Overloaded {
		t.Errorf("an older run is %q", s.Status)
	}
	r.System = &result.System{Status: result.KeptUp}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read result.Run
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	if s := outcome.In(&read); s.Status != result.KeptUp {
		t.Errorf("what was recorded became %q", s.Status)
	}
}

func TestWorse(t *testing.T) {
	order := []string{
		result.LostRecords, result.Unavailable, result.Overloaded, result.HeldBack, result.KeptUp, result.NotJudged, "of a later version",
	}
	for i, a := range order {
		for j, b := range order {
			if got := outcome.Worse(a, b); got != (i < j) {
				t.Errorf("%q is worse than %q: %v", a, b, got)
			}
		}
	}
}
