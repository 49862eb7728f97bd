package result

// Load is the sending side of the books:
// scheduled = admitted + deferred + shed, admitted = acked + failed + unknown.
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
	AckedPerS    float64 `json:"acked_per_s"` // acked within the measured window ÷ its length
	Bytes        int64   `json:"bytes"`       // keys and values of the acked
	WireBytes    *int64  `json:"wire_bytes"`  // written to sockets during the measured window
	// AckGapMaxNs is the longest time in the window that a partition had no
	// acknowledgement while a record waited for one; null in a closed loop and before
	// method 2.
	AckGapMaxNs *int64 `json:"ack_gap_max_ns,omitempty"`
	// VolumeBoundedBytes is what the scenario's volume was taken down to, because the
	// brokers' disk had no room for it; 0 where it was not.
	VolumeBoundedBytes int64 `json:"volume_bounded_bytes,omitempty"`
	// VolumeBoundedRecords is the same of a number of records (load.records).
	VolumeBoundedRecords int64 `json:"volume_bounded_records,omitempty"`
	// Errors counts what clients reported, by message.
	Errors Counts `json:"errors,omitempty"`
}

// Counts are counters by name.
type Counts map[string]int64

// Delivery is the receiving side: acked = unique − unacked_delivered + pending + lost
// + corrupt − corrupt_unplaced. Where several groups read everything, each record is
// to be delivered to each of them: the counts and delivered_per_s are the sums of the
// groups', and the equation begins copies × acked; each group by itself is in
// Run.Groups. Where nobody produces, delivered are the records that were read in the
// measured window, whoever wrote them, and pending what the topic held at the start
// and was not read, by its offsets. Nil figures were not measured (unstamped records,
// no consumers).
type Delivery struct {
	// Copies is the number of groups, where there are several.
	Copies     int   `json:"copies,omitempty"`
	Checked    bool  `json:"checked"`   // false: records carry no stamp, only counts are known
	Delivered  int64 `json:"delivered"` // duplicates included
	Unique     int64 `json:"unique"`
	Duplicates int64 `json:"duplicates"`
	Lost       int64 `json:"lost"`      // acked, never delivered, though the consumers passed them
	Reordered  int64 `json:"reordered"` // delivered after a later record of the same producer and partition
	Corrupt    int64 `json:"corrupt"`   // failed their checksum
	Foreign    int64 `json:"foreign"`   // records of somebody else in the topic
	Pending    int64 `json:"pending"`   // acked, not yet delivered when the drain ended
	// LateBeyondWindow are delivered, and neither unique nor known to be
	// duplicates: they came after the books had closed the gap they belong to.
	LateBeyondWindow int64 `json:"late_beyond_window,omitempty"`
	// CorruptUnplaced are the corrupt for which no acked record is missing, so
	// that they are no term of the equation: the second copy of one, say.
	CorruptUnplaced int64 `json:"corrupt_unplaced,omitempty"`
	// UnackedDelivered were delivered although their fate was failed or unknown.
	UnackedDelivered int64 `json:"unacked_delivered"`
	// DeliveredPerS is the first deliveries within the measured window ÷ its length, and
	// DuplicatesPerS the others. Method 1 counted both in DeliveredPerS.
	DeliveredPerS  float64  `json:"delivered_per_s"`
	DuplicatesPerS *float64 `json:"duplicates_per_s,omitempty"`
	Ratio          float64  `json:"ratio"` // unique ÷ (copies × scheduled); not clipped
	// Bytes are the keys and values of the delivered, where nobody produces.
	Bytes int64 `json:"bytes,omitempty"`
	// LostRanges name the first of the lost.
	LostRanges []LostRange `json:"lost_ranges,omitempty"`
}

// LostRange is a run of lost sequences of one producer in one partition.
type LostRange struct {
	Producer  int    `json:"producer"`
	Partition int32  `json:"partition"`
	From      uint64 `json:"from"`
	To        uint64 `json:"to"` // inclusive
}

// Warmup holds the books of the warm-up, which no other block contains.
type Warmup struct {
	Load     Load     `json:"load"`
	Delivery Delivery `json:"delivery"`
}
