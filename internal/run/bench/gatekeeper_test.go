package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

func pressureOf(controller string) scenario.Backpressure {
	b := scenario.Defaults().Backpressure
	b.Controller, b.MaxLag, b.ResumeLag, b.Target, b.Keep = controller, 1000, 500, unit.Duration(250*time.Millisecond), 10
	return b
}

func TestEveryControllerOfAScenarioCanBeMade(t *testing.T) {
	for _, controller := range []string{"hysteresis", "credit", "latency", "aimd", "gradient"} {
		k, err := newGatekeeper(gateConfig{Backpressure: pressureOf(controller), Processes: 1, Axis: load.NewAxis(nil)})
		if err != nil || k == nil || k.gate == nil {
			t.Errorf("%s: %+v, %v", controller, k, err)
		}
	}
	if k, err := newGatekeeper(gateConfig{Backpressure: pressureOf("off")}); k != nil || err != nil {
		t.Errorf("off: %+v, %v; want none", k, err)
	}
	if _, err := newGatekeeper(gateConfig{Backpressure: pressureOf("pid"), Axis: load.NewAxis(nil)}); err == nil {
		t.Error("a controller that there is not was made")
	}
}

func TestAdmissionIsWhatTheScenarioSays(t *testing.T) {
	b := pressureOf("credit")
	b.Excess = "degrade"
	k, err := newGatekeeper(gateConfig{Backpressure: b, Processes: 2, Axis: load.NewAxis(nil)})
	if err != nil {
		t.Fatal(err)
	}
	var cfg send.Config
	k.admission(&cfg)
	if cfg.Gate == nil || !cfg.TellOffsets || cfg.Excess != send.Degrade || cfg.Keep != 10 {
		t.Errorf("the producers are made with %+v", cfg)
	}
	if cfg.Gate.Admit(1) != 0 {
		t.Error("a gate with a bound admits a record before it knows the lag")
	}
	cfg = send.Config{}
	(*gatekeeper)(nil).admission(&cfg)
	if cfg.Gate != nil || cfg.Excess != send.Defer {
		t.Errorf("without a gate the producers are made with %+v", cfg)
	}
}

func TestBoundIsTheProcessesPart(t *testing.T) {
	axis := load.NewAxis(nil)
	k, err := newGatekeeper(gateConfig{
		Backpressure: pressureOf("credit"), Processes: 2, Axis: axis,
		Read: func(context.Context) (lagcontrol.Reading, error) {
			return observe.GateReading("t", []probe.Lag{{Committed: []int64{100}, Ends: []int64{700}}}, nil), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if k.inWindow() != nil {
		t.Error("there is a bound before the window")
	}
	axis.Set(0, time.Hour)
	k.poll(t.Context())
	if bound := k.bound(); bound == nil || *bound != 500 {
		t.Errorf("the bound is %v, want half of 1000", bound)
	}
	if got := k.inWindow(); got == nil || *got != (snapshot.Bound{Min: 500, Max: 500, Last: 500}) {
		t.Errorf("in the window it was %+v", got)
	}
	if n := k.gate.Admit(10_000); n != 500 {
		t.Errorf("%d records were admitted; of the lag none is this process's", n)
	}
}

func TestGateThatCannotSee(t *testing.T) {
	for blind, admits := range map[string]bool{"closed": false, "open": true} {
		synctest.Test(t, func(t *testing.T) {
			b := pressureOf("credit")
			b.Blind, b.Grace = blind, unit.Duration(2*time.Second)
			var (
				mu   sync.Mutex
				told []result.Event
				fail error
			)
			axis := load.NewAxis(nil)
			k, err := newGatekeeper(gateConfig{
				Backpressure: b, Processes: 1, Axis: axis,
				Read: func(context.Context) (lagcontrol.Reading, error) {
					mu.Lock()
					defer mu.Unlock()
					return lagcontrol.Reading{Lag: 1000}, fail
				},
				Tell: func(e result.Event) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, e)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			axis.Set(0, time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				k.keep(ctx)
			}()
			time.Sleep(time.Second)
			mu.Lock()
			fail = errors.New("nobody answers")
			mu.Unlock()
			time.Sleep(4 * time.Second)
			if got := k.stats().Open; got != admits {
				t.Errorf("blind %s: the gate is open: %v", blind, got)
			}
			mu.Lock()
			fail = nil
			mu.Unlock()
			time.Sleep(time.Second)
			cancel()
			<-done
			var words []string
			for _, e := range told {
				words = append(words, e.What)
			}
			if want := []string{"gate blind", "gate sees again"}; !slices.Equal(words, want) {
				t.Fatalf("blind %s: events %q, want %q", blind, words, want)
			}
			if at := time.Duration(told[0].AtNs); at < 2900*time.Millisecond || at > 3200*time.Millisecond {
				t.Errorf("the gate was blind at %v; the last reading was at 1 s", at)
			}
			if s := k.stats(); math.Abs(s.Blind.Seconds()-2) > 0.3 {
				t.Errorf("it was blind for %v, want about 2 s", s.Blind)
			}
		})
	}
}
