package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed prior.json
var priorFile []byte

// prior is an earlier tool's report of a scenario, in its own terms: one run of each, on an Apple
// M2. Nil means not reported.
type prior struct {
	Scenario       string      `json:"scenario"`
	PeakLag        *float64    `json:"peak_lag_records"`
	E2eP50Ms       *float64    `json:"e2e_p50_ms"`
	E2eP99Ms       *float64    `json:"e2e_p99_ms"`
	DeliveryPct    *float64    `json:"delivery_percent"`
	SentPerS       *float64    `json:"sent_per_s"`
	Configurations []priorCell `json:"cells"`
}

type priorCell struct {
	Value    string   `json:"value"` // of the setting that is swept
	E2eP50Ms float64  `json:"e2e_p50_ms"`
	E2eP99Ms float64  `json:"e2e_p99_ms"`
	SentPerS float64  `json:"sent_per_s"`
	AckP99Ms *float64 `json:"ack_p99_ms"`
	GCCycles *float64 `json:"gc_cycles"`
}

func priors() []prior {
	var all []prior
	if err := json.Unmarshal(priorFile, &all); err != nil {
		panic("prior.json: " + err.Error()) // it is compiled in, and a test reads it
	}
	return all
}

func scenarios() []string {
	var names []string
	for _, p := range priors() {
		names = append(names, p.Scenario)
	}
	return names
}

// priorOf has only the name if there is no report.
func priorOf(scenario string) prior {
	for _, p := range priors() {
		if p.Scenario == scenario {
			return p
		}
	}
	return prior{Scenario: scenario}
}

// The earlier tool's latency began when the record was sent, after any wait, and its delivery was
// delivered ÷ sent.
func (p prior) reported(figure string) (v float64, known bool) {
	scaled := func(v *float64, unit float64) (float64, bool) {
		if v == nil {
			return 0, false
		}
		return *v * unit, true
	}
	switch figure {
	case "lag_peak":
		return scaled(p.PeakLag, 1)
	case "e2e_response_time_p50":
		return scaled(p.E2eP50Ms, 1e6)
	case "e2e_response_time_p99":
		return scaled(p.E2eP99Ms, 1e6)
	case "delivered_to_acked_ratio":
		return scaled(p.DeliveryPct, 0.01)
	case "acked_per_s":
		return scaled(p.SentPerS, 1)
	}
	return 0, false
}

func (c priorCell) figure(name string) (v float64, known bool) {
	switch name {
	case "e2e_response_time_p50":
		return c.E2eP50Ms * 1e6, true
	case "e2e_response_time_p99":
		return c.E2eP99Ms * 1e6, true
	case "acked_per_s":
		return c.SentPerS, true
	}
	return 0, false
}

func (c priorCell) reported() string {
	parts := []string{fmt.Sprintf("e2e p50 %.2f ms", c.E2eP50Ms), fmt.Sprintf("p99 %.1f ms", c.E2eP99Ms)}
	if c.AckP99Ms != nil {
		parts = append(parts, fmt.Sprintf("ack p99 %.1f ms", *c.AckP99Ms))
	}
	if c.GCCycles != nil {
		parts = append(parts, fmt.Sprintf("%.0f GC cycles", *c.GCCycles))
	}
	return strings.Join(parts, ", ")
}
