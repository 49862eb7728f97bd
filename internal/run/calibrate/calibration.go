package calibrate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// SchemaVersion is the version of stored calibrations. Within a version, fields are only added.
const SchemaVersion = 1

// Calibration is the load that one machine was able to offer.
type Calibration struct {
	SchemaVersion int         `json:"schema_version"`
	MadeAt        time.Time   `json:"made_at"` // UTC
	HostName      string      `json:"host_name"`
	Host          result.Host `json:"host"`
	Tool          result.Tool `json:"tool"`
	Driver        string      `json:"driver"`
	Broker        string      `json:"broker"`          // the embedded broker and its version
	Quick         bool        `json:"quick,omitempty"` // short runs
	Offers        []Offer     `json:"offers"`          // by record size, ascending, and pacer
	Sleeps        []Sleep     `json:"sleeps"`
	ClockNs       float64     `json:"clock_ns"`        // one reading of the run's clock
	Costs         []Cost      `json:"costs"`           // by record size
	Disks         []Disk      `json:"disks,omitempty"` // each measured disk once
	Notes         []string    `json:"notes,omitempty"` // reasons to distrust it
}

// Offer is the load that the machine can offer with one record size and one pacer.
type Offer struct {
	RecordBytes    int     `json:"record_bytes"`
	Pacer          string  `json:"pacer"`
	ClosedLoopPerS float64 `json:"closed_loop_per_s"` // acked records/s of a closed loop
	// HighestPerS is the highest tried open-loop rate that held, records/s; null if none held.
	HighestPerS *float64 `json:"highest_per_s"`
	// FailedPerS is the lowest tried rate above HighestPerS that did not hold, records/s; null if
	// none was tried.
	FailedPerS *float64 `json:"failed_per_s,omitempty"`
	// LatenessP50Ns and LatenessP99Ns are the pacer's lateness at HighestPerS.
	LatenessP50Ns int64 `json:"lateness_p50_ns"`
	LatenessP99Ns int64 `json:"lateness_p99_ns"`
	// CPUPerRecordNs is the CPU time of the process for one record at HighestPerS, with the
	// embedded broker; null if the system does not report it.
	CPUPerRecordNs *float64 `json:"cpu_per_record_ns"`
}

// Sleep is how much later than requested a sleep ends.
type Sleep struct {
	AskedNs int64 `json:"asked_ns"`
	P50Ns   int64 `json:"oversleep_p50_ns"`
	P99Ns   int64 `json:"oversleep_p99_ns"`
}

// Cost is the tool's own work for one record.
type Cost struct {
	RecordBytes int     `json:"record_bytes"`
	GenerateNs  float64 `json:"generate_ns"` // its body, before the run
	StampNs     float64 `json:"stamp_ns"`    // stamp, checksum and copy
	RecordNs    float64 `json:"record_ns"`   // recording the sender's times in histograms
}

// Step returns by what ratio FailedPerS is above HighestPerS: the answer may be too low by that
// ratio. Known is false if either rate is null.
func (o Offer) Step() (ratio float64, known bool) {
	if o.HighestPerS == nil || o.FailedPerS == nil {
		return 0, false
	}
	return *o.FailedPerS / *o.HighestPerS - 1, true
}

// HighestPerS returns the rate at which the machine can offer records of this mean size in bytes.
// Known is false if no rate held. Between two measured sizes, the time per record is linear. Above
// the largest size, bytes per second stay constant; below the smallest, records per second do.
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

// held is ordered by size.
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

// Quote returns the warning for a run that offered more than this machine can offer. Above is false
// if the run did not, if another machine made it, or if the calibration has no answer.
func (c *Calibration) Quote(r *result.Run) (warning string, above bool) {
	if r.Load.ClosedLoop || r.Load.Acked == 0 || !c.isOf(r.Run.Host) {
		return "", false
	}
	bytes := float64(r.Load.Bytes) / float64(r.Load.Acked)
	highest, known := c.HighestPerS(bytes)
	if !known || r.Load.OfferedPerS <= highest {
		return "", false
	}
	return fmt.Sprintf("%s were offered, but this machine can only offer %s of such records (%s each; calibrated on %s): above that the times may be the tool's own",
		unit.PerSecond(r.Load.OfferedPerS), unit.PerSecond(highest), unit.Bytes(int64(bytes)), c.MadeAt.UTC().Format(time.DateOnly)), true
}

func (c *Calibration) isOf(h result.Host) bool {
	return c.Host.OS == h.OS && c.Host.Arch == h.Arch && c.Host.CPUModel == h.CPUModel && c.Host.CPUs == h.CPUs
}

// Caveats returns Quote's warning as a list. On a nil Calibration it returns nil.
func (c *Calibration) Caveats(r *result.Run) []string {
	if c == nil {
		return nil
	}
	if warning, above := c.Quote(r); above {
		return []string{warning}
	}
	return nil
}

// Sentence returns the calibration as a sentence.
func (c *Calibration) Sentence() string {
	held := c.held()
	if len(held) == 0 {
		return "No open loop held on this machine: do not trust any rate that it offers."
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
