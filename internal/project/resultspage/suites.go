package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
)

// suites are the presets of the section on throughput and scale. Their runs are recorded only if
// -only names them, and need an otherwise idle machine.
var suites = []string{
	"throughput-producer", "throughput-consumer", "throughput-record-size", "throughput-stored-data",
	"latency-e2e", "consumer-limit", "consumer-brokers", "consumer-cpu", "consumer-memory", "partitions",
	"latency-partitions", "clients", "drivers", "broker-failover",
}

func onlyNamed(name string) bool {
	return slices.Contains(front, name) || slices.Contains(studies, name) || slices.Contains(suites, name) ||
		madeForQueues(name)
}

// quickForm ends the names of campaigns in a suite's quick form.
const quickForm = "-quick"

func presetOf(campaign string) string {
	if name, quick := strings.CutSuffix(campaign, quickForm); quick &&
		(slices.Contains(suites, name) || madeForQueues(name)) {
		return name
	}
	return campaign
}

//go:embed suites.json
var suitesFile []byte

// priorSuite is an earlier report of the same step, on another machine: from, to.
type priorSuite struct {
	Suite         string      `json:"suite"`
	Variant       string      `json:"variant"`
	AckedPerS     *[2]float64 `json:"acked_per_s"`
	DeliveredPerS *[2]float64 `json:"delivered_per_s"`
}

func priorSuites() ([]priorSuite, error) {
	var all []priorSuite
	if err := json.Unmarshal(suitesFile, &all); err != nil {
		return nil, fmt.Errorf("suites.json: %w", err)
	}
	return all, nil
}

func (p priorSuite) reported() string {
	switch {
	case p.AckedPerS != nil:
		return ratesBetween(*p.AckedPerS) + " acked"
	case p.DeliveredPerS != nil:
		return ratesBetween(*p.DeliveredPerS) + " delivered"
	}
	return absent
}

func ratesBetween(rates [2]float64) string {
	if rates[0] == rates[1] {
		return unit.PerSecond(rates[0])
	}
	return unit.PerSecond(rates[0]) + " to " + unit.PerSecond(rates[1])
}

func (s *shelf) missingSuites() string { return s.missingOf(suites) }

// suite is the question, the table with the reported figures, and the answer; "" if it was not
// made.
func (s *shelf) suite(name string, figures ...string) (string, error) {
	prior, err := priorRates(name)
	if err != nil {
		return "", err
	}
	text, err := s.study(prior, name, figures...)
	if err != nil || text == "" {
		return "", err
	}
	where, err := whereOf(s.of(name).runs())
	if err != nil {
		return "", err
	}
	shortened, err := s.of(name).shortened()
	if err != nil {
		return "", err
	}
	text += "\n\nMeasured on: " + where + shortened + " " + leftOut(s.of(name).made())
	answer, err := s.of(name).answer()
	if err != nil || answer == "" {
		return text, err
	}
	return text + "\n\n" + answer, nil
}

// priorRates returns the reported figure of each variant.
func priorRates(suite string) (map[string]string, error) {
	all, err := priorSuites()
	if err != nil {
		return nil, err
	}
	byVariant := map[string]string{}
	for _, p := range all {
		if p.Suite == suite {
			byVariant[p.Variant] = p.reported()
		}
	}
	for _, c := range priorOf(presetNamed(suite)).Configurations {
		byVariant[c.Value] = c.reported()
	}
	return byVariant, nil
}

func (e *entry) answer() (string, error) {
	if e.campaign == nil {
		return "", nil
	}
	d, err := campaigns.Analyse(e.campaign, "")
	if err != nil {
		return "", err
	}
	return d.Answer.Markdown(func(text string) string { return text }), nil
}

// suiteVerdicts gives the number of suites that were completed, and of valid runs. A run whose
// books do not balance is invalid.
func (s *shelf) suiteVerdicts() string { return s.verdictsOf(suites) }

// verdictsOf does the same for the presets of a list.
func (s *shelf) verdictsOf(names []string) string {
	made, valid, runs := 0, 0, 0
	for _, name := range names {
		e := s.of(name)
		if len(e.runs()) == 0 {
			continue
		}
		made++
		for _, r := range e.made() {
			runs++
			if r.Run.Verdict.Status == result.Valid {
				valid++
			}
		}
	}
	if runs == 0 {
		return notMade
	}
	return fmt.Sprintf("%d of %d suites were made; %d of their %d runs are valid, so their books balance.", made, len(names), valid, runs)
}

func (s *shelf) suiteGoals() (string, error) {
	table, err := s.goalsOf(suites)
	if table == notMade {
		return "", err // the verdicts say that no runs were made
	}
	return table, err
}

// accounted prints how many records were lost or not accounted for when brokers were killed with
// acks all.
func (s *shelf) accounted() (string, error) {
	runs := s.of("broker-failover").valid("all-kill")
	if len(runs) == 0 {
		return "", nil
	}
	f, err := figure.Named("lost")
	if err != nil {
		return "", err
	}
	var acked, kills int64
	lost := 0.0
	for _, r := range runs {
		acked += r.Load.Acked
		for _, f := range r.Faults {
			if f.Name == "kill" {
				kills++
			}
		}
		if v, known := f.Value(r); known {
			lost += v
		}
	}
	return fmt.Sprintf("Kills of a leader under acks all: %s. Of %s acknowledged records, %s were lost; each run's books balance.",
		unit.Count(kills), unit.Count(acked), unit.Count(int64(lost))), nil
}
