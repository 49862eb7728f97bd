package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// A closed loop needs delays.
var closed = virtual.Options{ProduceDelay: time.Millisecond}

func both(t *testing.T, o virtual.Options, yaml string) (one, four result.Run) {
	on := func(agents int) (run result.Run) {
		virtual.Test(t, o, func(t *testing.T, c *virtual.Cluster) {
			w := &world{t: t, cluster: c, log: &control.Memory{}, of: agents, ended: make(map[string]error)}
			var made *bench.Outcome
			var err error
			if agents == 0 {
				cfg := w.base()
				cfg.Scenario, cfg.Driver = w.scenario(yaml), franz.New()
				made, err = bench.Run(t.Context(), cfg)
			} else {
				w.agents(agents)
				made, err = w.run(yaml)
			}
			w.running.Wait()
			if err != nil {
				t.Fatalf("%d agents: %v, they ended with %v", agents, err, w.ended)
			}
			run = made.Run
		})
		if run.Verdict.Status != result.Valid {
			t.Errorf("%d agents: verdict %+v", agents, run.Verdict)
		}
		return run
	}
	return on(0), on(4)
}

func booksOf(r result.Run) string {
	books := func(l result.Load, d result.Delivery) string {
		return fmt.Sprintf("scheduled %d, admitted %d, acked %d of %d bytes; delivered %d, unique %d, duplicates %d, lost %d",
			l.Scheduled, l.Admitted, l.Acked, l.Bytes, d.Delivered, d.Unique, d.Duplicates, d.Lost)
	}
	s := "measured: " + books(r.Load, r.Delivery) + "\nwarm-up: " + books(r.Warmup.Load, r.Warmup.Delivery.Delivery)
	if r.Fill != nil {
		s += fmt.Sprintf("\nfill: %d records of %d bytes", r.Fill.Records, r.Fill.Bytes)
		for _, p := range r.Fill.Producers {
			s += fmt.Sprintf(", %d by producer %d", p.Records, p.Producer)
		}
	}
	return s
}

func windowS(r result.Run) float64 {
	return time.Duration(r.Run.Phases[1].EndNs - r.Run.Phases[1].StartNs).Seconds()
}

func same(t *testing.T, one, four result.Run) {
	t.Helper()
	if got, want := booksOf(four), booksOf(one); got != want {
		t.Errorf("four agents have the books\n%s\nand one process\n%s", got, want)
	}
}

// With the same bound, a run of four agents ends its window when a run of one process does.
func TestAgentsShareVolume(t *testing.T) {
	for name, bound := range map[string]string{"records": "records: 4001", "volume": "volume: 400kB"} {
		t.Run(name, func(t *testing.T) {
			one, four := both(t, virtual.Options{}, `
name: bounded
topic: {partitions: 8}
load: {rate: 2k/s, producers: 4, pacer: frugal, acks: all, record: {size: 100B}, `+bound+`}
consume: {consumers: 4, commit: 100ms}
phases: {warmup: 1s, measure: 20s, drain: 5s}
sampling: {interval: 500ms, lag: 1s}
cluster: {metrics: none}
`)
			same(t, one, four)
			if windowS(four) != windowS(one) || windowS(one) > 3 {
				t.Errorf("the window of four agents is %v s long, that of one process %v s", windowS(four), windowS(one))
			}
		})
	}
}

func TestAgentsShareVolumeOfClosedLoop(t *testing.T) {
	one, four := both(t, closed, `
name: closed
topic: {partitions: 8}
load: {rate: max, producers: 4, max_buffered: 10, linger: 0s, acks: all, record: {size: 100B}, records: 4001}
consume: {consumers: 4, commit: 100ms}
phases: {warmup: 0s, measure: 1m, drain: 5s}
sampling: {interval: 500ms, lag: 1s}
cluster: {metrics: none}
`)
	one.Warmup, four.Warmup = result.Warmup{}, result.Warmup{} // arbitrary lengths
	same(t, one, four)
	if windowS(four) > 20 {
		t.Errorf("the window of four agents is %v s long", windowS(four))
	}
}

