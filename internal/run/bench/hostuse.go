package bench

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
)

// dirtyPeak is the most of the page cache that waited to be written to disk at any look
// in the measured window.
type dirtyPeak struct {
	bytes atomic.Int64
	known atomic.Bool
}

// look looks at it now.
func (r *run) lookAtDirty(context.Context) {
	if now := r.axis.Now(); now < 0 || now >= r.axis.End() {
		return
	}
	if dirty := r.cfg.Probes.DirtyBytes(); dirty != nil {
		r.dirty.bytes.Store(max(r.dirty.bytes.Load(), *dirty))
		r.dirty.known.Store(true)
	}
}

// hostUse is what the machine's devices did between the two readings; nil where the
// operating system does not tell.
func (r *run) hostUse() *result.HostUse {
	a, b := r.atStart, r.atEnd
	if !a.devicesOK || !b.devicesOK || b.at <= a.at {
		return nil
	}
	use := &result.HostUse{
		Disks: r.disks(), Networks: r.networks(), PageCacheBytes: b.devices.PageCacheBytes, DirtyPeakBytes: b.devices.DirtyBytes,
	}
	if from, to := a.devices.IOStalled, b.devices.IOStalled; from != nil && to != nil {
		stalled := min(1, (*to-*from).Seconds()/time.Duration(b.at-a.at).Seconds())
		use.IOPressureRatio = &stalled
	}
	if peak := r.dirty.bytes.Load(); r.dirty.known.Load() && use.DirtyPeakBytes != nil && peak > *use.DirtyPeakBytes {
		use.DirtyPeakBytes = &peak
	}
	return use
}

// disks are those that did something, and those with the brokers' logs.
func (r *run) disks() (all []result.DiskUse) {
	logs := make(map[string]bool)
	if local, able := r.cfg.Cluster.(cluster.Local); able {
		for _, p := range local.Processes() {
			logs[probe.DiskOf(p.DataDir)] = true
		}
	}
	length := time.Duration(r.atEnd.at - r.atStart.at)
	for _, name := range slices.Sorted(maps.Keys(r.atEnd.devices.Disks)) {
		before, known := r.atStart.devices.Disks[name]
		after := r.atEnd.devices.Disks[name]
		if !known || after == before && !logs[name] {
			continue
		}
		ms := length.Seconds() * 1e3
		busy, queue := min(1, wrapping(before.BusyMs, after.BusyMs)/ms), wrapping(before.QueuedMs, after.QueuedMs)/ms
		d := result.DiskUse{
			Name: name, ReadBytes: after.ReadBytes - before.ReadBytes, WrittenBytes: after.WrittenBytes - before.WrittenBytes,
			BusyRatio: &busy, QueueMean: &queue, HoldsLogs: logs[name],
		}
		if n := after.Requests - before.Requests; n > 0 {
			mean := wrapping(before.RequestsMs, after.RequestsMs) / float64(n)
			d.RequestMeanMs = &mean
		}
		all = append(all, d)
	}
	return all
}

// wrapping is the difference of two of the kernel's counts of milliseconds, of which it
// tells 32 bits: with many requests at once they are full after some days.
func wrapping(before, after int64) float64 { return float64(uint32(after - before)) }

// networks are those that carried something.
func (r *run) networks() (all []result.NetUse) {
	for _, name := range slices.Sorted(maps.Keys(r.atEnd.devices.Networks)) {
		before, known := r.atStart.devices.Networks[name]
		after := r.atEnd.devices.Networks[name]
		if !known || after == before {
			continue
		}
		all = append(all, result.NetUse{
			Name: name, ReceivedBytes: after.ReceivedBytes - before.ReceivedBytes, SentBytes: after.SentBytes - before.SentBytes,
			CapacityBytesPerS: probe.NetworkCapacity(name),
		})
	}
	return all
}

// readThreads reads for how long the threads of this process and of local brokers waited
// for a core; processes of which that can't be read are left out.
func (r *run) readThreads(brokers []brokerUsage) map[int]probe.Threads {
	pids := []int{os.Getpid()}
	for _, b := range brokers {
		pids = append(pids, b.pid)
	}
	all := make(map[int]probe.Threads)
	for _, pid := range pids {
		if threads, err := r.cfg.Probes.Threads(pid); err == nil {
			all[pid] = threads
		}
	}
	return all
}

// waitedForCores is the part of the time between the two readings in which the threads of
// a process waited for a core, of that in which they could run; nil where it is not known.
func (r *run) waitedForCores(pid int) *float64 {
	before, known := r.atStart.threads[pid]
	if !known {
		return nil
	}
	return r.atEnd.threads[pid].WaitRatio(before)
}
