package result

// Availability is what the faults of brokers did to the run's topic, from the first of
// them on; null where none befell a broker.
type Availability struct {
	// AckGapMaxNs is the longest time in which a partition that was produced to had no
	// acknowledgement, the worst of the partitions, of those that reach into the time in
	// which something was broken; AckGaps has each partition's. AckGapElsewhere is the
	// longest of the others in the measured window, which the faults did not bring about;
	// null where there is none.
	AckGapMaxNs     int64    `json:"ack_gap_max_ns"`
	AckGaps         []AckGap `json:"ack_gaps"`
	AckGapElsewhere *AckGap  `json:"ack_gap_elsewhere,omitempty"`
	// DeliveryGapMaxNs and DeliveryGaps are the same of what consumers were handed that
	// they had not been before, in the measured window and the drain: the longest time
	// in which a partition handed over nothing while records were due, of the slowest
	// group. Null where nobody consumes, and where a process of the consumers did not say.
	DeliveryGapMaxNs *int64   `json:"delivery_gap_max_ns,omitempty"`
	DeliveryGaps     []AckGap `json:"delivery_gaps,omitempty"`
	// BrokenToEnd tells that a broker was missing, or a replica, when the measured
	// window ended.
	BrokenToEnd bool `json:"broken_to_end,omitempty"`
	// UnderReplicatedS is for how long at least one partition had fewer replicas in sync
	// than it has replicas, UnderMinISRS fewer than min.insync.replicas, and LeaderlessS
	// no leader, within the measured window as the controller saw it, looked at every
	// LookedEveryNs: it takes a broker that was killed for alive until its session
	// expires (broker.session.timeout.ms). Null where the brokers were not asked.
	UnderReplicatedS *float64 `json:"under_replicated_s"`
	UnderMinISRS     *float64 `json:"under_min_isr_s"`
	LeaderlessS      *float64 `json:"leaderless_s"`
	LeaderChanges    *int64   `json:"leader_changes"`
	LookedEveryNs    int64    `json:"looked_every_ns,omitempty"`
	// Before, During and After divide the measured window: During is from the first fault
	// until every broker serves and every partition is acknowledged and in full sync
	// again, and every record that was due by then has arrived, or to the end.
	Before *Stretch `json:"before,omitempty"`
	During *Stretch `json:"during,omitempty"`
	After  *Stretch `json:"after,omitempty"`
}

// AckGap is the longest time without an acknowledgement, or a delivery, in one partition.
type AckGap struct {
	Partition int32 `json:"partition"`
	FromNs    int64 `json:"from_ns"`
	ToNs      int64 `json:"to_ns"`
	// Open tells that none came any more before the end: it lasted at least so long.
	Open  bool   `json:"open,omitempty"`
	Group string `json:"group,omitempty"` // in Gaps: the consumer group, where there are several
}

// Gaps are the times in which a partition had no acknowledgement though a record waited for
// one, or handed over nothing though a record was due: all of AtLeastNs or longer, but for LeftOut
// of them, in the order in which they began. They are from the start of the measured window on: acknowledgements
// until its end, deliveries until the drain's.
type Gaps struct {
	AtLeastNs int64 `json:"at_least_ns"`
	// Acks is null where nobody produces, Deliveries where nobody consumes, and where a
	// process of the consumers did not say.
	Acks       []AckGap `json:"acks" jsonschema:"nullable"`
	Deliveries []AckGap `json:"deliveries" jsonschema:"nullable"`
	// LeftOut is how many shorter ones there were beside the MaxGaps longest of both.
	LeftOut int `json:"left_out"`
}

// MaxGaps bounds the gaps that a run keeps.
const MaxGaps = 1000

// Stretch is a part of the measured window.
type Stretch struct {
	StartNs int64 `json:"start_ns"`
	EndNs   int64 `json:"end_ns"` // not behind the measured window, though its last interval may be
	// Scheduled is how many records were due in it. The difference to the count of a time
	// are those that passed from one stretch into the next, and those that no stretch has
	// because they never arrived.
	Scheduled int64 `json:"scheduled"`
	// AckedPerS and DeliveredPerS are of what happened in it. The times are of the records
	// of the measured window (not the warm-up's) that arrived in it, by metric as in
	// Run.Time; the last stretch has those that arrived after the window, too.
	AckedPerS     float64                 `json:"acked_per_s"`
	DeliveredPerS float64                 `json:"delivered_per_s"`
	Time          map[string]IntervalTime `json:"time"`
}
