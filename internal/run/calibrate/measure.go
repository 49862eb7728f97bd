package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// Plan says what to measure, and for how long.
type Plan struct {
	Quick           bool
	RecordBytes     []int         // ascending
	Halvings        int           // most steps between a rate that holds and one that does not
	Warmup, Measure time.Duration // of each run
	Micro           time.Duration // for each of the small costs
}

// Small records cost time mainly per record, large records mainly per byte.
var recordSizes = []int{100, 512, 1 << 10, 10 << 10}

var quickSizes = []int{100, 1 << 10, 10 << 10}

// Full returns a plan that takes about a minute.
func Full() Plan {
	return Plan{RecordBytes: recordSizes, Halvings: 2, Warmup: 300 * time.Millisecond,
		Measure: 1200 * time.Millisecond, Micro: 400 * time.Millisecond}
}

// Quick returns a plan that takes about a quarter of Full's time and is less certain.
func Quick() Plan {
	return Plan{Quick: true, RecordBytes: quickSizes, Halvings: 1, Warmup: 100 * time.Millisecond,
		Measure: 250 * time.Millisecond, Micro: 100 * time.Millisecond}
}

// Config configures a calibration.
type Config struct {
	Plan   Plan
	Driver driver.Driver
	Tool   result.Tool
	// Progress receives what is measured next; nil drops it.
	Progress func(string)
}

const (
	producers  = 4
	partitions = 6
	drain      = 10 * time.Second
	// retention keeps unread records from filling the memory of the embedded broker.
	retention = 16 << 20
	// maxBufferedBytes bounds the bytes in flight of one producer. Further records wait at the
	// source (load.max_buffered).
	maxBufferedBytes = 4 << 20
)

var pacers = []string{"frugal", "precise"}

// maxLateness bounds the pacer's lateness at p99 for a rate that holds.
const maxLateness = 5 * time.Millisecond

// keptUp is the part of the offered rate that must be acked in the measured window.
const keptUp = 0.98

// MaxOthers is the part of the processors that other processes may use without a note.
const MaxOthers = 0.1

// Measure calibrates this machine. If it fails or ctx ends, it leaves no files.
func Measure(ctx context.Context, cfg Config) (c *Calibration, err error) {
	out, err := os.MkdirTemp("", "kafka-bench-calibrate-")
	if err != nil {
		return nil, fmt.Errorf("the folder for the runs of a calibration could not be made: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	broker, err := cluster.StartEmbedded(cluster.EmbeddedOptions{RetentionBytes: retention})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, broker.Stop(context.WithoutCancel(ctx))) }()

	m := &measurer{cfg: cfg, cluster: broker, out: out, held: make(map[string]int)}
	c = &Calibration{
		SchemaVersion: SchemaVersion, MadeAt: time.Now().UTC(), HostName: hostName(), Tool: cfg.Tool,
		Driver: cfg.Driver.Name() + " " + cfg.Driver.Version(), Broker: broker.Info().Version, Quick: cfg.Plan.Quick,
	}
	if err := m.small(ctx, c); err != nil {
		return nil, err
	}
	for _, bytes := range cfg.Plan.RecordBytes {
		offers, err := m.offers(ctx, bytes)
		if err != nil {
			return nil, err
		}
		c.Offers = append(c.Offers, offers...)
	}
	c.Host = m.host
	if m.others > MaxOthers {
		c.Notes = append(c.Notes,
			fmt.Sprintf("other processes took up to %s of the processors meanwhile: calibrate again when they are idle",
				unit.Percent(m.others)))
	}
	return c, nil
}

type measurer struct {
	cfg     Config
	cluster cluster.Cluster
	out     string
	probes  probe.Set
	host    result.Host
	others  float64 // highest part of the processors
	held    map[string]int
}

func (m *measurer) tell(format string, args ...any) {
	if m.cfg.Progress != nil {
		m.cfg.Progress(fmt.Sprintf(format, args...))
	}
}

func (m *measurer) offers(ctx context.Context, bytes int) (offers []Offer, err error) {
	m.tell("records of %v: as fast as it goes", unit.Size(bytes))
	closed, err := m.run(ctx, bytes, unit.MaxRate, pacers[0])
	if err != nil {
		return nil, err
	}
	for _, pacer := range pacers {
		o := Offer{RecordBytes: bytes, Pacer: pacer, ClosedLoopPerS: closed.Load.AckedPerS}
		if err := m.highest(ctx, &o); err != nil {
			return nil, err
		}
		offers = append(offers, o)
	}
	return offers, nil
}

func (m *measurer) highest(ctx context.Context, o *Offer) error {
	rate := func(share float64) float64 { return math.Floor(share * o.ClosedLoopPerS) }
	f, err := highestShare(m.held[o.Pacer], m.cfg.Plan.Halvings, func(share float64) (bool, error) {
		perS := rate(share)
		if perS < 1 {
			return false, nil
		}
		m.tell("records of %v: on schedule, %s, %s pacer", unit.Size(o.RecordBytes), unit.PerSecond(perS), o.Pacer)
		r, err := m.run(ctx, o.RecordBytes, unit.Rate{Records: int64(perS), Per: time.Second}, o.Pacer)
		if err != nil || !holds(r) {
			return false, err
		}
		late := r.Time["pacer_lateness"]
		o.HighestPerS, o.CPUPerRecordNs = &perS, r.Process.CPUPerRecord
		o.LatenessP50Ns, o.LatenessP99Ns = late.P50Ns, late.P99Ns
		return true, nil
	})
	if err != nil {
		return err
	}
	m.held[o.Pacer] = f.at
	if f.held > 0 && f.failed > 0 {
		failed := rate(f.failed)
		o.FailedPerS = &failed
	}
	return nil
}

func holds(r *result.Run) bool {
	return r.Verdict.Status == result.Valid && time.Duration(r.Time["pacer_lateness"].P99Ns) <= maxLateness &&
		r.Load.AckedPerS >= keptUp*r.Load.OfferedPerS
}

func (m *measurer) run(ctx context.Context, bytes int, rate unit.Rate, pacer string) (*result.Run, error) {
	s := scenario.Defaults()
	s.Name = "calibrate"
	s.Topic.Partitions = partitions
	s.Load.Rate, s.Load.Producers, s.Load.Pacer = rate, producers, pacer
	s.Load.Record.Size = scenario.FixedSize(unit.Size(bytes))
	s.Load.MaxBuffered = min(s.Load.MaxBuffered, max(maxBufferedBytes/bytes, 100))
	s.Consume.Consumers = 0
	s.Phases = scenario.Phases{
		Warmup: unit.Duration(m.cfg.Plan.Warmup), Measure: unit.Duration(m.cfg.Plan.Measure),
		Drain: unit.Duration(drain),
	}
	runtime.GC() // so that this run does not collect the garbage of the last one
	outcome, err := bench.Run(ctx, bench.Config{
		Scenario: s.Resolve(), Cluster: m.cluster, Driver: m.cfg.Driver, Out: m.out, Tool: m.cfg.Tool, Probes: m.probes,
	})
	if err != nil {
		return nil, fmt.Errorf("records of %v: %w", unit.Size(bytes), err)
	}
	m.host = outcome.Run.Run.Host
	if p := outcome.Run.Process; p.HostCPUBusy != nil && p.CPUCores != nil && m.host.CPUs > 0 {
		m.others = max(m.others, *p.HostCPUBusy-*p.CPUCores/float64(m.host.CPUs))
	}
	return &outcome.Run, os.RemoveAll(outcome.Dir)
}
