package result

// Share is what one producer or consumer had of the records, from the start of the measured
// window to the end of the drain. Of a producer these are the acknowledged records of the
// measured window; of a consumer the records that it was handed, whichever window they are
// of, duplicates included.
type Share struct {
	Group   string `json:"group,omitempty"` // of a consumer, if there are several groups
	Number  int    `json:"number"`          // as in client IDs and events
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"` // keys and values
	// FirstNs is when the first of them was sent, or handed over; LastNs when the last was
	// acknowledged, or handed over. Both are null without a record.
	FirstNs *int64 `json:"first_ns"`
	LastNs  *int64 `json:"last_ns"`
}

// WindowEnd is how the groups and the topic stood once the measured window had ended, as
// the brokers tell. It is asked for while the drain begins, before any consumer leaves.
type WindowEnd struct {
	ReadNs int64 `json:"read_ns"` // when it was asked for
	// Groups are null if the brokers did not tell, and if the consumers have no group.
	Groups []GroupAtEnd `json:"groups" jsonschema:"nullable"`
	// Partitions are those of the run's topic; null if the brokers did not tell.
	Partitions []TopicPartition `json:"partitions" jsonschema:"nullable"`
}

// GroupAtEnd is a consumer group with its members.
type GroupAtEnd struct {
	Name    string   `json:"name"`
	State   string   `json:"state"` // as Kafka calls it: Stable, Empty
	Members []Member `json:"members"`
}

// Member is a member of a group, with the partitions of the run's topic that it had. In a
// share group several may have the same partition. Partitions are null if the brokers did
// not tell.
type Member struct {
	ID         string            `json:"id"`
	ClientID   string            `json:"client_id"`
	Host       string            `json:"host"` // as the brokers see it: /127.0.0.1
	Partitions []MemberPartition `json:"partitions" jsonschema:"nullable"`
}

// MemberPartition is a partition that a member had, with the group's offsets. Committed and
// lag are null of a group that commits none, and all three if they could not be read.
type MemberPartition struct {
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed_offset"`
	End       *int64 `json:"end_offset"` // the high watermark
	Lag       *int64 `json:"lag_records"`
}

// TopicPartition is who has a partition of the topic, by brokers' IDs.
type TopicPartition struct {
	Partition int32   `json:"partition"`
	Leader    *int32  `json:"leader"` // null if there was none
	Replicas  []int32 `json:"replicas"`
	InSync    []int32 `json:"in_sync"`
}
