package truth

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

func filling(t *testing.T, name string, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name+".yaml", []byte(`
topic: {partitions: 4, fill: 2MB}
load: {producers: 0, record: {size: 100B}}
consume: {consumers: 2, commit: 50ms, fetch: {max_partition_bytes: 10kB}}
phases: {measure: 30s}
sampling: {interval: 100ms, lag: 50ms}
cluster: {metrics: none}
`), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A closed loop such as a fill needs a cluster whose requests take time: a write 10 ms, a read 20
// ms.
func slowly(t *testing.T, do func(*testing.T, *virtual.Cluster)) {
	t.Helper()
	virtual.Test(t, virtual.Options{ProduceDelay: 10 * time.Millisecond, FetchDelay: 20 * time.Millisecond}, do)
}

// Filled records are delivered without times, and the window ends with the last one.
func TestFill(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, filling(t, "fill")))
		wantValid(t, r)
		const records = 20_000
		fill := r.Run.Fill
		if fill == nil || fill.Records != records || fill.Bytes != 100*records || fill.TimeS <= 0 ||
			!agree(fill.AckedPerS, records/fill.TimeS, 1e-9) {
			t.Fatalf("the fill is %+v; want %d records of 100 bytes", fill, records)
		}
		d, w := r.Run.Delivery, r.Run.Warmup
		if !d.Checked || d.Delivered != records || d.Unique != records || d.Ratio != 1 ||
			d.Lost+d.Duplicates+d.Pending+d.Foreign != 0 || d.Bytes != 100*records {
			t.Errorf("delivered: %+v", d)
		}
		if w.Load.Acked != records || w.Load.Scheduled != records || w.Delivery.Unique != records || w.Load.OfferedPerS != 0 {
			t.Errorf("the books of the warm-up: %+v and %+v", w.Load, w.Delivery)
		}
		if l := r.Run.Load; l.Scheduled != 0 || l.Acked != 0 {
			t.Errorf("something was offered in the window: %+v", l)
		}
		wantCount(t, "the backlog's peak", r.Run.Lag.BacklogPeakRecords, records)
		wantFinalPartitions(t, r, records)
		wantFillTimes(t, r)
	})
}

func wantFillTimes(t *testing.T, r *result.Recorded) {
	t.Helper()
	if len(r.Run.Time) != 1 {
		t.Errorf("there are times of what was filled before: %v", r.Run.Time)
	}
	wantExactly(t, r, "poll_time", 20*time.Millisecond)
	for _, iv := range r.Intervals {
		if e2e, there := iv.Time["e2e_service_time"]; there {
			t.Errorf("the interval to %v has e2e times of what was filled before: %+v", time.Duration(iv.EndNs), e2e)
		}
	}
	window := time.Duration(r.Run.Run.Phases[1].EndNs)
	if window%(20*time.Millisecond) != 1 || !r.Run.Lag.Drained {
		t.Errorf("the window is %v long, and drained is %t; want a number of fetches, and a nanosecond", window, r.Run.Lag.Drained)
	}
	if got := r.Run.Delivery.DeliveredPerS * window.Seconds(); !agree(got, 20_000, 1e-6) {
		t.Errorf("%v/s over %v is %v records", r.Run.Delivery.DeliveredPerS, window, got)
	}
}

func wantFinalPartitions(t *testing.T, r *result.Recorded, n int64) {
	t.Helper()
	var committed int64
	for i, p := range r.Run.Lag.FinalPartitions {
		if p.Partition != int32(i) || p.Lag != 0 || p.End != p.Committed {
			t.Errorf("partition %d stands at %+v", i, p)
		}
		committed += p.Committed
	}
	if len(r.Run.Lag.FinalPartitions) != 4 || committed != n {
		t.Errorf("the group has committed %d of %d records in %d partitions", committed, n, len(r.Run.Lag.FinalPartitions))
	}
}

func TestFillWaitsForTheWindow(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		const records = 20_000
		r := run(t, config(t, c, filling(t, "fill-held", "phases.warmup=500ms")))
		wantValid(t, r)
		wantCount(t, "delivered before the window", deliveredBy(r, 0), 0)
		wantCount(t, "delivered by the intervals", deliveredBy(r, math.MaxInt64), records)
		wantCount(t, "delivered in the window", r.Run.Delivery.Delivered, records)
		wantCount(t, "the backlog at its start", r.Run.Lag.BacklogPeakRecords, records)
		wantFillTimes(t, r)
	})
}

func deliveredBy(r *result.Recorded, endNs int64) (n int64) {
	for _, iv := range r.Intervals {
		if iv.EndNs <= endNs {
			n += iv.Delivered
		}
	}
	return n
}

// With producers, the consumers begin after the fill, or at its start if the scenario says so.
func TestFillUnderLoad(t *testing.T) {
	t.Parallel()
	load := []string{"load.producers=2", "load.rate=2k/s", "phases.measure=1s", "phases.warmup=200ms"}
	for from, read := range map[string]int64{"end": 0, "start": 20_000} {
		t.Run(from, func(t *testing.T) {
			slowly(t, func(t *testing.T, c *virtual.Cluster) {
				r := run(t, config(t, c, filling(t, "fill-under-load", append(load, "consume.from="+from)...)))
				wantValid(t, r)
				wantBalance(t, r)
				wantCount(t, "filled", r.Run.Fill.Records, 20_000)
				wantCount(t, "delivered of the warm-up and the fill", r.Run.Warmup.Delivery.Unique, 400+read)
				wantCount(t, "acked of both", r.Run.Warmup.Load.Acked, 400+read)
				wantCount(t, "delivered of the window", r.Run.Delivery.Unique, 2000)
				wantCount(t, "foreign", r.Run.Delivery.Foreign+r.Run.Warmup.Delivery.Foreign, 0)
				if e2e := r.Run.Time["e2e_response_time"]; e2e.Count != 2000 || e2e.OutOfRange != 0 {
					t.Errorf("end-to-end times of %d records, %d of them out of range; want those of 2000", e2e.Count, e2e.OutOfRange)
				}
				// The backlog is read before the consumers begin to fetch. It also has the records
				// of the warm-up that are acked by then.
				if peak := r.Run.Lag.BacklogPeakRecords; read > 0 && peak < read {
					t.Errorf("the backlog was %d at the most, with %d records there at the start", peak, read)
				}
			})
		})
	}
}

