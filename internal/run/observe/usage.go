package observe

import (
	"os"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// ownName is the name of the run's own process in intervals.
const ownName = "run"

type processUsage struct {
	name  string
	pid   int
	usage snapshot.Usage
	stale bool
}

func (m *Machine) usageOfEach(others remote.Children) (sum snapshot.Usage, each []processUsage, died error) {
	sum = remote.UsageOf(m.Probes)
	each = []processUsage{{name: ownName, pid: os.Getpid(), usage: sum}}
	usages, _, died := used(others, remote.Want{Usage: true})
	for i, u := range usages {
		sum = sum.Add(u)
		if p := others[i]; !p.Ended() {
			each = append(each, processUsage{name: p.Name(), pid: p.PID(), usage: u, stale: p.Late()})
		}
	}
	return sum, each, died
}

func (p processUsage) known() bool { return !p.stale && p.usage.HeapBytes > 0 }

func processesBetween(before, after []processUsage) (all []result.IntervalProcess) {
	for _, p := range after {
		of := result.IntervalProcess{Name: p.name, PID: p.pid}
		if p.known() {
			of.HeapBytes, of.Goroutines = &p.usage.HeapBytes, &p.usage.Goroutines
			same := func(was processUsage) bool { return was.name == p.name && was.pid == p.pid && was.known() }
			if i := slices.IndexFunc(before, same); i >= 0 {
				pause := int64(p.usage.GCPause - before[i].usage.GCPause)
				of.GCPauseNs = &pause
			}
		}
		all = append(all, of)
	}
	if !slices.ContainsFunc(after, processUsage.known) {
		return nil
	}
	return all
}

func brokersIn(before, after brokersAt) (all []result.IntervalBroker) {
	length := float64(after.atNs - before.atNs)
	if length <= 0 { // no reading lies between
		return nil
	}
	for _, b := range after.brokers {
		of := result.IntervalBroker{ID: b.id}
		if b.RSS > 0 {
			of.RSSBytes = &b.RSS
		}
		if i := slices.IndexFunc(before.brokers, func(was brokerUsage) bool { return was.pid == b.pid }); i >= 0 {
			was := before.brokers[i]
			cores := float64(b.CPU()-was.CPU()) / length
			of.CPUCores, of.DiskRead, of.DiskWritten = &cores, difference(was.DiskRead, b.DiskRead),
				difference(was.DiskWritten, b.DiskWritten)
		}
		all = append(all, of)
	}
	return all
}

func hostBetween(before, after hostReading) *result.IntervalHost {
	h := result.IntervalHost{}
	h.CPUBusyRatio, h.CPUStolenRatio = after.cpuSince(before)
	if before.devicesOK && after.devicesOK {
		var read, written, received, sent int64
		for name, now := range after.devices.Disks {
			if was, known := before.devices.Disks[name]; known && now.Physical {
				read, written = read+now.ReadBytes-was.ReadBytes, written+now.WrittenBytes-was.WrittenBytes
			}
		}
		for name, now := range after.devices.Networks {
			if was, known := before.devices.Networks[name]; known {
				received, sent = received+now.ReceivedBytes-was.ReceivedBytes, sent+now.SentBytes-was.SentBytes
			}
		}
		h.DiskRead, h.DiskWritten, h.NetworkReceived, h.NetworkSent = &read, &written, &received, &sent
	}
	if h == (result.IntervalHost{}) {
		return nil
	}
	return &h
}
