package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// picture is a committed chart in docs/images.
type picture struct {
	file  string // without its extension
	chart string
	of    []string // scenarios, or one campaign
	cells []string // of that campaign; none means all
	// figures are those of the chart "cells".
	figures   []string
	scheduled bool // percentiles of all scheduled records
}

// The first names are those of an earlier study.
func pictures() []picture {
	return []picture{
		{file: "baseline-timeline", chart: "timeline", of: []string{"baseline"}},
		{file: "compression-sweep", chart: "cells", of: []string{"sweep-compression"},
			figures: []string{"send_response_time_p99", "e2e_response_time_p99", "acked_per_s"}},
		{file: "acks-sweep", chart: "cells", of: []string{"sweep-acks"}, figures: []string{
			"e2e_response_time_p50", "e2e_response_time_p95", "e2e_response_time_p99", "e2e_response_time_p99_9"}},
		{file: "msgsize", chart: "cells", of: []string{"sweep-record-size"},
			figures: []string{"acked_bytes_per_s", "e2e_response_time_p99"}},
		{file: "payload-compression", chart: "codecs", of: []string{"sweep-payload"}},
		{file: "slow-consumer", chart: "lag", of: []string{"overload"}},
		{file: "recovery", chart: "lag", of: []string{"recovery-aggressive"}},
		{file: "e2e-cdf", chart: "percentiles", of: []string{"baseline", "overload", "recovery-aggressive"}},
		{file: "sysperf-gc", chart: "cells", of: []string{"sweep-compression"}, figures: []string{"gc_cycles", "gc_pause_p99"}},
		{file: "bursty-timeline", chart: "bursts", of: []string{"bursty-light", "bursty-heavy", "bursty-overload"}},
		{file: "bursty-summary", chart: "burst-peaks", of: []string{"bursty-light", "bursty-heavy", "bursty-overload"}},
		{file: "bp-compare", chart: "lag", of: []string{"overload", "overload-loose", "overload-tight"}},
		{file: "bp-summary", chart: "cells", of: []string{"overload", "overload-loose", "overload-tight"},
			figures: []string{"lag_peak", "e2e_response_time_p99", "delivery_ratio", "delivered_per_s"}},

		{file: "lag-four-modes", chart: "lag", of: []string{"backpressure-study"},
			cells: []string{"off", "hysteresis-tight", "credit", "latency-1s"}},
		{file: "percentiles-overload", chart: "percentiles", of: []string{"overload"}, scheduled: true},
		{file: "outage", chart: "outage", of: []string{"broker-failover"}, cells: []string{"all-kill"}},
		{file: "age", chart: "age", of: []string{"overload", "overload-tight", "recovery-aggressive"}},
		{file: "search", chart: "search", of: []string{search}},
		{file: "capacity", chart: "capacity", of: []string{search}},

		{file: "throughput-stored", chart: "stored", of: []string{"throughput-stored-data"}},
		{file: "throughput-record-size", chart: "record-size", of: []string{"throughput-record-size"}},
		{file: "consumers-speed-up", chart: "speed-up", of: []string{"consumer-limit"}},
		{file: "queue-speed-up", chart: "speed-up", of: []string{"kmq-scale"}},
		{file: "queue-latency", chart: "threads", of: []string{"kmq-scale"}},
		{file: "queue-drain", chart: "drain", of: []string{"kmq-drain"}},
		{file: "queue-drops", chart: "receive-rate", of: []string{"kmq-drops-silent"},
			cells: []string{"50-2s-markers", "50-2s-offsetmap", "50-cap4-2s-markers", "50-cap4-2s-share",
				"50-cap4-15s-markers", "50-cap4-15s-share"}},
	}
}

const imageWidth = 860

