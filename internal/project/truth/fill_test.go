package truth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// filling is a scenario that fills its topic and reads it.
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

// TestFill: what a topic was filled with is delivered in the measured window, all of
// it, checked, and with no times; the window ends with the last record.
func TestFill(t *testing.T) {
	t.Parallel()
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill")))
	wantValid(t, r)
	const records = 20_000
	fill := r.Run.Fill
	if fill == nil || fill.Records != records || fill.Bytes != 100*records || fill.TimeS <= 0 || fill.AckedPerS <= 0 {
		t.Fatalf("the fill is %+v; want %d records of 100 bytes", fill, records)
	}
	d, w := r.Run.Delivery, r.Run.Warmup
	if !d.Checked || d.Delivered != records || d.Unique != records || d.Ratio != 1 || d.Lost+d.Duplicates+d.Pending+d.Foreign != 0 || d.Bytes != 100*records {
		t.Errorf("delivered: %+v", d)
	}
	if w.Load.Acked != records || w.Load.Scheduled != records || w.Delivery.Unique != records || w.Load.OfferedPerS != 0 {
		t.Errorf("the books of the warm-up: %+v and %+v", w.Load, w.Delivery)
	}
	if l := r.Run.Load; l.Scheduled != 0 || l.Acked != 0 {
		t.Errorf("something was offered in the window: %+v", l)
	}
	if len(r.Run.Time) != 1 || r.Run.Time["poll_time"].Count == 0 {
		t.Errorf("there are times of what was filled before: %v", r.Run.Time)
	}
	for _, iv := range r.Intervals {
		if e2e, there := iv.Time["e2e_service_time"]; there {
			t.Errorf("the interval to %v has e2e times of what was filled before: %+v", time.Duration(iv.EndNs), e2e)
		}
	}
	window := float64(r.Run.Run.Phases[1].EndNs) / 1e9
	if got := d.DeliveredPerS * window; got < records-1 || got > records+1 || !r.Run.Lag.Drained {
		t.Errorf("%.0f/s over %.3f s is %.0f records; drained: %t", d.DeliveredPerS, window, got, r.Run.Lag.Drained)
	}
	wantCount(t, "the backlog's peak", r.Run.Lag.BacklogPeakRecords, records)
	wantFinalPartitions(t, r, records)
}

// wantFinalPartitions fails the test unless the group has committed all of n records.
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

// TestFillWaitsForTheWindow: through a warm-up nobody reads what was filled, and all of
// it is delivered in the window.
func TestFillWaitsForTheWindow(t *testing.T) {
	t.Parallel()
	const records = 20_000
	r := undisturbed(t, func() *result.Recorded {
		r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill-held", "phases.warmup=500ms")))
		wantValid(t, r)
		if early := deliveredBy(r, -1); early > 0 {
			t.Errorf("%d records were delivered before the window", early)
		}
		window := time.Duration(r.Run.Run.Phases[1].EndNs).Seconds()
		wantCount(t, "delivered per second × the window", int64(math.Round(r.Run.Delivery.DeliveredPerS*window)), records)
		wantCount(t, "delivered in the window", r.Run.Delivery.Delivered, records)
		wantCount(t, "the backlog at its start", r.Run.Lag.BacklogPeakRecords, records)
		return r
	}, countedLate)
	if shows := countedLate(r); shows != "" {
		t.Error(shows)
	}
}

// countedLate says that the interval which ends with the warm-up has records of the
// window: on a busy machine it is counted a moment after its end.
func countedLate(r *result.Recorded) string {
	if late := deliveredBy(r, 0); late > 0 {
		return fmt.Sprintf("%d records were delivered by the intervals of the warm-up", late)
	}
	return ""
}

// deliveredBy is how much was delivered by the intervals that end by then.
func deliveredBy(r *result.Recorded, endNs int64) (n int64) {
	for _, iv := range r.Intervals {
		if iv.EndNs <= endNs {
			n += iv.Delivered
		}
	}
	return n
}

// TestFillUnderLoad: with producers the fill lies there, and the consumers begin
// behind it, or with it when they are to.
func TestFillUnderLoad(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	load := []string{"load.producers=2", "load.rate=2k/s", "phases.measure=1s", "phases.warmup=200ms"}
	for from, read := range map[string]int64{"end": 0, "start": 20_000} {
		t.Run(from, func(t *testing.T) {
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
			if peak := r.Run.Lag.BacklogPeakRecords; read > 0 && peak < read {
				t.Errorf("the backlog was %d at the most, with %d records there at the start", peak, read)
			}
		})
	}
}

// TestFillOfUnstampedRecords: records without room for a stamp are counted.
func TestFillOfUnstampedRecords(t *testing.T) {
	t.Parallel()
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill-small", "load.record.size=10B", "topic.fill=50kB")))
	wantValid(t, r)
	if d := r.Run.Delivery; d.Checked || d.Delivered != 5000 || d.Pending != 0 {
		t.Errorf("delivered: %+v", d)
	}
}

