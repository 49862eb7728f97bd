package result

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Load is the sending side of the books: scheduled = admitted + deferred + shed, admitted = acked +
// failed + unknown.
type Load struct {
	ClosedLoop   bool    `json:"closed_loop"`
	OfferedPerS  float64 `json:"offered_per_s"` // scheduled ÷ measured window
	Scheduled    int64   `json:"scheduled"`
	Admitted     int64   `json:"admitted"`
	Deferred     int64   `json:"deferred"` // still waiting at the source at the end
	Shed         int64   `json:"shed"`
	ShedByReason Counts  `json:"shed_by_reason,omitempty"` // gate, queue_full, degrade
	Acked        int64   `json:"acked"`
	Failed       int64   `json:"failed"`
	Unknown      int64   `json:"unknown"`
	// AckedPerS is AckedInWindow ÷ the measured window. In Warmup it is the acked records of the
	// warm-up, without a fill, ÷ its length.
	AckedPerS float64 `json:"acked_per_s"`
	// AckedInWindow is how many records, of any phase, were acked within the measured window. Absent
	// from Warmup and from older runs.
	AckedInWindow *int64 `json:"acked_in_window,omitempty"`
	Bytes         int64  `json:"bytes"`      // keys and values of acked records
	WireBytes     *int64 `json:"wire_bytes"` // written to sockets during the measured window
	// AckGapMaxNs is the longest time in the window in which a partition had no ack although a
	// record waited for one. Null in a closed loop, without producers, and in runs of method 1.
	AckGapMaxNs *int64 `json:"ack_gap_max_ns,omitempty"`
	// VolumeBoundedBytes is the scenario's volume after a reduction to the brokers' free disk
	// space; 0 if it was not reduced.
	VolumeBoundedBytes int64 `json:"volume_bounded_bytes,omitempty"`
	// VolumeBoundedRecords is the same for a number of records (load.records).
	VolumeBoundedRecords int64 `json:"volume_bounded_records,omitempty"`
	// Errors counts the errors of clients by kind: their text with N for each number, after Kafka's
	// name of the error code if a broker gave one.
	Errors Counts `json:"errors,omitempty"`
}

// Counts are counters by name.
type Counts map[string]int64

// Most returns what was counted most often, as in "the disk is full (1,200)"; "" if nothing was.
func (c Counts) Most() (text string) {
	most := int64(0)
	for name, n := range c {
		if n > most || n == most && name < text {
			text, most = name, n
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s)", text, unit.Count(most))
}

// Delivery is the receiving side of the books: acked = unique − unacked_delivered + pending + lost
// + corrupt − corrupt_unplaced. Null figures were not measured (no stamps, no consumers).
//
// Several groups each get all records. Then the counts and delivered_per_s are sums over the
// groups, the equation begins with copies × acked, and Run.Groups has each group.
//
// Without producers, delivered counts the records read in the measured window. pending then counts
// records that the topic held at the start and that were not read, by offsets.
type Delivery struct {
	// Copies is the number of groups, if there are several.
	Copies     int   `json:"copies,omitempty"`
	Checked    bool  `json:"checked"`   // false: records have no stamp, only counts are known
	Delivered  int64 `json:"delivered"` // including duplicates
	Unique     int64 `json:"unique"`
	Duplicates int64 `json:"duplicates"`
	Lost       int64 `json:"lost"`      // acked, never delivered, although the consumers read past them
	Reordered  int64 `json:"reordered"` // delivered after a later record of the same producer and partition
	Corrupt    int64 `json:"corrupt"`   // with a wrong checksum
	Foreign    int64 `json:"foreign"`   // records of another run in the topic
	Pending    int64 `json:"pending"`   // acked, not delivered when the drain ended
	// LateBeyondWindow are delivered records that are neither unique nor known duplicates: the
	// books had already forgotten their range of missing sequences.
	LateBeyondWindow int64 `json:"late_beyond_window,omitempty"`
	// CorruptUnplaced are corrupt records for which no acked record is missing, such as a second
	// copy of a record. They are not in the equation.
	CorruptUnplaced int64 `json:"corrupt_unplaced,omitempty"`
	// UnackedDelivered were delivered although they count as failed or unknown.
	UnackedDelivered int64 `json:"unacked_delivered"`
	// UniqueInPhase are the first deliveries within the measured window, or before it in Warmup, of
	// records of any phase; DuplicatesInPhase are the other deliveries. Absent from older runs.
	UniqueInPhase     *int64 `json:"unique_in_phase,omitempty"`
	DuplicatesInPhase *int64 `json:"duplicates_in_phase,omitempty"`
	// DeliveredPerS is UniqueInPhase ÷ the length of the window, and DuplicatesPerS is
	// DuplicatesInPhase ÷ that length. Method 1 counted both in DeliveredPerS.
	DeliveredPerS  float64  `json:"delivered_per_s"`
	DuplicatesPerS *float64 `json:"duplicates_per_s,omitempty"`
	Ratio          float64  `json:"ratio"` // unique ÷ (copies × scheduled); not clipped
	// DeliveredToAcked is UniqueInPhase ÷ (copies × Load.AckedInWindow). It is above 1 if the
	// consumers read a backlog from before the window. Absent from Warmup, without an ack in the
	// window, and without consumers.
	DeliveredToAcked *float64 `json:"delivered_to_acked_ratio,omitempty"`
	// Bytes are keys and values of delivered records, for a run without producers or if another
	// tool counted them.
	Bytes int64 `json:"bytes,omitempty"`
	// LostRanges are the first lost ranges.
	LostRanges []LostRange `json:"lost_ranges,omitempty"`
}

// LostRange is a range of lost sequences of one producer in one partition.
type LostRange struct {
	Producer  int    `json:"producer"`
	Partition int32  `json:"partition"`
	From      uint64 `json:"from"`
	To        uint64 `json:"to"` // inclusive
}

// Warmup holds the books of the warm-up, which no other block includes.
type Warmup struct {
	Load     Load           `json:"load"`
	Delivery WarmupDelivery `json:"delivery"`
}

// WarmupDelivery has rates over the length of the warm-up. They are null without a warm-up or
// consumers, and if the run did not record them.
type WarmupDelivery struct {
	Delivery
	DeliveredPerS *float64 `json:"delivered_per_s"`
}
