package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

// asked is what the existing cluster said to a dry run. The zero value is of a cluster that is not asked.
type asked struct {
	info     cluster.Info
	first    bench.Findings      // of the first scenario; the others differ only in warnings
	warnings map[string][]string // by the scenario's name
	failed   error               // why the cluster was not asked
}

// dry asks the cluster of --brokers, and prints what would be done. If no broker answers, it prints that all the same.
func (r rig) dry(ctx context.Context, at place, begun campaign.Origin, scenarios []scenario.Scenario,
	print func(place) error) (err error) {
	if len(r.flags.brokers) > 0 && !r.flags.in.offline {
		if at.asked, err = r.ask(ctx, begun, scenarios); err != nil {
			return err
		}
	}
	if err := print(at); err != nil {
		return err
	}
	return at.asked.failed
}

// ask makes nothing on the cluster. The error is the one of a run.
func (r rig) ask(ctx context.Context, begun campaign.Origin, scenarios []scenario.Scenario) (a asked, err error) {
	source := r.source(cluster.Home{})
	if err := begun.CheckCluster(ctx, campaign.Engine{Source: source}, scenarios[0]); err != nil &&
		!errors.Is(err, cluster.ErrUnreachable) {
		return a, err
	}
	for _, s := range scenarios {
		if _, done := a.warnings[s.Name]; done {
			continue
		}
		c, err := source.For(ctx, s)
		if errors.Is(err, cluster.ErrUnreachable) {
			a.failed = fmt.Errorf("the cluster was not asked: %w", err)
			return a, nil
		}
		if err != nil {
			return a, campaign.Failure(s, err)
		}
		d, err := driverNamed(s.Driver)
		if err != nil {
			return a, campaign.Failure(s, err)
		}
		found, err := bench.Ask(ctx, bench.Config{
			Scenario: s, Cluster: c, Driver: d, KeepTopics: r.flags.keepTopics, Guards: r.runGuards(), Joining: r.fleet.joining(),
		})
		if err != nil {
			return a, campaign.Failure(s, err)
		}
		if a.warnings == nil {
			a.info, a.first, a.warnings = c.Info(), found, make(map[string][]string)
		}
		a.warnings[s.Name] = found.Warnings
	}
	return a, nil
}

func (a asked) rows() [][]string {
	if a.warnings == nil {
		return nil
	}
	health := "each partition has all replicas and a leader"
	if n := a.first.Unhealthy; n > 0 {
		health = unit.Things(int64(n), "partition") + " without all replicas or without a leader (--anyway)"
	}
	return [][]string{
		{"ID", fmt.Sprintf("%s; %s, Kafka %s", a.info.ID, count(a.info.Brokers, "broker"), cmp.Or(a.info.Version, "(version unknown)"))},
		{"rights", "what the runs need, as far as the brokers report it"},
		{"health", health},
		{"free", a.freeDisk()},
	}
}

func (a asked) freeDisk() string {
	if a.first.Unwatched != "" {
		return "not watched: " + a.first.Unwatched
	}
	disks := slices.Clone(a.first.Disks)
	slices.SortFunc(disks, func(x, y guard.Disk) int {
		return cmp.Compare(x.UsableBytes-guard.FloorOf(x, a.first.Floors), y.UsableBytes-guard.FloorOf(y, a.first.Floors))
	})
	var texts []string
	for _, d := range disks[:min(len(disks), maxDisks)] {
		texts = append(texts, fmt.Sprintf("%s of %s on %s, of which %s must stay free (--min-free)", unit.Bytes(d.UsableBytes),
			unit.Bytes(d.TotalBytes), d.Name, unit.Bytes(guard.FloorOf(d, a.first.Floors))))
	}
	if more := len(disks) - maxDisks; more > 0 {
		texts = append(texts, fmt.Sprintf("more on %s", count(more, "other disk")))
	}
	return strings.Join(texts, "; ")
}

// maxDisks is how many disks a dry run prints, those with the least space first.
const maxDisks = 3
