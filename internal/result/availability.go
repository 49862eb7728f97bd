package result

// Availability is what faults of brokers did to the run's topic, from the first fault; null if no
// fault had a broker as its target.
type Availability struct {
	// AckGapMaxNs is the longest time without an ack in a partition that was produced to, among the
	// gaps that overlap a fault. AckGaps has the longest of each partition. AckGapElsewhere is the
	// longest other gap in the measured window; null if there is none.
	AckGapMaxNs     int64    `json:"ack_gap_max_ns"`
	AckGaps         []AckGap `json:"ack_gaps"`
	AckGapElsewhere *AckGap  `json:"ack_gap_elsewhere,omitempty"`
	// DeliveryGapMaxNs and DeliveryGaps are the same for first deliveries, in the measured window
	// and the drain. They are times in which a partition delivered nothing to the slowest group
	// while records were due. Null without consumers, and if a process of consumers did not report.
	DeliveryGapMaxNs *int64   `json:"delivery_gap_max_ns,omitempty"`
	DeliveryGaps     []AckGap `json:"delivery_gaps,omitempty"`
	// BrokenToEnd is true if a broker or a replica was missing at the end of the measured window.
	BrokenToEnd bool `json:"broken_to_end,omitempty"`
	// UnderReplicatedS is how long at least one partition had fewer in-sync replicas than replicas,
	// UnderMinISRS fewer than min.insync.replicas, and LeaderlessS no leader. They are times within
	// the measured window, by the controller's reports, read every LookedEveryNs. The controller
	// counts a killed broker as alive until its session expires (broker.session.timeout.ms). Null
	// if the brokers were not asked.
	UnderReplicatedS *float64 `json:"under_replicated_s"`
	UnderMinISRS     *float64 `json:"under_min_isr_s"`
	LeaderlessS      *float64 `json:"leaderless_s"`
	LeaderChanges    *int64   `json:"leader_changes"`
	LookedEveryNs    int64    `json:"looked_every_ns,omitempty"`
	// Before, During and After divide the measured window. During begins with the first fault. It
	// ends when every broker serves, every partition is acked and in sync, and all records due by
	// then have arrived; or at the window's end.
	Before *Stretch `json:"before,omitempty"`
	During *Stretch `json:"during,omitempty"`
	After  *Stretch `json:"after,omitempty"`
}

// AckGap is a time without an ack, or a delivery, in one partition.
type AckGap struct {
	Partition int32 `json:"partition"`
	FromNs    int64 `json:"from_ns"`
	ToNs      int64 `json:"to_ns"`
	// Open is true if no ack or delivery came before the end, so that the gap is at least this
	// long.
	Open  bool   `json:"open,omitempty"`
	Group string `json:"group,omitempty"` // in Gaps: the consumer group, if there are several
}

// Gaps are the times in which a partition had no ack although a record waited for one, or no
// delivery although a record was due. Each lasts at least AtLeastNs; they are in order of their
// start. Acks count until the measured window's end, deliveries until the drain's.
type Gaps struct {
	AtLeastNs int64 `json:"at_least_ns"`
	// Acks is null without producers. Deliveries is null without consumers, and if a process of
	// consumers did not report.
	Acks       []AckGap `json:"acks" jsonschema:"nullable"`
	Deliveries []AckGap `json:"deliveries" jsonschema:"nullable"`
	// LeftOut is how many shorter gaps were omitted; the MaxGaps longest are kept.
	LeftOut int `json:"left_out"`
}

// MaxGaps is the largest number of gaps kept of a run.
const MaxGaps = 1000

// Stretch is a part of the measured window.
type Stretch struct {
	StartNs int64 `json:"start_ns"`
	EndNs   int64 `json:"end_ns"` // at most the end of the measured window, even if its last interval is longer
	// Scheduled is how many records were due in the stretch. It differs from the counts in Time by
	// records that end in a later stretch, and by records that never arrived.
	Scheduled int64 `json:"scheduled"`
	// AckedPerS and DeliveredPerS count the acks and deliveries in the stretch. Time is of records
	// of the measured window that arrived in the stretch, by metric as in Run.Time; the last
	// stretch includes records that arrived later.
	AckedPerS     float64                 `json:"acked_per_s"`
	DeliveredPerS float64                 `json:"delivered_per_s"`
	Time          map[string]IntervalTime `json:"time"`
}