func TestAgentsFill(t *testing.T) {
	for name, load := range map[string]string{
		"read only":    "producers: 0",
		"and send":     "rate: 1k/s, pacer: frugal, producers: 4",
		"read by none": "rate: 1k/s, pacer: frugal, producers: 4",
	} {
		from := map[string]string{"and send": ", from: start"}[name]
		t.Run(name, func(t *testing.T) {
			one, four := both(t, closed, `
name: filled
topic: {partitions: 8, fill_records: 4001, fill_producers: 4}
load: {`+load+`, max_buffered: 10, linger: 0s, acks: all, record: {size: 100B}}
consume: {consumers: 4, commit: 100ms`+from+`}
phases: {warmup: 0s, measure: 2s, drain: 5s}
sampling: {interval: 500ms, lag: 1s}
cluster: {metrics: none}
`)
			same(t, one, four)
			if one.Fill == nil || one.Fill.Records != 4001 || len(one.Fill.Producers) != 4 {
				t.Errorf("one process filled %+v", one.Fill)
			}
			if name == "read only" && four.Lag.BacklogPeakRecords != 4001 {
				t.Errorf("when the window began, the backlog of four agents was %d records", four.Lag.BacklogPeakRecords)
			}
		})
	}
}

func TestAgentsKeepTheBound(t *testing.T) {
	const bound = 800
	for name, of := range map[string]struct {
		controller string
		most       int64 // the most lag
	}{
		"credit":     {"controller: credit", bound},
		"hysteresis": {"controller: hysteresis, excess: shed", 2 * bound}, // overshoots until the next reading
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
				w := &world{t: t, cluster: c, log: &control.Memory{}, of: 4, ended: make(map[string]error)}
				w.agents(4)
				o, err := w.run(fmt.Sprintf(`
name: bounded
topic: {partitions: 8}
load: {rate: 2k/s, producers: 4, pacer: frugal, acks: all, record: {size: 100B}}
consume: {consumers: 4, commit: 100ms, work: 4ms}
backpressure: {%s, max_lag: %d, poll: 50ms}
phases: {warmup: 1s, measure: 6s, drain: 20s}
sampling: {interval: 500ms, lag: 100ms}
cluster: {metrics: none}
`, of.controller, bound))
				w.running.Wait()
				if err != nil {
					t.Fatalf("%v, the agents ended with %v", err, w.ended)
				}
				r := o.Run
				if r.Verdict.Status != result.Valid {
					t.Errorf("verdict %+v; the agents ended with %v", r.Verdict, w.ended)
				}
				least, peak := r.Lag.PeakAtLeastRecords, r.Lag.PeakRecords
				if least == nil || peak == nil {
					t.Fatalf("the peak of the lag is not known: %+v", r.Lag)
				}
				if *least > of.most || *peak == 0 {
					t.Errorf("the lag came to %v, at the least %v, and may come to %d", *peak, *least, of.most)
				}
				if b := r.Backpressure; b == nil || b.Refused == 0 {
					t.Errorf("backpressure %+v", b)
				}
			})
		})
	}
}

func TestDrainOfAgentsEnds(t *testing.T) {
	within(t, 2, func(w *world) {
		w.agents(2)
		o, err := w.run(`
name: slow
topic: {partitions: 4}
load: {rate: 1k/s, producers: 2, pacer: frugal, acks: all, record: {size: 100B}}
consume: {consumers: 2, commit: 100ms, work: 4ms}
backpressure: {controller: credit, max_lag: 100}
phases: {warmup: 0s, measure: 2s, drain: 1s}
cluster: {metrics: none}
`)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range o.Run.Agents {
			if !a.HandedIn {
				t.Errorf("%v did not hand in its part", a)
			}
		}
		if o.Run.Load.Deferred == 0 {
			t.Error("nothing was left to send: the drain did not come to its limit")
		}
	})
}
