package result

// Fill is what a run wrote into its topic before anything was measured. Where
// the consumers begin with it, its records are in the books of the warm-up; and where
// it is all that there is to read, Run.Delivery speaks of them.
type Fill struct {
	Records   int64   `json:"records"` // acked
	Bytes     int64   `json:"bytes"`   // keys and values of the acked
	TimeS     float64 `json:"time_s"`
	AckedPerS float64 `json:"acked_per_s"`
	// Failed are not in the topic, of Unknown nobody knows.
	Failed  int64 `json:"failed,omitempty"`
	Unknown int64 `json:"unknown,omitempty"`
	// BoundedBytes is what the scenario's fill was taken down to, because the brokers'
	// disk had no room for it; 0 where it was not.
	BoundedBytes int64 `json:"bounded_bytes,omitempty"`
	// BoundedRecords is the same of a fill that was asked for in records.
	BoundedRecords int64 `json:"bounded_records,omitempty"`
	// Producers are those that filled, by their numbers, which follow those of the load.
	// An older run has none.
	Producers []FillProducer `json:"producers,omitempty"`
}

// FillProducer is what one producer wrote of a fill.
type FillProducer struct {
	Producer  int      `json:"producer"`
	Records   int64    `json:"records"`     // acked
	Bytes     int64    `json:"bytes"`       // keys and values of the acked
	TimeS     float64  `json:"time_s"`      // from the beginning of the fill to its last ack
	AckedPerS *float64 `json:"acked_per_s"` // records ÷ that time; null without an ack
}

// PartlyRead reports whether the run only read what its topic was filled with, and
// ended before all of it was read. A client that paused meanwhile has its pauses in
// the rate.
func (r *Run) PartlyRead() bool {
	return r.Fill != nil && r.Load.Scheduled == 0 && r.Delivery.Pending > 0
}

// Storage is what the run's topic takes on the brokers' disks, all replicas
// together, as the brokers tell (DescribeLogDirs).
type Storage struct {
	DiskBytes int64 `json:"disk_bytes"` // when all replicas had the same, or after 5 s
	// BehindBytes is what the followers had still to copy when the run had ended: so much
	// of the throughput was not replicated yet. 0 is nothing.
	BehindBytes int64 `json:"behind_bytes,omitempty"`
	// Replicas is by how many copies that is.
	Replicas int `json:"replicas"`
	// WireBytesPerRecord and DiskBytesPerRecord are what one acked record took on the
	// producers' connections and, in the leader's replica, on disk; null where it is not
	// known.
	WireBytesPerRecord *float64 `json:"wire_bytes_per_record"`
	DiskBytesPerRecord *float64 `json:"disk_bytes_per_record"`
	// DiskRatio is keys and values of the acked ÷ bytes in that replica: what compression
	// and the framing of the batches came to.
	DiskRatio *float64 `json:"disk_ratio"`
}
