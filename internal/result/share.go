package result

// Share is one producer's or consumer's part of the records, from the start of the measured window
// to the end of the drain. A producer's part is its acked records of the measured window; a
// consumer's part is all records that it received, including duplicates.
type Share struct {
	Group   string `json:"group,omitempty"` // of a consumer, if there are several groups
	Number  int    `json:"number"`          // as in client IDs and events
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"` // keys and values
	// FirstNs is when the first record was sent, or delivered; LastNs when the last record was
	// acked, or delivered. Both are null without a record.
	FirstNs *int64 `json:"first_ns"`
	LastNs  *int64 `json:"last_ns"`
}

// WindowEnd is the state of the groups and the topic after the measured window, as the brokers
// report it. The request is sent when the drain begins, before any consumer leaves.
type WindowEnd struct {
	ReadNs int64 `json:"read_ns"` // when the request was sent
	// Groups are null if the brokers did not report them, and if the consumers have no group.
	Groups []GroupAtEnd `json:"groups" jsonschema:"nullable"`
	// Partitions are those of the run's topic; null if the brokers did not report them.
	Partitions []TopicPartition `json:"partitions" jsonschema:"nullable"`
}

// GroupAtEnd is a consumer group with its members.
type GroupAtEnd struct {
	Name    string   `json:"name"`
	State   string   `json:"state"` // Kafka's name: Stable, Empty
	Members []Member `json:"members"`
}

// Member is a member of a group, with its partitions of the run's topic. In a share group several
// may have the same partition. Partitions are null if the brokers did not report them.
type Member struct {
	ID         string            `json:"id"`
	ClientID   string            `json:"client_id"`
	Host       string            `json:"host"` // as the brokers see it: /127.0.0.1
	Partitions []MemberPartition `json:"partitions" jsonschema:"nullable"`
}

// MemberPartition is a partition of a member, with the group's offsets. Committed and lag are null
// for a group without commits, and all three if they could not be read.
type MemberPartition struct {
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed_offset"`
	End       *int64 `json:"end_offset"` // the high watermark
	Lag       *int64 `json:"lag_records"`
}

// TopicPartition has the brokers of a partition of the topic, by ID.
type TopicPartition struct {
	Partition int32   `json:"partition"`
	Leader    *int32  `json:"leader"` // null without a leader
	Replicas  []int32 `json:"replicas"`
	InSync    []int32 `json:"in_sync"`
}