func (s *shelf) spec(p picture) (draw.Spec, error) {
	c, err := chart.Named(p.chart)
	if err != nil {
		return draw.Spec{}, err
	}
	in := chart.Input{OfScheduled: p.scheduled}
	for _, name := range p.figures {
		f, err := figure.Named(name)
		if err != nil {
			return draw.Spec{}, err
		}
		in.Figures = append(in.Figures, f)
	}
	for _, scenario := range p.of {
		e := s.of(scenario)
		switch {
		case len(e.runs()) == 0:
			return draw.Spec{}, fmt.Errorf("%s was not recorded", scenario)
		case len(e.cells) > 1 || e.campaign != nil && e.campaign.Campaign.Search != nil:
			in.Campaign = e.campaign
			if len(p.cells) > 0 {
				in.Campaign = cellsOf(e.campaign, p.cells)
			}
		case len(p.figures) > 0: // the figures cover all repeats
			in.Runs = append(in.Runs, valid(e.runs())...)
		default: // one run that has kept its series
			runs := valid(e.runs())
			i := slices.IndexFunc(runs, func(r *result.Recorded) bool { return len(r.Intervals) > 0 })
			if i < 0 {
				return draw.Spec{}, fmt.Errorf("%s has no valid run with %s", scenario, result.IntervalsFile)
			}
			in.Runs = append(in.Runs, runs[i])
		}
	}
	return c.Draw(in)
}

func cellsOf(c *result.RecordedCampaign, names []string) *result.RecordedCampaign {
	some := *c
	some.Campaign.Cells, some.Campaign.Runs, some.Runs = nil, nil, nil
	for _, name := range names {
		from := slices.IndexFunc(c.Campaign.Cells, func(cell result.Cell) bool { return valueOf(cell) == name })
		if from < 0 {
			continue
		}
		for i, r := range c.Campaign.Runs {
			if r.Cell == from {
				r.Cell = len(some.Campaign.Cells)
				some.Campaign.Runs, some.Runs = append(some.Campaign.Runs, r), append(some.Runs, c.Runs[i])
			}
		}
		some.Campaign.Cells = append(some.Campaign.Cells, c.Campaign.Cells[from])
	}
	return &some
}

// writeCharts returns a sentence for each picture that lacks its data.
func (s *shelf) writeCharts(dir string) (lacking []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, p := range pictures() {
		spec, err := s.spec(p)
		if err != nil {
			lacking = append(lacking, fmt.Sprintf("%s.svg is not drawn: %v", p.file, err))
			continue
		}
		if err := write(filepath.Join(dir, p.file+".svg"), spec.Layout(imageWidth)); err != nil {
			return lacking, err
		}
	}
	return lacking, nil
}

func write(path string, scene draw.Scene) error {
	var b bytes.Buffer
	if err := scene.SVG(&b, draw.SVGOptions{Standalone: true}); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// picture returns the image, or a sentence that says what it lacks.
func (s *shelf) picture(file string) (string, error) {
	i := slices.IndexFunc(pictures(), func(p picture) bool { return p.file == file })
	if i < 0 {
		return "", fmt.Errorf("there is no picture %q", file)
	}
	p := pictures()[i]
	spec, err := s.spec(p)
	if err != nil {
		if lacks := (*chart.Missing)(nil); errors.As(err, &lacks) {
			err = lacks // without the chart's name
		}
		return fmt.Sprintf("There is no chart %s.svg: %v. `make results-runs ONLY=%s` records it.", file, err,
			strings.Join(p.of, ",")), nil
	}
	text := fmt.Sprintf("![%s](images/%s.svg)", spec.Alt, file)
	if s.severalMachines(p.of) {
		text += "\n\nThe scenarios of this chart were recorded on different machines: do not compare their times."
	}
	return text, nil
}

func (s *shelf) severalMachines(scenarios []string) bool {
	var first *result.Recorded
	for _, name := range scenarios {
		for _, r := range s.of(name).runs() {
			if first == nil {
				first = r
			}
			if !alike(first, r) {
				return true
			}
		}
	}
	return false
}
