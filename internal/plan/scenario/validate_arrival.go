package scenario

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

var arrivalFields = []struct {
	key   string
	given func(Arrival) bool
	of    []string
}{
	{"peak", func(a Arrival) bool { return !a.Peak.IsZero() }, []string{"burst", "spike"}},
	{"length", func(a Arrival) bool { return a.Length != 0 }, []string{"burst", "spike"}},
	{"period", func(a Arrival) bool { return a.Period != 0 }, []string{"burst"}},
	{"to", func(a Arrival) bool { return !a.To.IsZero() }, []string{"ramp"}},
	{"over", func(a Arrival) bool { return a.Over != 0 }, []string{"ramp"}},
	{"at", func(a Arrival) bool { return a.At != 0 }, []string{"spike"}},
	{"steps", func(a Arrival) bool { return len(a.Steps) != 0 }, []string{"steps"}},
}

const (
	arrivalPath = "load.arrival"
	measurePath = "phases.measure"
)

func (c *checker) arrival(s Scenario) {
	a := s.Load.Arrival
	if !slices.Contains(processes, a.Process) {
		c.choice(arrivalPath+".process", a.Process, processes)
		return
	}
	for _, f := range arrivalFields {
		if f.given(a) && !slices.Contains(f.of, a.Process) {
			c.mistake(arrivalPath+"."+f.key, fmt.Sprintf("%s arrivals have none", a.Process),
				fmt.Sprintf("leave it out, or set process to %s", strings.Join(f.of, " or ")), arrivalPath+".process")
		}
	}
	switch a.Process {
	case "burst":
		c.burst(a, s.Phases.Measure)
	case "ramp":
		c.rate(arrivalPath+".to", a.To)
		if c.positive(arrivalPath+".over", a.Over) {
			c.inWindow(arrivalPath+".over", a.Over, s.Phases.Measure, "the ramp ends")
		}
	case "spike":
		c.spike(a, s.Phases.Measure)
	case "steps":
		c.steps(s)
	}
}

func (c *checker) burst(a Arrival, measure unit.Duration) {
	c.rate(arrivalPath+".peak", a.Peak)
	length, period := c.required(arrivalPath+".length", a.Length), c.required(arrivalPath+".period", a.Period)
	if length && period && a.Length >= a.Period {
		c.mistake(arrivalPath+".length",
			fmt.Sprintf("a burst of %s leaves nothing of a period of %s", a.Length, a.Period),
			"make it shorter than the period", arrivalPath+".period")
	}
	if period {
		c.inWindow(arrivalPath+".period", a.Period, measure, "the first burst ends")
	}
}

func (c *checker) spike(a Arrival, measure unit.Duration) {
	c.rate(arrivalPath+".peak", a.Peak)
	at := c.duration(arrivalPath+".at", a.At, 0, maxPhase)
	if c.required(arrivalPath+".length", a.Length) && at {
		c.inWindow(arrivalPath+".length", a.At+a.Length, measure, "the spike ends", arrivalPath+".at")
	}
}

func (c *checker) steps(s Scenario) {
	const path = arrivalPath + ".steps"
	steps := s.Load.Arrival.Steps
	if len(steps) == 0 || len(steps) > maxLevels {
		c.mistake(path, fmt.Sprintf("it has %d steps", len(steps)),
			fmt.Sprintf("give 1 to %d, as in [{rate: 5k/s, for: 10s}, {rate: 10k/s}]", maxLevels))
		return
	}
	before := len(c.findings)
	for i, step := range steps {
		// Only the first step may not have the rate 0, because the warm-up uses it.
		if silent := step.Rate == (unit.Rate{Per: step.Rate.Per}) && !step.Rate.IsZero(); i == 0 || !silent {
			c.rate(fmt.Sprintf("%s[%d].rate", path, i), step.Rate)
		}
		c.positive(fmt.Sprintf("%s[%d].for", path, i), step.For)
	}
	if len(c.findings) > before {
		return
	}
	c.inWindow(path, s.Load.Arrival.stepsLength(), s.Phases.Measure, "the steps end")
	if s.Load.Rate != steps[0].Rate && !s.Load.Rate.IsMax() {
		c.mistake("load.rate", fmt.Sprintf("%s is not the first step's rate of %s", s.Load.Rate, steps[0].Rate),
			"leave it out", path)
	}
}

func (c *checker) inWindow(path string, end, measure unit.Duration, what string, from ...string) {
	if measure > 0 && end > measure {
		c.mistake(path, fmt.Sprintf("%s at %s, and the measured window ends at %s", what, end, measure),
			"shorten it, or raise "+measurePath, append(from, measurePath)...)
	}
}
