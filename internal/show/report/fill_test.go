package report_test

import (
	"bytes"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestTextOfAFilledRun(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	run := &r.Run
	run.Run.Name = "filled"
	showtest.Set("producers", "0")(run)
	run.Load = result.Load{}
	run.Warmup.Load = result.Load{ClosedLoop: true, Scheduled: 1_000_000, Admitted: 1_000_000, Acked: 999_990, Unknown: 10, Bytes: 99_999_000}
	run.Fill = &result.Fill{Records: 999_990, Bytes: 99_999_000, TimeS: 1.25, AckedPerS: 799_992, Unknown: 10}
	slow, fast := 390_000.0, 420_000.0
	run.Fill.Producers = []result.FillProducer{
		{Producer: 0, Records: 499_990, Bytes: 49_999_000, TimeS: 1.25, AckedPerS: &slow},
		{Producer: 1, Records: 500_000, Bytes: 50_000_000, TimeS: 1.19, AckedPerS: &fast},
	}
	run.Fill.BoundedRecords = 1_000_000
	resulttest.Set(&run.Scenario, "topic.fill_records_each", "700000")
	run.Delivery = result.Delivery{
		Checked: true, Delivered: 999_995, Unique: 999_995, UnackedDelivered: 5, DeliveredPerS: 1_600_000, Ratio: 0.999995, Bytes: 99_999_500,
	}
	run.Time = map[string]result.Time{"poll_time": run.Time["poll_time"]}
	for p := range int32(4) {
		run.Lag.FinalPartitions = append(run.Lag.FinalPartitions, result.PartitionOffsets{
			Partition: p, Committed: 250_000 - 5*int64(p/3), End: 250_000, Lag: 5 * int64(p/3),
		})
	}
	got := text(t, r, report.Options{})
	showtest.Screens(t, got, layout.Width, 70)
	showtest.Golden(t, "filled", got)
}

func TestTextOfRounds(t *testing.T) {
	r := closedLoop(t)
	resulttest.Set(&r.Run.Scenario, "load.round", "10")
	got := text(t, r, report.Options{Width: 120})
	if want := "Rounds of 10 records by each producer, each after the acks of the last (closed loop) for "; !bytes.Contains(got, []byte(want)) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}

// The scenario's topic is the one that a run would make.
func TestTextOfAnExistingTopic(t *testing.T) {
	r := closedLoop(t)
	resulttest.Set(&r.Run.Scenario, "topic.existing", "mine")
	resulttest.Set(&r.Run.Scenario, "load.producers", "0")
	got := text(t, r, report.Options{Width: 120})
	if !bytes.Contains(got, []byte(" · the existing topic mine")) || bytes.Contains(got, []byte("12 partitions")) || bytes.Contains(got, []byte("mixed records")) {
		t.Errorf("of a topic that it did not make:\n%s", got)
	}
}

func TestTextOfAFileOfRecords(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	r.Run.PayloadFile = &result.PayloadFile{
		Name: "orders.ndjson", Records: 1000, Bytes: 512_400, MinBytes: 40, MeanBytes: 512.4, P50Bytes: 490, P99Bytes: 2900, MaxBytes: 3000,
	}
	got := text(t, r, report.Options{Width: 200})
	if want := "the 1,000 records of orders.ndjson (40 B to 3.00 kB, mean 512 B, p50 490 B, p99 2.90 kB) · "; !bytes.Contains(got, []byte(want)) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}
