package bench

import (
	"context"
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Unwatched is the kind of the event that says why the free disk of the brokers is not watched.
const Unwatched = "unwatched"

// Findings is what an existing cluster said about a run that has not begun.
type Findings struct {
	Disks     []guard.Disk
	Floors    map[int32]int64 // see guard.Limits
	Unwatched string          // why the disks are not watched; "" if they are
	Unhealthy int             // partitions
	Warnings  []string
}

// Ask asks an existing cluster what a run asks it before its load, and makes nothing there. The error is the one with
// which the run would be refused.
func Ask(ctx context.Context, cfg Config) (Findings, error) {
	b := &base{cfg: cfg, runID: "dryrun"}
	found, err := b.askGuards(ctx)
	if err != nil {
		return found, err
	}
	name, err := b.openAdmin()
	if err != nil {
		return found, err
	}
	defer b.admin.Close()
	if err := b.permitted(ctx, name); err != nil {
		return found, err
	}
	t := cfg.Scenario.Topic
	if t.Existing == "" {
		return found, b.admin.CheckTopic(ctx, name, t.Partitions, t.Replication, b.topicConfig(t.Config))
	}
	groups, err := b.useExisting(ctx, t.Existing)
	if groups != "" {
		found.Warnings = append(found.Warnings, groups)
	}
	if err != nil {
		return found, err
	}
	return found, b.checkKeys(ctx)
}

func (b *base) askGuards(ctx context.Context) (Findings, error) {
	reader, err := probe.NewClusterReader(b.seeds(), b.access(), groupsOf(b.cfg.Guards))
	if err != nil {
		return Findings{}, err
	}
	defer reader.Close()
	before, err := reader.ReadAll(ctx)
	if err != nil {
		return Findings{}, b.denied(whoGuards, err)
	}
	return admitted(b.cfg, reader, before, floors(before.Disks, b.cfg.Guards, !b.cfg.Guards.Remote))
}

// admitted refuses a run that would harm the cluster.
func admitted(cfg Config, reader *probe.ClusterReader, before guard.Observation, floors map[int32]int64) (Findings, error) {
	found := Findings{Disks: before.Disks, Floors: floors, Unhealthy: len(before.Unhealthy)}
	if err := checkGroups(groupsOf(cfg.Guards), before.Lag); err != nil {
		return found, err
	}
	if err := found.checkHealth(before, cfg.Guards); err != nil {
		return found, err
	}
	if why := quotasUnseen(cfg); why != "" && !cfg.Guards.Anyway {
		found.warn("quotas not watched: " + why)
	}
	s := cfg.Scenario
	size, known := reader.Topic(s.Topic.Existing)
	if s.Topic.Existing == "" || !known {
		size = probe.Placement{Partitions: s.Topic.Partitions, Replication: s.Topic.Replication}
	}
	s.Topic.Replication = size.Replication
	return found, found.checkSpace(s, size, len(before.Brokers), cfg.Guards)
}

func (f *Findings) warn(text string) { f.Warnings = append(f.Warnings, text) }

func (f *Findings) checkHealth(before guard.Observation, g Guards) error {
	if f.Unhealthy == 0 {
		return nil
	}
	what := fmt.Sprintf("%s of the cluster without all replicas or without a leader: %s",
		unit.Things(int64(f.Unhealthy), "partition"), guard.Some(before.Unhealthy))
	if !g.Anyway {
		return &cluster.Error{Kind: cluster.ErrInput, What: what, Remedy: "wait until they are healthy, or add --anyway"}
	}
	f.warn(what + ", before the load")
	return nil
}

// checkSpace refuses a run whose bytes do not fit the brokers' disks above their floors.
func (f *Findings) checkSpace(s scenario.Scenario, size probe.Placement, brokers int, g Guards) error {
	if f.Disks == nil {
		const what = "the brokers do not report what disk they have free"
		if g.Remote && !g.MaxBytesStated {
			return &cluster.Error{Kind: cluster.ErrInput, What: what,
				Remedy: "allow this user DESCRIBE on the cluster (Kafka 3.3 and later report it), or bound with --max-bytes what the run stores"}
		}
		f.Unwatched = what
		f.warn("disk not watched: " + what)
		return nil
	}
	stored, _ := Stored(s)
	for _, d := range f.Disks {
		share := guard.Share(len(d.Brokers), brokers, size.Partitions, size.Replication)
		if size.Brokers != nil {
			share = guard.ShareOf(d.Brokers, size.Brokers)
		}
		need, floor := stored*share, guard.FloorOf(d, f.Floors)
		left := float64(d.UsableBytes) - float64(floor)
		if left >= 0 && need <= left {
			continue
		}
		text := fmt.Sprintf("the run stores up to %s with %s, of it %s on %s, which has %s free, and %s must stay free (--min-free)",
			unit.Bytes(saturated(stored)), replicas(s), unit.Bytes(saturated(need)), d.Name, unit.Bytes(d.UsableBytes),
			unit.Bytes(floor))
		if left > 0 && (!keepsAll(s) || compresses(s, need, left)) {
			f.warn(text + ": if that is not enough, the run ends early")
			continue
		}
		return &cluster.Error{Kind: cluster.ErrInput, What: text,
			Remedy: "lower load.rate, phases.measure or load.volume, or free some disk"}
	}
	return nil
}
