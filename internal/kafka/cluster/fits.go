package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Fits returns nil if a run of s can use the cluster. Otherwise it returns an ErrInput with the
// reason: the cluster differs from what the scenario says, or its Kafka lacks what the scenario
// needs.
func Fits(c Info, s scenario.Scenario) error {
	return errors.Join(sameVersion(c, s.Cluster.Version), sameDisks(c, s.Cluster.Disks), enoughBrokers(c, s), offers(c, s))
}

func contradicts(key, asks, is string) error {
	return &Error{
		Kind: ErrInput, What: fmt.Sprintf("%s %s, and %s", key, asks, is),
		Remedy: fmt.Sprintf("leave %s out, or start such a Kafka with --cluster kafka", key),
	}
}

// The version of an existing cluster is a guess. An inexact guess fits no version that a scenario
// names.
func sameVersion(c Info, line string) error {
	if line == "" || lineOf(c.Version) == line {
		return nil
	}
	is := "the cluster is Kafka " + c.Version
	switch {
	case c.Kind == KindEmbedded:
		is = "the cluster is the embedded broker"
	case c.Kind == KindExisting && c.Version == "":
		is = "the existing cluster answers like an unknown version"
	case c.Kind == KindExisting:
		is = fmt.Sprintf("the existing cluster answers like %q", c.Version)
	}
	return contradicts("cluster.version", "asks for Kafka "+line, is)
}

func sameDisks(c Info, disks []string) error {
	if len(disks) == 0 {
		return nil
	}
	is := "the cluster keeps its logs in a folder of its own"
	switch {
	case c.Kind == KindEmbedded:
		is = "the embedded broker keeps its logs in memory"
	case c.Kind == KindExisting:
		is = "where an existing cluster keeps its logs is not known"
	case len(c.Disks) > 0:
		asks, err := absolute(disks)
		if err != nil {
			return err
		}
		slices.Sort(asks)
		if slices.Equal(asks, slices.Sorted(slices.Values(c.Disks))) {
			return nil
		}
		is = "the cluster keeps its logs in " + strings.Join(c.Disks, ", ")
	}
	return contradicts("cluster.disks", "names "+strings.Join(disks, ", "), is)
}

func absolute(dirs []string) ([]string, error) {
	all := make([]string, len(dirs))
	for i, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("the folder %s: %w", dir, err)
		}
		all[i] = path
	}
	return all, nil
}

// An existing cluster may have brokers that are down, so it decides itself.
func enoughBrokers(c Info, s scenario.Scenario) error {
	if c.Kind != KindKafka || s.Topic.Existing != "" || s.Topic.Replication <= c.Brokers {
		return nil
	}
	return &Error{
		Kind:   ErrInput,
		What:   fmt.Sprintf("topic.replication: %d replicas need as many brokers, and the cluster has %d", s.Topic.Replication, c.Brokers),
		Remedy: "lower it, or use more brokers",
	}
}

// An existing cluster may have previews switched on, so its version alone does not show what it
// lacks.
func offers(c Info, s scenario.Scenario) error {
	refuse := func(what, remedy string) error { return &Error{Kind: ErrInput, What: what, Remedy: remedy} }
	switch {
	case c.Kind == KindKafka:
		if lacks := s.CheckKafka(lineOf(c.Version)); lacks != nil {
			return refuse(lacks.Error(), "")
		}
	case c.ClassicOnly && s.Consume.Protocol == "consumer":
		return refuse("consume.protocol: the cluster does not offer the group protocol consumer",
			"choose classic, or a cluster of Kafka 4.0 or later (KIP-848)")
	case c.NoShares && s.Consume.Queue.Engine == "share":
		return refuse("consume.queue.engine: the cluster has no share groups, or they are switched off",
			"choose another engine, or a cluster of Kafka 4.2 or later (KIP-932)")
	}
	return nil
}
