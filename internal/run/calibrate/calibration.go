package calibrate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// SchemaVersion of a stored calibration. Fields are added within a version, never
// renamed or removed.
const SchemaVersion = 1

// Calibration is what one machine was found able to offer.
type Calibration struct {
	SchemaVersion int         `json:"schema_version"`
	MadeAt        time.Time   `json:"made_at"` // UTC
	HostName      string      `json:"host_name"`
	Host          result.Host `json:"host"`
	Tool          result.Tool `json:"tool"`
	Driver        string      `json:"driver"`
	Broker        string      `json:"broker"`          // of the embedded cluster, with its version
	Quick         bool        `json:"quick,omitempty"` // short runs
	Offers        []Offer     `json:"offers"`          // by record size, the smallest first, and pacer
	Sleeps        []Sleep     `json:"sleeps"`
	ClockNs       float64     `json:"clock_ns"`        // a reading of the run's clock
	Costs         []Cost      `json:"costs"`           // by record size
	Disks         []Disk      `json:"disks,omitempty"` // that were measured, each once
	// Notes are reasons to distrust it.
	Notes []string `json:"notes,omitempty"`
}

// Offer is what can be offered of records of one size, with one pacer.
type Offer struct {
	RecordBytes    int     `json:"record_bytes"`
	Pacer          string  `json:"pacer"`
	ClosedLoopPerS float64 `json:"closed_loop_per_s"` // acknowledged, as fast as it goes
	// HighestPerS is the highest open loop that held, records/s; null if none
	// of those that were tried did.
	HighestPerS *float64 `json:"highest_per_s"`
	// FailedPerS is the lowest rate above it that was tried and did not hold,
	// records/s: the true answer lies between the two. Null if none was tried.
	FailedPerS *float64 `json:"failed_per_s,omitempty"`
	// LatenessP50Ns and LatenessP99Ns are the pacer's there.
	LatenessP50Ns int64 `json:"lateness_p50_ns"`
	LatenessP99Ns int64 `json:"lateness_p99_ns"`
	// CPUPerRecordNs is what the process spends on a record there, embedded
	// broker included; null where the system does not say.
	CPUPerRecordNs *float64 `json:"cpu_per_record_ns"`
}

// Sleep is how much later than asked for a sleep ends.
type Sleep struct {
	AskedNs int64 `json:"asked_ns"`
	P50Ns   int64 `json:"oversleep_p50_ns"`
	P99Ns   int64 `json:"oversleep_p99_ns"`
}

// Cost is what the tool itself does for one record.
type Cost struct {
	RecordBytes int     `json:"record_bytes"`
	GenerateNs  float64 `json:"generate_ns"` // its body, before the run
	StampNs     float64 `json:"stamp_ns"`    // stamp, checksum and copy
	RecordNs    float64 `json:"record_ns"`   // the sending side's times into histograms
}

// Step is by how much of the highest rate that held the next higher one was above
// it that did not: so much too low the answer may be. It is not known where no rate
// held, or none was tried above it.
func (o Offer) Step() (ratio float64, known bool) {
	if o.HighestPerS == nil || o.FailedPerS == nil {
		return 0, false
	}
	return *o.FailedPerS / *o.HighestPerS - 1, true
}

// HighestPerS is the rate that the machine can offer of records with so many
// bytes in the mean; known is false where no rate held. Between two sizes that
// were measured the time that a record takes is taken to grow evenly; beyond the
// largest, bytes a second stay what they are, and below the smallest, records.
func (c *Calibration) HighestPerS(bytes float64) (perS float64, known bool) {
	held := c.held()
	if len(held) == 0 || !(bytes > 0) {
		return 0, false
	}
	first, last := held[0], held[len(held)-1]
	switch {
	case bytes <= float64(first.RecordBytes):
		return *first.HighestPerS, true
	case bytes >= float64(last.RecordBytes):
		return *last.HighestPerS * float64(last.RecordBytes) / bytes, true
	}
	above := slices.IndexFunc(held, func(o Offer) bool { return float64(o.RecordBytes) > bytes })
	a, b := held[above-1], held[above]
	part := (bytes - float64(a.RecordBytes)) / float64(b.RecordBytes-a.RecordBytes)
	seconds := (1-part) / *a.HighestPerS + part / *b.HighestPerS
	return 1 / seconds, true
}

// held are the offers with a rate, by size; of one size that of the better pacer.
func (c *Calibration) held() (held []Offer) {
	for _, o := range c.Offers {
		if o.HighestPerS != nil && *o.HighestPerS > 0 {
			held = append(held, o)
		}
	}
	slices.SortStableFunc(held, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.RecordBytes, b.RecordBytes), cmp.Compare(*b.HighestPerS, *a.HighestPerS))
	})
	return slices.CompactFunc(held, func(a, b Offer) bool { return a.RecordBytes == b.RecordBytes })
}

// Quote is the warning for a run that offered more than the machine was found
// able to offer of such records; above is false where it did not, where another
// machine made the run, or where the calibration cannot say.
func (c *Calibration) Quote(r *result.Run) (warning string, above bool) {
	if r.Load.ClosedLoop || r.Load.Acked == 0 || !c.isOf(r.Run.Host) {
		return "", false
	}
	bytes := float64(r.Load.Bytes) / float64(r.Load.Acked)
	highest, known := c.HighestPerS(bytes)
	if !known || r.Load.OfferedPerS <= highest {
		return "", false
	}
	return fmt.Sprintf("%s were offered, and this machine was found able to offer %s of such records (%s each; calibrated on %s): above that the times may be the tool's own",
		unit.PerSecond(r.Load.OfferedPerS), unit.PerSecond(highest), unit.Bytes(int64(bytes)), c.MadeAt.UTC().Format(time.DateOnly)), true
}

// isOf tells whether the machine of a run is the one that was calibrated.
func (c *Calibration) isOf(h result.Host) bool {
	return c.Host.OS == h.OS && c.Host.Arch == h.Arch && c.Host.CPUModel == h.CPUModel && c.Host.CPUs == h.CPUs
}

// Caveats is Quote as a run takes it. It may be called on nil, which has none.
func (c *Calibration) Caveats(r *result.Run) []string {
	if c == nil {
		return nil
	}
	if warning, above := c.Quote(r); above {
		return []string{warning}
	}
	return nil
}

// Sentence is the calibration in a sentence.
func (c *Calibration) Sentence() string {
	held := c.held()
	if len(held) == 0 {
		return "No open loop held on this machine: no rate that is offered here can be believed."
	}
	first, last := held[0], held[len(held)-1]
	text := fmt.Sprintf("This machine can offer up to %s of %s records", unit.PerSecond(*first.HighestPerS),
		sizeOf(first))
	if len(held) > 1 {
		text += fmt.Sprintf(", and %s of %s", unit.PerSecond(*last.HighestPerS), sizeOf(last))
	}
	var worst int64
	for _, o := range held {
		worst = max(worst, o.LatenessP99Ns)
	}
	return text + fmt.Sprintf("; of 100 records, 99 are then sent at most %s late.", unit.Nanos(worst))
}

func sizeOf(o Offer) string { return unit.Size(o.RecordBytes).String() }
