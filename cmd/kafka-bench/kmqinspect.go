package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/kmq"
)

const inspectTimeout = 2 * time.Minute

func kmqInspect(in surroundings) *cobra.Command {
	flags := queueFlags{in: in}
	var engine string
	var asJSON bool
	c := &cobra.Command{
		Use:   "inspect GROUP",
		Short: "Show what a group has in flight, how old the oldest of it is, and what came back",
		Long: `Show for each partition of a queue: the committed offset, the end of the log, the
records in flight, those that wait, the age of the oldest record that is not settled,
and the redeliveries; and how many dead letters there are. It joins no group and
writes nothing.

If the group has only one topic, that is the default. The engine is recognised by what
the group has stored on the cluster. A group of plain has stored nothing of its own: the
engine is then not known, the records in flight are shown as –, and --engine names it.
The same holds for markers in a topic of another name before a tracker has run:
--markers-topic names it.
A group that has committed nothing and has no members is refused. What an engine keeps
only in its consumers' memory is shown as –, and so is a sum that includes it.`,
		Example: `  kafka-bench kmq inspect billing
  kafka-bench kmq inspect billing --dead-letter orders-dead --json`,
		Args: needs(1, 1, "the name of one group"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := in.untilInterrupt(c.Context())
			defer stop()
			ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
			defer cancel()
			cfg, err := flags.config(ctx, c, args[0])
			if err != nil {
				return err
			}
			if cfg.Engine, err = engineToInspect(engine, flags.markers); err != nil {
				return err
			}
			found, err := kmq.Inspect(ctx, cfg)
			switch {
			case errors.Is(err, context.Canceled):
				return errInterrupted
			case err != nil:
				return err
			case asJSON:
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(inspectionOf(found, time.Now()))
			}
			return printInspection(c.OutOrStdout(), found, time.Now())
		},
	}
	addQueue(c, &flags)
	f := c.Flags()
	f.StringVar(&flags.topic, "topic", "", "the queue's topic, if the group has several")
	f.StringVar(&engine, "engine", "", "plain, markers, offsetmap or share, if it can't be recognised")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// engineToInspect returns nil if neither flag names an engine.
func engineToInspect(engine, markersTopic string) (kmq.Engine, error) {
	switch {
	case engine == "" && markersTopic == "":
		return nil, nil
	case markersTopic == "":
		return kmq.ParseEngine(engine)
	case engine == "" || engine == kmq.Markers{}.String():
		return kmq.Markers{Topic: markersTopic}, nil
	}
	return nil, fmt.Errorf("--markers-topic is only for the engine markers, and --engine is %s; leave one of them out", engine)
}

// Unknown values of anInspection are null.
type anInspection struct {
	Group       string                 `json:"group"`
	Topic       string                 `json:"topic"`
	Engine      *string                `json:"engine"`
	InFlight    *int64                 `json:"in_flight_records"`
	Waiting     *int64                 `json:"waiting_records"`
	Redelivered *int64                 `json:"redelivered_records"`
	OldestAt    *time.Time             `json:"oldest_unacked_at"`
	OldestAge   *float64               `json:"oldest_unacked_age_s"`
	DeadLetters *int64                 `json:"dead_letter_records"`
	Partitions  []anInspectedPartition `json:"partitions"`
}

type anInspectedPartition struct {
	Partition   int32      `json:"partition"`
	Committed   *int64     `json:"committed_offset"`
	End         int64      `json:"end_offset"`
	InFlight    *int64     `json:"in_flight_records"`
	Waiting     *int64     `json:"waiting_records"`
	Redelivered *int64     `json:"redelivered_records"`
	OldestAt    *time.Time `json:"oldest_unacked_at"`
	OldestAge   *float64   `json:"oldest_unacked_age_s"`
}

func inspectionOf(i kmq.Inspection, now time.Time) anInspection {
	all := total(i)
	of := partitionOf(all, now)
	out := anInspection{
		Group: i.Group, Topic: i.Topic,
		InFlight: of.InFlight, Waiting: of.Waiting, Redelivered: of.Redelivered, OldestAt: of.OldestAt,
		OldestAge:   of.OldestAge,
		DeadLetters: told(i.DeadLetters), Partitions: []anInspectedPartition{},
	}
	if i.Engine != nil {
		out.Engine = new(i.Engine.String())
	}
	for _, p := range i.Partitions {
		out.Partitions = append(out.Partitions, partitionOf(p, now))
	}
	return out
}

func partitionOf(p kmq.PartitionInspection, now time.Time) anInspectedPartition {
	out := anInspectedPartition{
		Partition: p.Partition, Committed: told(p.Committed), End: p.End,
		InFlight: told(p.InFlight), Waiting: told(p.Waiting), Redelivered: told(p.Redelivered),
	}
	if !p.OldestUnacked.IsZero() {
		at, age := p.OldestUnacked.UTC(), now.Sub(p.OldestUnacked).Seconds()
		out.OldestAt, out.OldestAge = &at, &age
	}
	return out
}

// told returns nil for an unknown number, which is negative.
func told(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// A number that is unknown for one partition is unknown for the total.
func total(i kmq.Inspection) kmq.PartitionInspection {
	var all kmq.PartitionInspection
	add := func(to *int64, n int64) {
		if n < 0 || *to < 0 {
			*to = -1
			return
		}
		*to += n
	}
	for _, p := range i.Partitions {
		add(&all.InFlight, p.InFlight)
		add(&all.Waiting, p.Waiting)
		add(&all.Redelivered, p.Redelivered)
		if at := p.OldestUnacked; !at.IsZero() && (all.OldestUnacked.IsZero() || at.Before(all.OldestUnacked)) {
			all.OldestUnacked = at
		}
	}
	return all
}

func printInspection(w io.Writer, i kmq.Inspection, now time.Time) error {
	engine := "unknown (an ordinary group has none; name a queue's with --engine)"
	if i.Engine != nil {
		engine = i.Engine.String()
	}
	printWrapped(w, "group %s on topic %s, engine %s", i.Group, i.Topic, engine)
	fmt.Fprintln(w)
	table := layout.Table{Gap: 2,
		Rows: [][]string{{"", "partition", "committed", "end", "in flight", "waiting", "redeliveries",
			"oldest unacked"}}}
	row := func(name, committed, end string, p kmq.PartitionInspection) {
		table.Add("", name, committed, end, number(p.InFlight), number(p.Waiting), number(p.Redelivered),
			ageOf(p.OldestUnacked, now))
	}
	for _, p := range i.Partitions {
		row(strconv.Itoa(int(p.Partition)), number(p.Committed), number(p.End), p)
	}
	row("all", "", "", total(i))
	if err := printTable(w, &table); err != nil {
		return err
	}
	if i.DeadLetters >= 0 {
		fmt.Fprintf(w, "\ndead letters in %s: %d\n", i.DeadLetterTopic, i.DeadLetters)
	}
	return nil
}

func number(n int64) string {
	if n < 0 {
		return none
	}
	return strconv.FormatInt(n, 10)
}

func ageOf(at, now time.Time) string {
	if at.IsZero() {
		return none
	}
	return unit.Span(max(now.Sub(at), 0).Truncate(time.Second))
}
