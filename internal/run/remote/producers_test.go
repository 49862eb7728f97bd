package remote

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

const partitions = 3

func open(t *testing.T, children Children, axis *load.Axis, version int, runID string) *Producers {
	t.Helper()
	parts := Split(workers, 0, len(children))
	assignments := make([]Assignment, len(parts))
	for i, part := range parts {
		assignments[i] = Assignment{Version: version, Part: i, Parts: len(parts), RunID: runID, Partitions: partitions, Workers: part}
	}
	ps, err := OpenProducers(t.Context(), axis, children.Parts(), assignments)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

type offered struct {
	warmup, measured snapshot.Sent
	ackedIn          []int64
	waiting          int64
	errors           map[string]int64
	books            ledger.Books
	counts           map[latency.Metric]int64
	end              int64
}

func offer(t *testing.T, ps *Producers, axis *load.Axis, window time.Duration) (o offered) {
	t.Helper()
	var collector latency.Collector
	ps.AddTo(&collector)
	axis.Set(200*time.Millisecond, window)
	ps.Start()
	for done := false; !done; {
		select {
		case <-ps.Done():
			done = true
		case <-time.After(50 * time.Millisecond):
			ps.Snapshot(Want{Times: true})
			collector.Collect()
		}
	}
	ps.Close()
	collector.Collect()
	final, last := ps.Snapshot(Want{}), ps.Last()
	o.warmup, o.measured = final.Sent[0], final.Sent[1]
	// How many were acked in the window depends on the machine.
	o.warmup.AckedInWindow, o.measured.AckedInWindow = 0, 0
	o.ackedIn, o.errors, o.end = final.Behind.AckedIn, last.Errors[1], axis.End()
	o.waiting = final.Behind.WaitingRecords
	o.books = ledger.Close(last.Books, nil, nil)
	o.counts = make(map[latency.Metric]int64)
	for m := range latency.Metric(latency.NumMetrics) {
		o.counts[m] = collector.Totals(true, m).Count
		if o.counts[m] > 0 && collector.Totals(true, m).MinNs < 0 {
			t.Errorf("%v was once negative", m)
		}
	}
	return o
}

func TestProducersOfSeveralProcesses(t *testing.T) {
	for name, window := range map[string]time.Duration{
		"": time.Second, "a volume": 10 * time.Second, "records": 10 * time.Second,
	} {
		t.Run("with"+name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				hereAxis := virtualAxis()
				part := NewHere(probe.Unknown(), (&clock{axis: hereAxis}).open)
				here, err := OpenProducers(t.Context(), hereAxis, []Part{part}, []Assignment{{Version: Version, Partitions: partitions, RunID: name}})
				if err != nil {
					t.Fatal(err)
				}
				want := offer(t, here, hereAxis, window)

				axis := virtualAxis()
				children := insiders(t, 3)
				apart := open(t, children, axis, Version, name)
				if settings := apart.Settings(); len(settings) != 1 || settings[0].Value != "all" {
					t.Errorf("the settings are %v", settings)
				}
				got := offer(t, apart, axis, window)
				// Each process has its own log, so they refuse different records.
				for _, o := range []*offered{&want, &got} {
					if failed := o.measured.Failed; failed == 0 || o.errors["refused"] != failed || o.books.Measured.Failed != failed {
						t.Errorf("%d failed, by errors %v, by the books %d", failed, o.errors, o.books.Measured.Failed)
					}
					o.errors = nil
					for _, s := range []*snapshot.Sent{&o.warmup, &o.measured} {
						s.Acked, s.Failed, s.AckedBytes = s.Acked+s.Failed, 0, 0
					}
					for acked, unacked := range map[latency.Metric]latency.Metric{
						latency.SendServiceTime: latency.UnackedServiceTime, latency.SendResponseTime: latency.UnackedResponseTime,
					} {
						o.counts[acked], o.counts[unacked] = o.counts[acked]+o.counts[unacked], 0
					}
					for _, b := range []*ledger.Book{&o.books.Warmup, &o.books.Measured} {
						b.Acked, b.Failed, b.Pending = b.Acked+b.Failed, 0, b.Pending+b.Failed
					}
					var sum int64
					for _, n := range o.ackedIn {
						sum += n
					}
					o.ackedIn = nil
					if all := o.warmup.Acked + o.measured.Acked; sum < all*98/100 || sum > all {
						t.Errorf("%d acked in all partitions, of %d", sum, all)
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("three processes offered\n%+v\none\n%+v", got, want)
				}
				if all := apart.Snapshot(Want{}).Traffic; !all.Counted || all.Wire.Batches != workers {
					t.Errorf("the wire has %+v", all)
				}
				next := [][]ledger.Awaited{make([]ledger.Awaited, workers), make([]ledger.Awaited, workers), slices.Repeat([]ledger.Awaited{{Next: 1 << 30}}, workers)}
				if behind := apart.Snapshot(Want{Awaited: next}).Behind; behind.OldestDueNs[0] >= 0 || behind.OldestDueNs[2] != snapshot.NothingDue {
					t.Errorf("after the end, behind is %+v", behind)
				}
				if err := apart.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestEndAt(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		ps := open(t, insiders(t, 2), axis, Version, "")
		time.AfterFunc(400*time.Millisecond, func() { ps.EndAt(axis.Now()) })
		got := offer(t, ps, axis, time.Minute)
		due := (got.end + int64(500*time.Microsecond) - 1) / int64(500*time.Microsecond) // due at i × 500 µs
		if got.end > int64(time.Second) || got.measured.Scheduled != due {
			t.Errorf("%d records came due in %v, want %d", got.measured.Scheduled, time.Duration(got.end), due)
		}
	})
}

func TestOpeningFails(t *testing.T) {
	virtually(t, func(t *testing.T) {
		children := insiders(t, 2)
		if _, err := OpenProducers(t.Context(), virtualAxis(), children.Parts(), make([]Assignment, 2)); err == nil || !strings.Contains(err.Error(), "protocol version") {
			t.Errorf("a process of another version: %v", err)
		}
		assignments := []Assignment{{Version: Version, Topic: "refused"}, {Version: Version, Topic: "refused"}}
		_, err := OpenProducers(t.Context(), virtualAxis(), children.Parts(), assignments)
		if err == nil || err.Error() != "opening the producers of process 0: there is no such topic" {
			t.Errorf("what can't be opened: %v", err)
		}
	})
}
