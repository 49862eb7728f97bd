package result

// Fill is what a run wrote into its topic before the measured window. Its records are in the books
// of the warm-up if consumers begin with them, and in Run.Delivery if there is nothing else to
// read.
type Fill struct {
	Records   int64   `json:"records"` // acked
	Bytes     int64   `json:"bytes"`   // keys and values of acked records
	TimeS     float64 `json:"time_s"`
	AckedPerS float64 `json:"acked_per_s"`
	// Failed are not in the topic; Unknown may be.
	Failed  int64 `json:"failed,omitempty"`
	Unknown int64 `json:"unknown,omitempty"`
	// BoundedBytes is the scenario's fill after a reduction to the brokers' free disk space; 0 if
	// it was not reduced.
	BoundedBytes int64 `json:"bounded_bytes,omitempty"`
	// BoundedRecords is the same for a fill in records.
	BoundedRecords int64 `json:"bounded_records,omitempty"`
	// Producers are the filling producers, numbered after those of the load; absent in older runs.
	Producers []FillProducer `json:"producers,omitempty"`
}

// FillProducer is what one producer wrote of a fill.
type FillProducer struct {
	Producer  int      `json:"producer"`
	Records   int64    `json:"records"`     // acked
	Bytes     int64    `json:"bytes"`       // keys and values of acked records
	TimeS     float64  `json:"time_s"`      // from the start of the fill to its last ack
	AckedPerS *float64 `json:"acked_per_s"` // records ÷ that time; null without an ack
}

// PartlyRead reports whether the run only read its fill, and ended before all of it was read.
func (r *Run) PartlyRead() bool {
	return r.Fill != nil && r.Load.Scheduled == 0 && r.Delivery.Pending > 0
}

// Storage is the space of the run's topic on the brokers' disks, as the brokers report it
// (DescribeLogDirs).
type Storage struct {
	DiskBytes int64 `json:"disk_bytes"` // of all replicas, when they were equal, or after 5 s
	// BehindBytes is what the followers still had to copy when the run ended: throughput that was
	// not replicated yet.
	BehindBytes int64 `json:"behind_bytes,omitempty"`
	// Replicas is the number of copies in DiskBytes.
	Replicas int `json:"replicas"`
	// WireBytesPerRecord and DiskBytesPerRecord are the bytes of one acked record on the producers'
	// connections, and on disk in the leader's replica; null if unknown.
	WireBytesPerRecord *float64 `json:"wire_bytes_per_record"`
	DiskBytesPerRecord *float64 `json:"disk_bytes_per_record"`
	// DiskRatio is keys and values of acked records ÷ bytes in the leader's replica: the effect of
	// compression and of batch overhead.
	DiskRatio *float64 `json:"disk_ratio"`
}
