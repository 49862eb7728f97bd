package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// The first experiments for a reader: README has the headline, and the page the others.
const (
	headline = "backpressure-short"
	search   = searched + "baseline"
	// bySarama is sweep-compression with the client of an earlier report.
	bySarama = "sweep-compression-sarama"
)

// The rest of a search's name is the scenario that is searched.
const searched = "search-"

var front = []string{headline, search, bySarama}

func presetNamed(entry string) string {
	if entry == bySarama {
		return "sweep-compression"
	}
	return entry
}

const (
	blockBegin = "<!-- result:begin -->\n"
	blockEnd   = "<!-- result:end -->"
)

func (s *shelf) readme(text []byte) ([]byte, error) {
	e := s.of(headline)
	if e.campaign == nil {
		return text, nil
	}
	before, rest, begins := bytes.Cut(text, []byte(blockBegin))
	_, after, ends := bytes.Cut(rest, []byte(blockEnd))
	if !begins || !ends {
		return nil, fmt.Errorf("README has no block between %q and %q", strings.TrimSpace(blockBegin), blockEnd)
	}
	block, err := e.block()
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{before, []byte(blockBegin), block, []byte(blockEnd), after}, nil), nil
}

func (e *entry) block() ([]byte, error) {
	where, err := whereOf(e.runs())
	if err != nil {
		return nil, err
	}
	table, err := e.table(nil, "admitted_ratio", "delivered_per_s", "delivered_to_acked_ratio", "lag_peak",
		"e2e_response_time_p50", "e2e_response_time_p99")
	if err != nil {
		return nil, err
	}
	said := wrapped("Measured on: " + where + " " + leftOut(e.made()) +
		" Each figure is the median of the valid runs; the brackets have the lowest and the highest.")
	return fmt.Appendf(nil, "%s\n\n%s\n", table, strings.TrimSpace(string(said))), nil
}

// kept omits notes on files that results/ does not keep.
func (e *entry) kept() *result.RecordedCampaign {
	c := *e.campaign
	c.Notes = slices.DeleteFunc(slices.Clone(c.Notes), func(note string) bool {
		return strings.HasSuffix(note, result.IntervalsFile+" is missing") ||
			strings.HasSuffix(note, result.EventsFile+" is missing")
	})
	return &c
}

func (s *shelf) searchSection() (string, error) {
	e := s.of(search)
	if e.campaign == nil {
		return "Not made for this page.", nil
	}
	where, err := whereOf(e.runs())
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := campaigns.Write(&b, e.kept(), report.Options{Format: report.AsMarkdown}); err != nil {
		return "", err
	}
	return "Measured on: " + where + "\n\n" + b.String(), nil
}