// TestFillHasATimeout: what the measured window was too short for is pending.
func TestFillHasATimeout(t *testing.T) {
	t.Parallel()
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill-timeout", "phases.measure=1s", "consume.work=1ms")))
	wantValid(t, r)
	d := r.Run.Delivery
	if d.Delivered == 0 || d.Pending == 0 || d.Delivered+d.Pending != 20_000 || r.Run.Lag.Drained {
		t.Errorf("delivered %d, pending %d, drained %t", d.Delivered, d.Pending, r.Run.Lag.Drained)
	}
	wantWarning(t, r, "not read to its end")
}

// refusing is a driver whose producers lose a share of their records, told as failed.
type refusing struct {
	driver.Driver
	every int // so many records one fails
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
		p.onDone(driver.Done{Tag: r.Tag, Offset: -1, Err: errors.New("refused"), Outcome: driver.Failed})
		return
	}
	p.Producer.Produce(r)
}

// TestFillWithHoles: what failed of the fill is not in the topic, the books know that,
// and the verdict says it.
func TestFillWithHoles(t *testing.T) {
	t.Parallel()
	cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill-holes"))
	r := run(t, withDriver(cfg, refusing{franz.New(), 100}))
	wantValid(t, r)
	if f := r.Run.Fill; f.Records != 19_800 || f.Failed != 200 {
		t.Errorf("the fill is %+v", f)
	}
	wantCount(t, "delivered", r.Run.Delivery.Unique, 19_800)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	wantWarning(t, r, "the topic was not filled whole: of 20,000 records 200 failed")
}

// TestRefusedFill: where the brokers take nothing there is no run, and the reason is
// told.
func TestRefusedFill(t *testing.T) {
	t.Parallel()
	cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill-refused", "topic.fill=900GB", "topic.config={retention.bytes: -1}"))
	_, err := tryRun(withDriver(cfg, refusing{franz.New(), 1}))
	if err == nil || !strings.Contains(err.Error(), "filling the topic: the brokers take no records: refused") {
		t.Errorf("the run ended with %v", err)
	}
	nothingIsLeft(t, cfg)
}

// TestInterruptedFill: who interrupts while the topic is filled is asked to wait for
// nothing, and nothing is left behind.
func TestInterruptedFill(t *testing.T) {
	t.Parallel()
	cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), filling(t, "fill-interrupted", "topic.fill=900GB", "topic.config={retention.bytes: -1}"))
	interrupt := make(chan struct{})
	cfg.Interrupt, cfg.Watch = interrupt, &progress{then: sync.OnceFunc(func() { close(interrupt) })}
	_, err := tryRun(cfg)
	if !errors.Is(err, context.Canceled) || err.Error() != "interrupted while the topic was being filled; nothing was measured" {
		t.Errorf("the run ended with %v", err)
	}
	nothingIsLeft(t, cfg)
}

// progress does something once it is told how far the filling has come.
type progress struct{ then func() }

func (p *progress) Began(string)             {}
func (p *progress) Interval(result.Interval) {}
func (p *progress) Event(e result.Event) {
	if e.Kind == "progress" && strings.HasPrefix(e.What, "filling: ") && strings.HasSuffix(e.What, " of 900 GB") {
		p.then()
	}
}

// nothingIsLeft fails the test unless a run that did not come about has left neither
// a folder nor a topic.
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

// TestFillOnKafka: a real broker is filled with acks all and compressed batches, and
// three consumers read it, each in a process of its own; the books balance, and the
// group's offsets are the ends.
func TestFillOnKafka(t *testing.T) {
	s := filling(t, "fill-kafka", "topic.partitions=6", "topic.fill=30MB", "load.acks=all", "load.compression=lz4", "load.record.payload=json",
		"consume.consumers=3", "consume.processes=3", "consume.fetch.max_partition_bytes=1MiB")
	r := run(t, config(t, realKafka(t), s))
	wantValid(t, r)
	const records = 300_000
	wantCount(t, "filled", r.Run.Fill.Records, records)
	wantCount(t, "delivered", r.Run.Delivery.Unique, records)
	wantCount(t, "lost, pending, duplicate and foreign", r.Run.Delivery.Lost+r.Run.Delivery.Pending+r.Run.Delivery.Duplicates+r.Run.Delivery.Foreign, 0)
	var committed int64
	for _, p := range r.Run.Lag.FinalPartitions {
		committed += p.Committed
		wantCount(t, "the lag of a partition at the end", p.Lag, 0)
	}
	wantCount(t, "committed", committed, records)
	var inIntervals int64
	for _, iv := range r.Intervals {
		inIntervals += iv.Delivered
	}
	wantCount(t, "delivered by the intervals", inIntervals, records)
}