func TestFillOfUnstampedRecords(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, filling(t, "fill-small", "load.record.size=10B", "topic.fill=10kB")))
		wantValid(t, r)
		if d := r.Run.Delivery; d.Checked || d.Delivered != 1000 || d.Pending != 0 {
			t.Errorf("delivered: %+v", d)
		}
	})
}

// Each of two consumers takes a record per 1 ms from the end of its first fetch on, and holds one
// record when the window ends. It may wait once for a fetch: whether the second fetch is under way
// when the records of the first run out depends on which goroutine wakes first.
func TestFillHasATimeout(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, filling(t, "fill-timeout", "phases.measure=1s", "consume.work=1ms")))
		wantValid(t, r)
		wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, 1e9)
		d := r.Run.Delivery
		wantCount(t, "delivered and pending", d.Delivered+d.Pending, 20_000)
		const fetchMs = 20
		var sum int64
		for _, c := range r.Run.Consumers {
			if c.FirstNs == nil || *c.FirstNs < 20e6 || *c.FirstNs > 50e6 {
				t.Fatalf("a consumer had its first record at %v", c.FirstNs)
			}
			if every := (1e9 - *c.FirstNs) / 1e6; c.Records < every-fetchMs || c.Records > every+1 {
				t.Errorf("a consumer with its first record at %d ns had %d records, want %d", *c.FirstNs, c.Records, every)
			}
			sum += c.Records
		}
		if len(r.Run.Consumers) != 2 || sum != d.Delivered || r.Run.Lag.Drained {
			t.Errorf("%d consumers had %d records of %d delivered, drained %t", len(r.Run.Consumers), sum, d.Delivered, r.Run.Lag.Drained)
		}
		wantWarning(t, r, "not read to its end")
	})
}

type refusing struct {
	driver.Driver
	every int // one in that many records fails
}

func (d refusing) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	onDone := cfg.OnDone
	p := &refusingProducer{every: d.every, onDone: onDone}
	var err error
	p.Producer, err = d.Driver.NewProducer(cfg)
	return p, err
}

type refusingProducer struct {
	driver.Producer
	every  int
	onDone func(driver.Done)

	mu   sync.Mutex
	seen int
}

func (p *refusingProducer) Produce(r *driver.Record) {
	p.mu.Lock()
	p.seen++
	refused := p.seen%p.every == 0
	p.mu.Unlock()
	if refused {
		time.Sleep(time.Millisecond) // otherwise a closed loop would be refused in no time, endlessly
		p.onDone(driver.Done{Tag: r.Tag, Offset: -1, Err: errors.New("refused"), Outcome: driver.Failed})
		return
	}
	p.Producer.Produce(r)
}

func TestFillWithHoles(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, filling(t, "fill-holes"))
		r := run(t, withDriver(cfg, refusing{franz.New(), 100}))
		wantValid(t, r)
		if f := r.Run.Fill; f.Records != 19_800 || f.Failed != 200 {
			t.Errorf("the fill is %+v", f)
		}
		wantCount(t, "delivered", r.Run.Delivery.Unique, 19_800)
		wantCount(t, "lost", r.Run.Delivery.Lost, 0)
		wantWarning(t, r, "the topic was not filled whole: of 20,000 records 200 failed")
	})
}

func TestRefusedFill(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, filling(t, "fill-refused", "topic.fill=900GB", "topic.config={retention.bytes: -1}"))
		_, err := tryRun(withDriver(cfg, refusing{franz.New(), 1}))
		if err == nil || !strings.Contains(err.Error(), "filling the topic: the brokers take no records: refused") {
			t.Errorf("the run ended with %v", err)
		}
		nothingIsLeft(t, cfg)
	})
}

func TestInterruptedFill(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, filling(t, "fill-interrupted", "topic.fill=900GB", "topic.config={retention.bytes: -1}"))
		interrupt := make(chan struct{})
		cfg.Interrupt, cfg.Watch = interrupt, &progress{then: sync.OnceFunc(func() { close(interrupt) })}
		_, err := tryRun(cfg)
		if !errors.Is(err, context.Canceled) || err.Error() != "interrupted while the topic was being filled; nothing was measured" {
			t.Errorf("the run ended with %v", err)
		}
		nothingIsLeft(t, cfg)
	})
}

type progress struct{ then func() }

func (p *progress) Began(string)             {}
func (p *progress) Interval(result.Interval) {}
func (p *progress) Event(e result.Event) {
	if e.Kind == "progress" && strings.HasPrefix(e.What, "filling: ") && strings.HasSuffix(e.What, " of 900 GB") {
		p.then()
	}
}

func nothingIsLeft(t *testing.T, cfg bench.Config) {
	t.Helper()
	if left, err := os.ReadDir(cfg.Out); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	topics, err := kadm.NewClient(client(t, cfg.Cluster)).ListTopics(context.Background())
	if err != nil || len(topics.Names()) > 0 {
		t.Errorf("left behind: %v (%v)", topics.Names(), err)
	}
}
