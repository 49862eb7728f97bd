package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const childWord = "serve-as-a-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childWord {
		signal.Ignore(os.Interrupt)
		err := Serve(os.Stdin, os.Stdout, served(context.Background(), func() *load.Axis { return load.NewAxis(nil) }))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == orphanWord {
		makeOrphan()
		return
	}
	os.Exit(m.Run())
}

func served(ctx context.Context, axis func() *load.Axis) map[string]any {
	c := &clock{axis: axis()}
	return map[string]any{
		PartName: NewService(ctx, NewHere(probe.Unknown(), c.open)), "Clock": c, "Trouble": Trouble{},
	}
}

// orphanWord makes the test binary a parent that dies while its child is paused; childWord makes it
// a child.
const orphanWord = "leave-an-orphan"

func makeOrphan() {
	c, err := StartChild(0, childCommand)
	if err == nil {
		err = errors.Join(c.Call("Clock.Now", None(0), new(int64)), c.stand())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Wait until SIGSTOP has taken effect: when the parent ends, the kernel looks for stopped
	// children.
	for range 100 {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.PID()))
		if err == nil && strings.Contains(string(status), ") T ") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println(c.PID())
}

var childCommand = []string{os.Args[0], childWord}

type clock struct{ axis *load.Axis }

func (c *clock) Now(_ None, reply *int64) error {
	*reply = c.axis.Now()
	return nil
}

func (c *clock) Apart(_ None, reply *int64) error {
	*reply = int64(c.axis.Apart())
	return nil
}

type Trouble struct{}

func (Trouble) Exit(message string, _ *None) error {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(3)
	return nil
}

func (Trouble) Hang(None, *None) error { select {} }

func (Trouble) Refuse(message string, _ *None) error { return errors.New(message) }

func (c *clock) open(_ context.Context, a Assignment) (Load, error) {
	if a.Group != nil {
		return openTape(a, c.axis)
	}
	if a.Topic == "refused" {
		return Load{}, errors.New("there is no such topic")
	}
	cfg, err := producing(a.Partitions, c.axis)
	if err != nil {
		return Load{}, err
	}
	switch a.RunID {
	case "a volume":
		cfg.Volume = 30_000
	case "records":
		cfg.Records = 301
	}
	cfg.Only = a.Workers
	ps, err := send.Open(cfg)
	if err != nil {
		return Load{}, err
	}
	l := Load{
		Opened: Opened{Settings: ps.Settings(), Bounded: ps.Spent() != nil}, Axis: c.axis, Producers: ps, Partitions: a.Partitions,
	}
	if a.RunID == "misfit" {
		l.Partitions--
	}
	return l, nil
}

const workers = 5

func producing(partitions int, axis *load.Axis) (send.Config, error) {
	process, err := arrival.Constant(unit.Rate{Records: 2000, Per: time.Second})
	if err != nil {
		return send.Config{}, err
	}
	corpus, err := payload.NewCorpus(payload.Spec{Class: "zeros", Stamped: true, Sizes: payload.Sizes{Distribution: "fixed", Values: []int{100}}})
	if err != nil {
		return send.Config{}, err
	}
	return send.Config{
		Driver: &log{at: make([]int64, partitions)}, Workers: workers, MaxBuffered: 1000, Arrivals: arrival.WithWarmup(100*time.Millisecond, process),
		Partitions: partitions, Partitioning: "round-robin", Corpus: corpus, Keys: &payload.Keys{}, RecordBytes: 100,
		Stamped: true, Consumed: true, Run: 7, MaxDeferred: 1000, Axis: axis,
	}, nil
}

// log acks every record at once but refuses every hundredth.
type log struct {
	mu sync.Mutex
	at []int64
	n  int
}

func (l *log) Name() string                        { return "log" }
func (l *log) Version() string                     { return "0" }
func (l *log) Lacks() map[driver.Capability]string { return nil }
func (l *log) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	return &logProducer{l, cfg.OnDone}, nil
}
func (l *log) NewConsumer(driver.ConsumerConfig) (driver.Consumer, error) {
	return nil, errors.ErrUnsupported
}

type logProducer struct {
	log    *log
	onDone func(driver.Done)
}

func (p *logProducer) Produce(r *driver.Record) {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	d := driver.Done{Record: r, Tag: r.Tag, Outcome: driver.Acked, Offset: p.log.at[r.Partition]}
	if p.log.n++; p.log.n%100 == 0 {
		d.Outcome, d.Offset, d.Err = driver.Failed, -1, errors.New("refused")
	} else {
		p.log.at[r.Partition]++
	}
	p.onDone(d)
}

func (p *logProducer) Settings() []driver.Setting {
	return []driver.Setting{{Name: "acks", Value: "all"}}
}
func (p *logProducer) Close()            {}
func (p *logProducer) Wire() driver.Wire { return driver.Wire{Batches: 1} }
