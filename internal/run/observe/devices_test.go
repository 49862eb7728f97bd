package observe

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
)

// run.json cannot hold NaN.
func TestDisksOfAShortWindow(t *testing.T) {
	var m Machine
	var a, b Reading
	b.AtNs = int64(500 * time.Microsecond)
	a.devices.Disks = map[string]probe.DiskCounts{"vda": {}}
	b.devices.Disks = map[string]probe.DiskCounts{"vda": {WrittenBytes: 4096}}
	disks := m.disks(a, b)
	if len(disks) != 1 || *disks[0].BusyRatio != 0 || *disks[0].QueueMean != 0 {
		t.Fatalf("the disks are %+v, want one that was not busy", disks)
	}
	b.devices.Disks["vda"] = probe.DiskCounts{WrittenBytes: 4096, BusyMs: 1, QueuedMs: 1}
	if d := m.disks(a, b)[0]; *d.BusyRatio != 1 || math.Abs(*d.QueueMean-2) > 1e-9 {
		t.Errorf("1 ms busy of 0.5 ms is %v, with a queue of %v; want 1 and 2", *d.BusyRatio, *d.QueueMean)
	}
}
