package truth

import (
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{ProduceDelay: 5 * time.Millisecond}, func(t *testing.T, c *virtual.Cluster) {
		here, apart := sameApart(t, c, "load.processes=3",
			"load.rate=1k/s", "load.producers=7", "load.records=501", "phases.measure=30s", "load.in_flight=1000", "topic.partitions=3")
		for _, r := range []*result.Recorded{here, apart} {
			wantCount(t, "scheduled", r.Run.Load.Scheduled, 501)
			wantCount(t, "delivered", r.Run.Delivery.Unique, 501)
			wantCount(t, "of the warm-up", r.Run.Warmup.Load.Scheduled, 500)
		}
		wantCount(t, "the end of the window", here.Run.Run.Phases[1].EndNs, int64(501*time.Millisecond))
	})
}

// Of a count, all records are sent: the window of the preset, 5 s, is lifted. A window that is given holds, and the
// run says so.
func TestRecordsLiftTheWindow(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{ProduceDelay: 5 * time.Millisecond}, func(t *testing.T, c *virtual.Cluster) {
		for given, want := range map[string]int64{"load.records=7001": 7001, "phases.measure=2s": 2000} {
			s, err := scenario.Read("quick", "load.rate=1k/s", "load.records=7001", "load.record.size=100B", given)
			if err != nil {
				t.Fatal(err)
			}
			r := run(t, config(t, c, s))
			wantValid(t, r)
			wantCount(t, given+": scheduled", r.Run.Load.Scheduled, want)
			const ended = "the measured window of 2s ended after 2,000 of the 7,001 records of load.records: give phases.measure more"
			if said := slices.Contains(r.Run.Verdict.Warnings, ended); said != (want == 2000) {
				t.Errorf("%s: the warnings are %q", given, r.Run.Verdict.Warnings)
			}
		}
	})
}

// Producers without a record do not lengthen the window.
func TestFewerRecordsThanProducers(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{ProduceDelay: 5 * time.Millisecond}, func(t *testing.T, c *virtual.Cluster) {
		here, apart := sameApart(t, c, "load.processes=3",
			"load.rate=100/s", "load.producers=8", "load.records=3", "phases.measure=30s", "topic.partitions=3")
		for _, r := range []*result.Recorded{here, apart} {
			wantValid(t, r)
			wantCount(t, "scheduled", r.Run.Load.Scheduled, 3)
		}
		wantCount(t, "the end of the window", here.Run.Run.Phases[1].EndNs, int64(30*time.Millisecond))
	})
}

// A round of a closed loop takes as long as one request. Without a linger, the client may send a
// round's first records before it has the others. Until its first response it has one request in
// flight, so the others would then wait, and the window would be longer.
func TestRounds(t *testing.T) {
	t.Parallel()
	const delay, linger = 50 * time.Millisecond, time.Millisecond
	const round = linger + delay
	virtual.Test(t, virtual.Options{ProduceDelay: delay}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, smallScenario(t, "rounds", "load.rate=max", "load.round=10", "load.records_each=200",
			"load.linger=1ms", "load.partitioning=sticky", "topic.partitions=1", "phases.warmup=0s", "phases.measure=30s")))
		wantValid(t, r)
		wantCount(t, "acked", r.Run.Load.Acked, 400)
		wantCount(t, "delivered", r.Run.Delivery.Unique, 400)
		// The workers start 50 ms before the window, with a round that takes until 1 ms in it. The
		// last of 20 further rounds is sent after 19 waits, and ends the window.
		wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, int64(round-50*time.Millisecond+19*round+1))
		for _, iv := range r.Intervals {
			if wide := time.Duration(iv.EndNs - iv.StartNs); iv.Acked > 20*(int64(wide/round)+1) {
				t.Errorf("%d were acked in %v", iv.Acked, wide)
			}
		}
	})
}

func TestFillByRecords(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		for asked, want := range map[string][]int64{
			"topic.fill_records=5003":      {1001, 1001, 1001, 1000, 1000},
			"topic.fill_records_each=1001": {1001, 1001, 1001, 1001, 1001},
			"topic.fill_records=3":         {1, 1, 1, 0, 0},
		} {
			r := run(t, config(t, c, filling(t, "fill-records", "topic.fill=0B", asked, "topic.fill_producers=5")))
			wantValid(t, r)
			f := r.Run.Fill
			if f == nil || len(f.Producers) != len(want) {
				t.Fatalf("%s: the fill is %+v", asked, f)
			}
			var sum int64
			for i, p := range f.Producers {
				sum += want[i]
				if p.Producer != i || p.Records != want[i] || p.Bytes != 100*want[i] {
					t.Errorf("%s: producer %d wrote %+v; want %d records", asked, i, p, want[i])
				}
				switch none := p.Records == 0; {
				case none != (p.AckedPerS == nil) || none != (p.TimeS == 0) || p.TimeS > f.TimeS:
					t.Errorf("%s: producer %d took %v s of %v", asked, i, p.TimeS, f.TimeS)
				case !none && !agree(*p.AckedPerS, float64(p.Records)/p.TimeS, 1e-9):
					t.Errorf("%s: producer %d has %v/s", asked, i, *p.AckedPerS)
				}
			}
			wantCount(t, asked+": filled", f.Records, sum)
			wantCount(t, asked+": delivered", r.Run.Delivery.Unique, sum)
		}
	})
}
