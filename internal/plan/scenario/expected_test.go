package scenario

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/arrival"
)

func TestExpected(t *testing.T) {
	for _, c := range []struct {
		text string
		want Expected
	}{
		{"load: {rate: 10k/s, record: {size: 512B}}\nphases: {warmup: 3s, measure: 40s}", Expected{430_000, 430_000 * 512, true, false}},
		{"load: {rate: 5/3s, record: {size: 10B}}\nphases: {warmup: 3s, measure: 7s}", Expected{5 + 12, 170, true, false}},
		{"load: {rate: 5k/s, arrival: {process: burst, peak: 15k/s, length: 3s, period: 12s}}\nphases: {warmup: 0s, measure: 1m}", Expected{450_000, 450_000 * 512, true, false}},
		{"load: {rate: 5k/s, arrival: {process: burst, peak: 15k/s, length: 3s, period: 12s}}\nphases: {warmup: 1s, measure: 34s}", Expected{5_000 + 90_000*2 + 45_000 + 15_000, 240_000*512 + 5_000*512, true, false}},
		{"load: {rate: 1k/s, arrival: {process: ramp, to: 3k/s, over: 10s}}\nphases: {warmup: 0s, measure: 15s}", Expected{35_000, 35_000 * 512, true, false}},
		{"load: {rate: 1k/s, arrival: {process: spike, peak: 50k/s, at: 25s, length: 5s}}\nphases: {warmup: 0s, measure: 1m}", Expected{305_000, 305_000 * 512, true, false}},
		{"load: {arrival: {process: steps, steps: [{rate: 1k/s, for: 10s}, {rate: 0/s, for: 5s}, {rate: 2k/s}]}}\nphases: {warmup: 2s, measure: 20s}", Expected{22_000, 22_000 * 512, true, false}},
		{"load: {rate: 100/s, arrival: poisson, record: {size: {uniform: [100B, 300B]}}}\nphases: {warmup: 1s, measure: 9s}", Expected{1000, 200_000, true, false}},
		{"load: {rate: 10k/s, volume: 1MB, producers: 4, record: {size: 1kB}}\nphases: {warmup: 1s, measure: 9s}", Expected{11_000, 11_000_000, true, false}},
		{"load: {rate: 10k/s, volume: 1GB, record: {size: 1kB}}\nphases: {warmup: 1s, measure: 9s}", Expected{100_000, 100_000_000, true, false}},
		{"load: {rate: max}", Expected{Unbounded: true}},
		{"load: {rate: max, max_rate: 5k/s, record: {size: 1kB}}\nphases: {warmup: 1s, measure: 9s}", Expected{50_000, 50_000_000, true, false}},
		{"load: {rate: max, max_rate: 5k/s, records: 90k, record: {size: 1kB}}\nphases: {warmup: 1s, measure: 9s}", Expected{50_000, 50_000_000, true, false}},
		{"load: {rate: 100M/s, record: {size: 100kB}, batch: 200kB}\nphases: {warmup: 0s, measure: 720h}", Expected{259_200_000_000_000, math.MaxInt64, true, false}},
		{"load: {rate: max, record: {size: 1kB}}\ntopic: {fill: 1MB}", Expected{1000, 1_000_000, false, true}},
		{"load: {rate: 10k/s, records: 1001, producers: 4, record: {size: 1kB}}\nphases: {warmup: 1s}", Expected{11_001, 11_001_000, true, false}},
		{"load: {rate: max, records_each: 500, producers: 4, record: {size: 1kB}}\nphases: {warmup: 0s}", Expected{2000, 2_000_000, true, false}},
		{"load: {producers: 0, record: {size: 1kB}}\ntopic: {fill_records_each: 100, fill_producers: 3}", Expected{300, 300_000, true, false}},
		{"load: {rate: max, volume: 1MB, producers: 3, record: {size: 1kB}}", Expected{1002, 1_002_000, false, false}},
		{"load: {rate: max, volume: 1MB, record: {size: 1kB}}\nphases: {warmup: 0s}", Expected{1000, 1_000_000, true, false}},
		{"load: {producers: 0}\ntopic: {existing: mine}", Expected{Known: true}},
		{"load: {producers: 0}\ntopic: {fill: 1MB}", Expected{1954, 1954 * 512, true, false}},
		{"load: {rate: 10k/s, record: {size: 1kB}}\nphases: {warmup: 1s, measure: 9s}\ntopic: {fill: 1MB}", Expected{101_000, 101_000_000, true, false}},
	} {
		s, err := Parse("f.yaml", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := s.Expected(); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestExpectedIsWhatArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		s.Load.Producers, s.Load.Volume, s.Load.Records, s.Load.RecordsEach = 1, 0, 0, 0
		s.Phases.Warmup, s.Topic.Fill, s.Topic.FillRecords, s.Topic.FillRecordsEach = 0, 0, 0, 0
		if s.Load.Rate.IsMax() {
			return
		}
		measure := time.Duration(s.Phases.Measure)
		want := process(t, s).Expected(measure)
		if got := float64(s.Expected().Records); math.Abs(got-want) > 1+want*1e-12 {
			t.Fatalf("%v records are expected, and %v are due", got, want)
		}
	})
}

func process(t interface{ Fatal(...any) }, s Scenario) arrival.Process {
	a, rate := s.Load.Arrival, s.Load.Rate
	var p arrival.Process
	var err error
	switch a.Process {
	case "constant":
		p, err = arrival.Constant(rate)
	case "poisson":
		p, err = arrival.Poisson(rate, 1)
	case "burst":
		p, err = arrival.Burst(rate, a.Peak, time.Duration(a.Length), time.Duration(a.Period))
	case "ramp":
		p, err = arrival.Ramp(rate, a.To, time.Duration(a.Over))
	case "spike":
		p, err = arrival.Spike(rate, a.Peak, time.Duration(a.At), time.Duration(a.Length))
	default:
		var steps []arrival.Step
		for _, step := range a.Steps {
			steps = append(steps, arrival.Step{Rate: step.Rate, For: time.Duration(step.For)})
		}
		p, err = arrival.Steps(steps)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExpectedRecordByRecord(t *testing.T) {
	for _, text := range []string{
		"load: {rate: 77/s}\nphases: {warmup: 1.3s, measure: 7s}",
		"load: {rate: 7/3s, arrival: {process: burst, peak: 111/s, length: 1s, period: 3s}}\nphases: {warmup: 1s, measure: 7.7s}",
		"load: {rate: 100/s, arrival: {process: ramp, to: 3/s, over: 5s}}\nphases: {warmup: 2s, measure: 8s}",
		"load: {rate: 10/s, arrival: {process: spike, peak: 500/s, at: 0s, length: 1s}}\nphases: {warmup: 2s, measure: 8s}",
		"load: {arrival: {process: steps, steps: [{rate: 31/s, for: 1s}, {rate: 2/s}]}}\nphases: {warmup: 2s, measure: 8s}",
	} {
		s, err := Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p := arrival.WithWarmup(time.Duration(s.Phases.Warmup), process(t, s))
		due := int64(0)
		for stream := p.Stripe(0, 1); stream.Due() < int64(s.Phases.Measure); stream.Advance() {
			due++
		}
		if got := s.Expected().Records; got != due {
			t.Errorf("%q: %d records are expected, and %d are due", text, got, due)
		}
	}
}
