package bench

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/controller"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

type gateConfig struct {
	Backpressure scenario.Backpressure
	// Processes is how many processes have producers, each with a gate and an equal part of the bound.
	Processes int
	// Doubt is how long a record that the client gave up may still reach the log.
	Doubt time.Duration
	Axis  *load.Axis
	// Read returns an error if the lag is unknown.
	Read func(context.Context) (lagcontrol.Reading, error)
	// Tell receives the gate's events from any goroutine until keep ends; it may be nil.
	Tell func(result.Event)
}

type gatekeeper struct {
	cfg  gateConfig
	gate *lagcontrol.Gate

	ended  atomic.Bool // keep has ended
	mu     sync.Mutex  // guards bounds
	bounds *snapshot.Bound
}

func newGatekeeper(cfg gateConfig) (_ *gatekeeper, err error) {
	b := cfg.Backpressure
	if b.Controller == "off" {
		return nil, nil
	}
	k := &gatekeeper{cfg: cfg}
	gate := lagcontrol.Config{
		Interval: time.Duration(b.Poll), Grace: time.Duration(b.Grace), FailOpen: b.Blind == "open",
		Doubt:    cfg.Doubt,
		Source:   lagcontrol.SourceFunc(k.read),
		OnChange: k.tell,
	}
	if cfg.Processes > 1 && b.Controller != "hysteresis" {
		gate.Share = lagcontrol.Fixed(1 / float64(cfg.Processes))
		gate.Inherit = lagcontrol.NoInherit // a run's group is new
	}
	if gate.Controller, err = newController(b); err != nil {
		return nil, err
	}
	if k.gate, err = lagcontrol.New(gate); err != nil {
		return nil, err
	}
	return k, nil
}

func newController(b scenario.Backpressure) (lagcontrol.Controller, error) {
	target := time.Duration(b.Target)
	switch b.Controller {
	case "hysteresis":
		return controller.NewHysteresis(b.MaxLag, b.ResumeLag)
	case "credit":
		return lagcontrol.NewCredit(b.MaxLag)
	case "latency":
		return lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: target, MaxLag: b.MaxLag})
	case "aimd":
		return controller.NewAIMD(controller.AIMDConfig{Target: target, MaxLag: b.MaxLag})
	case "gradient":
		return controller.NewGradient(controller.GradientConfig{MaxLag: b.MaxLag})
	default:
		return nil, fmt.Errorf("there is no controller %q", b.Controller)
	}
}

func (k *gatekeeper) admission(cfg *send.Config) {
	if k == nil {
		return
	}
	b := k.cfg.Backpressure
	cfg.Gate, cfg.TellOffsets = k.gate, k.cfg.Processes > 1
	switch b.Excess {
	case "shed":
		cfg.Excess = send.Shed
	case "degrade":
		cfg.Excess, cfg.Keep = send.Degrade, b.Keep
	}
}

func (k *gatekeeper) keep(ctx context.Context) {
	_ = k.gate.Watch(ctx) // it fails only without a source
	k.ended.Store(true)
	k.noteBound()
}

func (k *gatekeeper) read(ctx context.Context) (lagcontrol.Reading, error) {
	k.noteBound()
	return k.cfg.Read(ctx)
}

// The mark comes first, so that the reading includes all records that the mark counts as complete.
func (k *gatekeeper) poll(ctx context.Context) {
	mark := k.gate.Mark()
	if reading, err := k.cfg.Read(ctx); err != nil {
		k.gate.Missed(err)
	} else {
		k.gate.Report(mark, reading)
	}
	k.noteBound()
}

func (k *gatekeeper) stats() lagcontrol.Stats { return k.gate.Stats() }

func (k *gatekeeper) standing() snapshot.Gate {
	s := k.stats()
	return snapshot.Gate{
		Refused: s.Refused, Changes: s.Changes, Closed: s.Closed, Blind: s.Blind, MaxAge: s.MaxAge,
		Open: s.Open, Bound: k.bound(), InWindow: k.inWindow(),
	}
}

// bound returns nil if it is unlimited.
func (k *gatekeeper) bound() *int64 {
	bound := k.stats().Bound
	if bound == lagcontrol.Unlimited {
		return nil
	}
	return &bound
}

func (k *gatekeeper) noteBound() {
	bound := k.bound()
	if bound == nil || !k.cfg.Axis.InWindow(k.cfg.Axis.Now()) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bounds == nil {
		k.bounds = &snapshot.Bound{Min: math.MaxInt64}
	}
	k.bounds.Min, k.bounds.Max, k.bounds.Last = min(k.bounds.Min, *bound), max(k.bounds.Max, *bound), *bound
}

// inWindow returns nil if there was no bound.
func (k *gatekeeper) inWindow() *snapshot.Bound {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bounds == nil {
		return nil
	}
	bounds := *k.bounds
	return &bounds
}

var gateWords = map[lagcontrol.ChangeKind]string{
	lagcontrol.Opened:  "gate opened",
	lagcontrol.Closed:  "gate closed",
	lagcontrol.Bounded: "bound moved",
	lagcontrol.Blind:   "gate blind",
	lagcontrol.Seeing:  "gate sees again",
	lagcontrol.Stalled: "consumers stalled",
	lagcontrol.Moving:  "consumers move again",
	lagcontrol.Misused: "gate misused",
	lagcontrol.Unread:  "partitions not read",
}

func (k *gatekeeper) tell(c lagcontrol.Change) {
	if k.cfg.Tell == nil || k.ended.Load() || c.Kind == lagcontrol.Small { // the run warns of a small bound before it starts
		return
	}
	data := map[string]any{"lag_records": c.Lag, "signal_age_ns": int64(c.Age), "open": c.Open}
	if c.Bound != lagcontrol.Unlimited {
		data["bound_records"] = c.Bound
	}
	k.cfg.Tell(result.Event{AtNs: k.cfg.Axis.Now(), Kind: "backpressure", What: gateWords[c.Kind], Reason: c.Reason,
		Data: data})
}
