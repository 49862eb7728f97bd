package lagcontrol_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
)

func TestCreditLaw(t *testing.T) {
	c, err := lagcontrol.NewCredit(5000)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		name                   string
		lag, admitted, settled int64
		share                  float64
		ceiling, bound         int64
		reason                 string
	}{
		{"nothing sent", 0, 0, 0, 1, 5000, 5000, "lag 0 of 5000, 0 in flight: 5000 more may be sent"},
		{"some in the log, some on their way", 3000, 10_000, 9000, 1, 11_000, 5000, "1000 more may be sent"},
		{"used up", 4000, 10_000, 9000, 1, 10_000, 5000, "the bound is used up"},
		{"a backlog from before", 90_000, 10, 10, 1, 10, 5000, "the bound is used up"},
		{"a third", 1000, 2000, 2000, 1.0 / 3, 2666, 1666, "lag 1000 of 1666"},
		{"no share", 0, 7, 7, 0, 7, 0, "lag 0 of 0"},
	} {
		t.Run(o.name, func(t *testing.T) {
			d := c.Decide(lagcontrol.Observation{Lag: o.lag, Admitted: o.admitted, Settled: o.settled, Share: o.share})
			if d.Ceiling != o.ceiling || d.Bound != o.bound || !strings.Contains(d.Reason, o.reason) {
				t.Errorf("ceiling %d, bound %d, %q; want %d, %d, %q", d.Ceiling, d.Bound, d.Reason, o.ceiling, o.bound, o.reason)
			}
		})
	}
	if c.Limit() != 5000 {
		t.Errorf("the limit is %d", c.Limit())
	}
}

func TestNoControllerAdmitsEverything(t *testing.T) {
	gate := newGate(t, lagcontrol.Config{})
	report(gate, lagcontrol.Reading{Lag: 1 << 40})
	if s := gate.Stats(); s.Ceiling != lagcontrol.Unlimited || s.Bound != lagcontrol.Unlimited || !gate.TryAcquire(1000) {
		t.Errorf("without a controller %+v", s)
	}
}

func TestConstructorsRefuseWhatCannotWork(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		says []string
	}{
		{"credit", second(lagcontrol.NewCredit(0)), []string{"must be positive, not 0 records"}},
		{"no bound", second(controller.NewHysteresis(0, 1)), []string{"must be positive"}},
		{"a negative bound", second(controller.NewHysteresis(-5, 1)), []string{"must be positive"}},
		{"no resume mark", second(controller.NewHysteresis(100, 0)), []string{"never open"}},
		{"resume at the bound", second(controller.NewHysteresis(100, 100)), []string{"100 records is not below 100"}},
		{"resume above it", second(controller.NewHysteresis(100, 200)), []string{"200 records is not below 100"}},
		{"latency", second(lagcontrol.NewLatency(lagcontrol.LatencyConfig{MaxLag: -1, Start: -2})),
			[]string{"positive time, not 0s", "must not be negative: -1", "must not be negative: -2"}},
		{"aimd", second(controller.NewAIMD(controller.AIMDConfig{Target: -1, MaxLag: -1, Step: -3})),
			[]string{"positive time, not -1ns", "must not be negative: -1", "not by -3"}},
		{"gradient", second(controller.NewGradient(controller.GradientConfig{MaxLag: -5})), []string{"must not be negative: -5"}},
	} {
		for _, want := range c.says {
			if c.err == nil || !strings.Contains(c.err.Error(), want) {
				t.Errorf("%s: %v; want an error that says %q", c.name, c.err, want)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }
