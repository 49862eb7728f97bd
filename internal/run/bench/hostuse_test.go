package bench

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
)

// A window of less than a millisecond, which a starved machine makes of a short one,
// has ratios all the same: NaN could not be written to run.json.
func TestDisksOfAShortWindow(t *testing.T) {
	r := &run{}
	r.atEnd.at = int64(500 * time.Microsecond)
	r.atStart.devices.Disks = map[string]probe.DiskCounts{"vda": {}}
	r.atEnd.devices.Disks = map[string]probe.DiskCounts{"vda": {WrittenBytes: 4096}}
	disks := r.disks()
	if len(disks) != 1 || *disks[0].BusyRatio != 0 || *disks[0].QueueMean != 0 {
		t.Fatalf("the disks are %+v, want one that was not busy", disks)
	}
	r.atEnd.devices.Disks["vda"] = probe.DiskCounts{WrittenBytes: 4096, BusyMs: 1, QueuedMs: 1}
	if d := r.disks()[0]; *d.BusyRatio != 1 || math.Abs(*d.QueueMean-2) > 1e-9 {
		t.Errorf("1 ms busy of 0.5 ms is %v, with a queue of %v; want 1 and 2", *d.BusyRatio, *d.QueueMean)
	}
}
