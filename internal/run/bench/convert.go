package bench

import (
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func stamped(s scenario.Scenario) bool {
	smallest, _ := s.Load.Record.Size.Bounds()
	return s.Load.Record.Header() || smallest >= payload.StampSize
}

func payloadSpec(s scenario.Scenario) payload.Spec {
	r := s.Load.Record
	values := make([]int, len(r.Size.Values))
	for i, v := range r.Size.Values {
		values[i] = int(v)
	}
	return payload.Spec{
		Class: r.Payload.Class, Seed: r.Seed, Stamped: stamped(s) && !r.Header(),
		Sizes: payload.Sizes{Distribution: r.Size.Distribution, Values: values},
	}
}

func keySpec(r scenario.Record) payload.KeySpec {
	return payload.KeySpec{Distribution: r.Keys.Distribution, Count: r.Keys.Count, Skew: r.Keys.Skew, Seed: r.Seed}
}

func process(s scenario.Scenario) (arrival.Process, error) {
	rate, a := s.Load.Rate, s.Load.Arrival
	switch a.Process {
	case "constant":
		return arrival.Constant(rate)
	case "poisson":
		return arrival.Poisson(rate, s.Load.Record.Seed)
	case "burst":
		return arrival.Burst(rate, a.Peak, time.Duration(a.Length), time.Duration(a.Period))
	case "ramp":
		return arrival.Ramp(rate, a.To, time.Duration(a.Over))
	case "spike":
		return arrival.Spike(rate, a.Peak, time.Duration(a.At), time.Duration(a.Length))
	case "steps":
		steps := make([]arrival.Step, len(a.Steps))
		for i, step := range a.Steps {
			steps[i] = arrival.Step{Rate: step.Rate, For: time.Duration(step.For)}
		}
		return arrival.Steps(steps)
	default:
		return nil, fmt.Errorf("there is no arrival process %q", a.Process)
	}
}

func workPlan(c scenario.Consume) load.Plan {
	p := load.Plan{Work: work(c.Work)}
	for _, change := range c.Changes {
		p.Changes = append(p.Changes, load.Change{At: int64(change.At), Work: work(change.Work)})
	}
	return p
}

func work(w scenario.Work) load.Work {
	if w.Distribution == "lognormal" {
		mean, deviation := w.Moments()
		return load.Work{Time: mean, Jitter: deviation, Distribution: w.Distribution}
	}
	return load.Work{Time: time.Duration(w.Time), Jitter: time.Duration(w.Jitter), Distribution: w.Distribution}
}

func acks(word string) driver.Acks {
	switch word {
	case "0":
		return driver.AcksNone
	case "1":
		return driver.AcksLeader
	default:
		return driver.AcksAll
	}
}
