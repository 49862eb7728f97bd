package remote

import (
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
)

// GroupAssignment is the part of a consumer group that a process opens.
type GroupAssignment struct {
	Client ClientAssignment
	GroupSettings
}

// ClientAssignment is driver.ConsumerConfig without the fields that each process sets itself.
type ClientAssignment struct {
	Brokers                []string
	ClusterID              string
	ClientID               string
	Topic                  string
	Group                  string
	Protocol               string
	FetchMinBytes          int32
	FetchMaxBytes          int32
	FetchMaxPartitionBytes int32
	FetchMaxWait           time.Duration
	ControlRecords         bool
	MaxPollRecords         int
	SessionTimeout         time.Duration
	Assignor               string
	Native                 map[string]string
}

// GroupSettings is receive.Config without the fields that each process sets itself.
type GroupSettings struct {
	SameID      bool
	Manual      bool
	Members     int
	Only        []int
	Late        bool
	Numbers     int
	Producers   int
	Filled      int
	Partitions  int
	From        []int64
	ByPartition bool
	Plan        load.Plan
	CommitEvery time.Duration
	PollTimeout time.Duration
	Seed        uint64
	Hold        bool
	Stamped     bool
	ClosedLoop  bool
	Run         uint32
	Elsewhere   []receive.Handed
}

func assignment(cfg receive.Config) GroupAssignment {
	c := cfg.Client
	return GroupAssignment{
		Client: ClientAssignment{
			Brokers: c.Brokers, ClusterID: c.ClusterID, ClientID: c.ClientID, Topic: c.Topic, Group: c.Group, Protocol: c.Protocol,
			FetchMinBytes: c.FetchMinBytes, FetchMaxBytes: c.FetchMaxBytes,
			FetchMaxPartitionBytes: c.FetchMaxPartitionBytes, FetchMaxWait: c.FetchMaxWait,
			ControlRecords: c.ControlRecords, MaxPollRecords: c.MaxPollRecords, SessionTimeout: c.SessionTimeout,
			Assignor: c.Assignor, Native: c.Client,
		},
		GroupSettings: GroupSettings{
			SameID: cfg.SameID, Manual: cfg.Manual, Members: cfg.Members, Only: cfg.Only, Late: cfg.Late, Numbers: cfg.Numbers,
			Producers: cfg.Producers, Filled: cfg.Filled, Partitions: cfg.Partitions, From: cfg.From,
			ByPartition: cfg.ByPartition, Plan: cfg.Plan, CommitEvery: cfg.CommitEvery, PollTimeout: cfg.PollTimeout,
			Seed: cfg.Seed,
			Hold: cfg.Hold, Stamped: cfg.Stamped, ClosedLoop: cfg.ClosedLoop, Run: cfg.Run,
			Elsewhere: cfg.Elsewhere,
		},
	}
}

// Config returns the configuration of the group. The process adds its driver, access, axis and
// callbacks.
func (a GroupAssignment) Config() receive.Config {
	c, g := a.Client, a.GroupSettings
	return receive.Config{
		Client: driver.ConsumerConfig{
			Brokers: c.Brokers, ClusterID: c.ClusterID, ClientID: c.ClientID, Topic: c.Topic, Group: c.Group, Protocol: c.Protocol,
			FetchMinBytes: c.FetchMinBytes, FetchMaxBytes: c.FetchMaxBytes,
			FetchMaxPartitionBytes: c.FetchMaxPartitionBytes, FetchMaxWait: c.FetchMaxWait,
			ControlRecords: c.ControlRecords, MaxPollRecords: c.MaxPollRecords, SessionTimeout: c.SessionTimeout,
			Assignor: c.Assignor, Client: c.Native,
		},
		SameID: g.SameID, Manual: g.Manual, Members: g.Members, Only: g.Only, Late: g.Late, Numbers: g.Numbers,
		Producers: g.Producers, Filled: g.Filled, Partitions: g.Partitions, From: g.From,
		ByPartition: g.ByPartition, Plan: g.Plan, CommitEvery: g.CommitEvery, PollTimeout: g.PollTimeout,
		Seed: g.Seed,
		Hold: g.Hold, Stamped: g.Stamped, ClosedLoop: g.ClosedLoop, Run: g.Run,
		Elsewhere: g.Elsewhere,
	}
}
