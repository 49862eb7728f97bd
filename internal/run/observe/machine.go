package observe

import (
	"errors"
	"os"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Machine reads the usage of the tool's processes, the local brokers and this machine.
type Machine struct {
	Axis      *load.Axis
	Probes    probe.Set
	Cluster   cluster.Cluster
	Producers *remote.Producers
	Groups    remote.Groups
	Senders   remote.Children // processes of the producers; none if they run in this one
	// Consumers is how many child processes run the consumers; 0 means this process.
	Consumers int
	// Confined has the limits of the consumers' processes; nil if they have none.
	Confined *result.Confined
	// Throttled returns how long the operating system has held back the confined processes.
	Throttled func() (sum time.Duration, known bool)
	// Traffic returns the traffic of a queue's clients; nil without a queue.
	Traffic func() judge.QueueTraffic
	Dirty   *DirtyPages
	// DiskYardsticks is the measured write rate of disks in bytes/s, by name.
	DiskYardsticks map[string]float64
}

// Reading has all running totals at one end of the measured window.
type Reading struct {
	judge.Reading
	hostReading
	self    snapshot.Usage
	died    error // a process ended unexpectedly, so self is incomplete
	runtime probe.Runtime
	pauses  snapshot.Pauses
	brokers []brokerUsage

	threads map[int]probe.Threads
	apart   apartReading
}

type hostReading struct {
	host      probe.Host
	hostOK    bool
	devices   probe.HostCounts
	devicesOK bool
}

type apartReading struct {
	usages         []snapshot.Usage
	pauses         snapshot.Pauses
	throttled      time.Duration
	throttledKnown bool
}

// Read reads all totals.
func (m *Machine) Read() Reading {
	t := Reading{
		Reading: judge.Reading{AtNs: m.Axis.Now()}, runtime: m.Probes.Runtime(), brokers: m.readBrokers(),
	}
	usages, pauses, err := used(m.Senders, remote.Want{Usage: true, Pauses: true, Fresh: true})
	if err == nil {
		t.pauses = pauses
	}
	t.apart, t.died = m.readApart()
	t.self, t.died = m.usage(append(usages, t.apart.usages...)...), errors.Join(err, t.died)
	t.self.Known = t.self.Known && t.died == nil
	t.hostReading = m.readHost()
	sent := m.Producers.Snapshot(remote.Want{Fresh: true})
	t.Sending = sent.Traffic
	if sent.Gate != nil {
		t.Gate = *sent.Gate
	}
	standings := m.Groups.Stand(remote.Want{Books: m.Traffic != nil, Fresh: true})
	for _, g := range standings {
		t.Fetching = t.Fetching.Add(g.Traffic)
	}
	t.threads = m.readThreads(t.brokers)
	t.Members = standings.Counts()
	if m.Traffic != nil {
		t.QueueAcked, t.QueueTraffic = standings[0].Queue.Total.Acked, m.Traffic()
	}
	return t
}

func (m *Machine) readHost() (r hostReading) {
	var err error
	r.host, err = m.Probes.Host()
	r.hostOK = err == nil
	r.devices, err = m.Probes.Devices()
	r.devicesOK = err == nil
	return r
}

func (r hostReading) cpuSince(before hostReading) (busy, stolen *float64) {
	b, s, known := r.host.Since(before.host)
	if !before.hostOK || !r.hostOK || !known {
		return nil, nil
	}
	return &b, &s
}

func (m *Machine) readApart() (a apartReading, died error) {
	if m.Consumers == 0 {
		return a, nil
	}
	a.usages, a.pauses, died = used(m.Groups.Processes(), remote.Want{Usage: true, Pauses: true, Fresh: true})
	a.throttled, a.throttledKnown = m.Throttled()
	return a, died
}

// The error names processes that died; their usage is what they last reported. The pauses are since
// the last call.
func used(processes remote.Children, w remote.Want) (usages []snapshot.Usage, worst snapshot.Pauses, died error) {
	all, died := processes.Snapshots(w)
	usages = make([]snapshot.Usage, len(all))
	for i, s := range all {
		if s.Usage != nil { // otherwise it never reported, and Known is false
			usages[i] = *s.Usage
		}
		if processes[i].Ended() {
			usages[i].RSS = 0
		}
		if s.Pauses != nil {
			worst = worst.Worse(*s.Pauses)
		}
	}
	return usages, worst, died
}

func (m *Machine) usage(others ...snapshot.Usage) snapshot.Usage {
	sum := remote.UsageOf(m.Probes)
	for _, u := range others {
		sum = sum.Add(u)
	}
	return sum
}

// Peaks are the highest values of the intervals: resident sets in bytes, and cores in whole
// intervals of the measured window.
type Peaks struct {
	Tool    int64
	Brokers map[int32]int64 // by broker

	ToolCores   *float64          // nil if unknown
	BrokerCores map[int32]float64 // by broker; only those that report it
}

// Between returns the usage between two readings, without the brokers'. acked is how many records
// were acknowledged in between.
func (m *Machine) Between(a, b Reading, acked int64, peaks Peaks) judge.Machine {
	out := judge.Machine{
		Process: m.process(a, b, acked, peaks), Gone: gone(a, b),
		HostUse: m.hostUse(a, b), UsageUnknown: a.died,
		ConsumerProcesses: m.Consumers, Confined: m.confined(a, b),
	}
	if out.UsageUnknown == nil {
		out.UsageUnknown = b.died
	}
	return out
}

// If the scenario limits the consumers' processors, waiting for CPU is part of the experiment. A
// memory limit makes no process wait.
func (m *Machine) heldBack() bool { return m.Confined != nil && m.Confined.CPU > 0 }

// Pauses and delays are those of the worst process that the scenario does not hold back.
func (m *Machine) process(a, b Reading, acked int64, peaks Peaks) result.Process {
	pauses := remote.PausesBetween(a.runtime, b.runtime).Worse(b.pauses)
	if !m.heldBack() {
		pauses = pauses.Worse(b.apart.pauses)
	}
	p := result.Process{
		GCCycles:     b.self.GCCycles - a.self.GCCycles,
		GCCPUS:       (b.self.GCCPU - a.self.GCCPU).Seconds(),
		AllocBytes:   b.self.AllocBytes - a.self.AllocBytes,
		AllocObjects: b.self.AllocObjects - a.self.AllocObjects,
		GCPauseNs:    quantile(pauses.GC),
		SchedDelayNs: quantile(pauses.Sched),
	}
	if a.self.Known && b.self.Known {
		user, system := (b.self.User - a.self.User).Seconds(), (b.self.System - a.self.System).Seconds()
		p.CPUUserS, p.CPUSystemS, p.CPUCores = &user, &system, cores(user+system, b.AtNs-a.AtNs)
		if acked > 0 {
			each := (user + system) * 1e9 / float64(acked)
			p.CPUPerRecord = &each
		}
	}
	if len(m.Senders) == 0 && m.Consumers <= 1 {
		p.CPUWaitRatio = waitedForCores(a, b, os.Getpid())
	}
	p.HostCPUBusy, p.HostCPUStolen = b.cpuSince(a.hostReading)
	if peaks.Tool > 0 {
		p.RSSPeakBytes = &peaks.Tool
	}
	p.CPUCoresMax = peaks.ToolCores
	if a.died == nil && b.died == nil {
		paused := int64(b.self.GCPause - a.self.GCPause)
		p.GCPauseTotalNs = &paused
	}
	return p
}

func (m *Machine) confined(a, b Reading) *result.Confined {
	if m.Confined == nil {
		return nil
	}
	c := *m.Confined
	c.CPUCoresUsed = busiest(a.apart.usages, b.apart.usages, b.AtNs-a.AtNs)
	if b.apart.throttledKnown {
		throttled := (b.apart.throttled - a.apart.throttled).Seconds()
		c.ThrottledS = &throttled
	}
	if m.heldBack() {
		delay, pause := quantile(b.apart.pauses.Sched), quantile(b.apart.pauses.GC)
		c.SchedDelayNs, c.GCPauseNs = &delay, &pause
	}
	return &c
}

// busiest returns nil if the usage is unknown. Processes that started later are only in after.
func busiest(before, after []snapshot.Usage, lengthNs int64) *float64 {
	var most *float64
	for i, u := range after {
		if !u.Known {
			continue
		}
		used := u.User + u.System
		if i < len(before) {
			used -= before[i].User + before[i].System
		}
		if c := cores(used.Seconds(), lengthNs); c != nil && (most == nil || *c > *most) {
			most = c
		}
	}
	return most
}

// cores returns nil if the length is not positive.
func cores(cpuS float64, lengthNs int64) *float64 {
	if lengthNs <= 0 {
		return nil
	}
	c := cpuS / time.Duration(lengthNs).Seconds()
	return &c
}

func quantile(q snapshot.Quantiles) result.Quantile {
	return result.Quantile{Count: q.Count, P50Ns: int64(q.P50), P99Ns: int64(q.P99), MaxNs: int64(q.Max)}
}

type brokerUsage struct {
	probe.Usage
	id       int32
	pid      int
	heapMax  int64
	dataDirs []string
}

// Brokers that can't be read are left out: killed ones, or all outside of Linux.
func (m *Machine) readBrokers() []brokerUsage {
	local, ok := m.Cluster.(cluster.Local)
	if !ok {
		return nil
	}
	var all []brokerUsage
	for _, p := range local.Processes() {
		if u, err := probe.Process(p.PID); err == nil {
			all = append(all, brokerUsage{u, p.ID, p.PID, p.HeapMaxBytes, p.DataDirs})
		}
	}
	return all
}

// BrokersBetween returns the usage of each local broker between two readings, and the size of its
// logs now.
func BrokersBetween(a, b Reading, peaks Peaks) []result.Broker {
	window := b.AtNs - a.AtNs
	before := make(map[int]brokerUsage)
	for _, was := range a.brokers {
		before[was.pid] = was
	}
	var all []result.Broker
	for _, after := range b.brokers {
		used := result.Broker{
			ID: after.id, HeapMaxBytes: after.heapMax,
			CoresAllowed: probe.AllowedCores(after.pid), CPUWaitRatio: waitedForCores(a, b, after.pid),
		}
		if was, same := before[after.pid]; same {
			user, system := (after.User - was.User).Seconds(), (after.System - was.System).Seconds()
			used.CPUUserS, used.CPUSystemS, used.CPUCores = &user, &system, cores(user+system, window)
			used.DiskRead = difference(was.DiskRead, after.DiskRead)
			used.DiskWritten = difference(was.DiskWritten, after.DiskWritten)
		}
		if peak, known := peaks.Brokers[after.id]; known {
			used.RSSPeakBytes = &peak
		}
		if peak, known := peaks.BrokerCores[after.id]; known {
			used.CPUCoresMax = &peak
		}
		used.LogSizeBytes = foldersSize(after.dataDirs)
		all = append(all, used)
	}
	return all
}

// foldersSize returns bytes; nil if the size of a folder is unknown.
func foldersSize(dirs []string) *int64 {
	var sum int64
	for _, dir := range dirs {
		size, err := probe.FolderSize(dir)
		if err != nil {
			return nil
		}
		sum += size
	}
	return &sum
}

func difference(before, after *int64) *int64 {
	if before == nil || after == nil {
		return nil
	}
	d := *after - *before
	return &d
}

func gone(a, b Reading) (ids []int32) {
	for _, was := range a.brokers {
		if !slices.ContainsFunc(b.brokers, func(is brokerUsage) bool { return is.pid == was.pid }) {
			ids = append(ids, was.id)
		}
	}
	return ids
}
