package observe

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
)

// DirtyPages reads how much of the page cache waits to be written to disk in the measured window.
type DirtyPages struct {
	Axis   *load.Axis
	Probes probe.Set
	Period time.Duration

	peak  atomic.Int64 // bytes
	known atomic.Bool
}

// Every returns the period of the readings.
func (d *DirtyPages) Every() time.Duration { return d.Period }

// Look reads the value once. Outside the measured window it does nothing.
func (d *DirtyPages) Look(context.Context) {
	if now := d.Axis.Now(); now < 0 || now >= d.Axis.End() {
		return
	}
	if dirty := d.Probes.DirtyBytes(); dirty != nil {
		d.peak.Store(max(d.peak.Load(), *dirty))
		d.known.Store(true)
	}
}

// hostUse returns nil if the operating system does not report it.
func (m *Machine) hostUse(a, b Reading) *result.HostUse {
	if !a.devicesOK || !b.devicesOK || b.AtNs <= a.AtNs {
		return nil
	}
	use := &result.HostUse{
		Disks: m.disks(a, b), Networks: networks(a, b), PageCacheBytes: b.devices.PageCacheBytes,
		DirtyPeakBytes: b.devices.DirtyBytes,
	}
	if from, to := a.devices.IOStalled, b.devices.IOStalled; from != nil && to != nil {
		stalled := min(1, (*to-*from).Seconds()/time.Duration(b.AtNs-a.AtNs).Seconds())
		use.IOPressureRatio = &stalled
	}
	if peak := m.Dirty.peak.Load(); m.Dirty.known.Load() && use.DirtyPeakBytes != nil && peak > *use.DirtyPeakBytes {
		use.DirtyPeakBytes = &peak
	}
	return use
}

func (m *Machine) disks(a, b Reading) (all []result.DiskUse) {
	logs := make(map[string]bool)
	if local, able := m.Cluster.(cluster.Local); able {
		for _, p := range local.Processes() {
			for _, dir := range p.DataDirs {
				logs[probe.DiskOf(dir)] = true
			}
		}
	}
	length := time.Duration(b.AtNs - a.AtNs)
	for _, name := range slices.Sorted(maps.Keys(b.devices.Disks)) {
		before, known := a.devices.Disks[name]
		after := b.devices.Disks[name]
		if !known || after == before && !logs[name] {
			continue
		}
		ms := length.Seconds() * 1e3
		busy, queue := min(1, wrapping(before.BusyMs, after.BusyMs)/ms), wrapping(before.QueuedMs, after.QueuedMs)/ms
		d := result.DiskUse{
			Name: name, ReadBytes: after.ReadBytes - before.ReadBytes,
			WrittenBytes: after.WrittenBytes - before.WrittenBytes,
			BusyRatio:    &busy, QueueMean: &queue, HoldsLogs: logs[name],
		}
		if n := after.Requests - before.Requests; n > 0 {
			mean := wrapping(before.RequestsMs, after.RequestsMs) / float64(n)
			d.RequestMeanMs = &mean
		}
		if yardstick := m.DiskYardsticks[name]; yardstick > 0 {
			share := float64(d.WrittenBytes) / length.Seconds() / yardstick
			d.YardstickBytesPerS, d.YardstickRatio = &yardstick, &share
		}
		all = append(all, d)
	}
	return all
}

// The kernel reports only 32 bits of milliseconds, which overflow after some days.
func wrapping(before, after int64) float64 { return float64(uint32(after - before)) }

func networks(a, b Reading) (all []result.NetUse) {
	for _, name := range slices.Sorted(maps.Keys(b.devices.Networks)) {
		before, known := a.devices.Networks[name]
		after := b.devices.Networks[name]
		if !known || after == before {
			continue
		}
		all = append(all, result.NetUse{
			Name: name, ReceivedBytes: after.ReceivedBytes - before.ReceivedBytes,
			SentBytes:         after.SentBytes - before.SentBytes,
			CapacityBytesPerS: probe.NetworkCapacity(name),
		})
	}
	return all
}

func (m *Machine) readThreads(brokers []brokerUsage) map[int]probe.Threads {
	pids := []int{os.Getpid()}
	for _, b := range brokers {
		pids = append(pids, b.pid)
	}
	all := make(map[int]probe.Threads)
	for _, pid := range pids {
		if threads, err := m.Probes.Threads(pid); err == nil {
			all[pid] = threads
		}
	}
	return all
}

// waitedForCores returns the threads' wait as a part of all time in which they could run; nil if
// unknown.
func waitedForCores(a, b Reading, pid int) *float64 {
	before, known := a.threads[pid]
	if !known {
		return nil
	}
	return b.threads[pid].WaitRatio(before)
}
