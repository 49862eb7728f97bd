package bench

import (
	"errors"
	"os"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// brokerUsage is what one local broker has used.
type brokerUsage struct {
	probe.Usage
	id      int32
	pid     int
	heapMax int64
	dataDir string
}

// brokerUsage reads all local brokers; those that can't be read (they were
// killed, or this is not Linux) are left out.
func (r *run) brokerUsage() []brokerUsage {
	local, ok := r.cfg.Cluster.(cluster.Local)
	if !ok {
		return nil
	}
	var all []brokerUsage
	for _, p := range local.Processes() {
		if u, err := probe.Process(p.PID); err == nil {
			all = append(all, brokerUsage{u, p.ID, p.PID, p.HeapMaxBytes, p.DataDir})
		}
	}
	return all
}

// reading is everything that counts up, at one end of the measured window.
type reading struct {
	at      int64
	self    snapshot.Usage // of all processes
	died    error          // why it is not known of all: one has ended that was not told to
	host    probe.Host
	hostOK  bool
	runtime probe.Runtime
	pauses  snapshot.Pauses // of the producers' processes, since the reading before
	brokers []brokerUsage

	sending, fetching snapshot.Traffic
	devices           probe.HostCounts // disks and networks
	devicesOK         bool
	threads           map[int]probe.Threads // of the tool's own process and local brokers, by process

	received snapshot.Received
	members  []snapshot.MemberCounts // by group
	apart    apartReading
	gate     snapshot.Gate
	queue    queueReading
	traffic  judge.QueueTraffic
}

// counted returns what a reading has for the figures of the load.
func (t reading) counted() judge.Reading {
	return judge.Reading{
		AtNs: t.at, Sending: t.sending, Fetching: t.fetching, Members: t.members, Gate: t.gate,
		QueueAcked: t.queue.totals.Acked, QueueTraffic: t.traffic,
	}
}

func (r *run) takeReading() reading {
	t := reading{at: r.axis.Now(), runtime: r.cfg.Probes.Runtime(), brokers: r.brokerUsage()}
	usages, pauses, err := used(r.children, remote.Want{Usage: true, Pauses: true, Fresh: true})
	if err == nil { // otherwise the run is invalid for another reason
		t.pauses = pauses
	}
	t.apart, t.died = r.readApart()
	t.self, t.died = r.usage(append(usages, t.apart.usages...)...), errors.Join(err, t.died)
	t.self.Known = t.self.Known && t.died == nil
	t.host, err = r.cfg.Probes.Host()
	t.hostOK = err == nil
	sent := r.producers.Snapshot(remote.Want{Fresh: true})
	t.sending = sent.Traffic
	if sent.Gate != nil {
		t.gate = *sent.Gate
	}
	standings := r.groups.stand(remote.Want{Books: r.queue != nil, Fresh: true})
	for _, g := range standings {
		t.fetching = t.fetching.Add(g.Traffic)
	}
	t.devices, err = r.cfg.Probes.Devices()
	t.devicesOK = err == nil
	t.threads = r.readThreads(t.brokers)
	t.received, t.members = standings.received(), standings.counts()
	if r.queue != nil {
		t.queue, t.traffic = r.readQueue(standings), r.queue.traffic.reading()
	}
	return t
}

// process says what the tool itself used between the two readings, all of its
// processes together; of pauses and delays, those of the process with the longest that
// the run does not hold back itself.
func (r *run) process(acked int64) result.Process {
	a, b := r.atStart, r.atEnd
	pauses := remote.PausesBetween(a.runtime, b.runtime).Worse(b.pauses)
	if !r.heldBack() {
		pauses = pauses.Worse(b.apart.pauses)
	}
	p := result.Process{
		GCCycles:     b.self.GCCycles - a.self.GCCycles,
		GCCPUS:       (b.self.GCCPU - a.self.GCCPU).Seconds(),
		AllocBytes:   b.self.AllocBytes - a.self.AllocBytes,
		AllocObjects: b.self.AllocObjects - a.self.AllocObjects,
		GCPauseNs:    quantile(pauses.GC),
		SchedDelayNs: quantile(pauses.Sched),
		CorpusBytes:  r.corpus.Bytes(), CorpusTimeNs: r.corpusNs,
	}
	if a.self.Known && b.self.Known {
		user, system := (b.self.User - a.self.User).Seconds(), (b.self.System - a.self.System).Seconds()
		p.CPUUserS, p.CPUSystemS, p.CPUCores = &user, &system, cores(user+system, b.at-a.at)
		if acked > 0 {
			each := (user + system) * 1e9 / float64(acked)
			p.CPUPerRecord = &each
		}
	}
	if !r.apart() && r.cfg.Scenario.Consume.Processes <= 1 {
		p.CPUWaitRatio = r.waitedForCores(os.Getpid())
	}
	if total := (b.host.Total - a.host.Total).Seconds(); a.hostOK && b.hostOK && total > 0 {
		busy, stolen := (b.host.Busy-a.host.Busy).Seconds()/total, (b.host.Stolen-a.host.Stolen).Seconds()/total
		p.HostCPUBusy, p.HostCPUStolen = &busy, &stolen
	}
	if r.peaks.rss > 0 {
		p.RSSPeakBytes = &r.peaks.rss
	}
	return p
}

// cores is CPU time over a length of time, nil where there is no length.
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

// brokers says what each local broker used between the two readings.
func (r *run) brokers() []result.Broker {
	window := r.atEnd.at - r.atStart.at
	before := make(map[int]brokerUsage)
	for _, b := range r.atStart.brokers {
		before[b.pid] = b
	}
	var all []result.Broker
	for _, after := range r.atEnd.brokers {
		b := result.Broker{
			ID: after.id, HeapMaxBytes: after.heapMax,
			CoresAllowed: probe.AllowedCores(after.pid), CPUWaitRatio: r.waitedForCores(after.pid),
		}
		if was, same := before[after.pid]; same {
			user, system := (after.User - was.User).Seconds(), (after.System - was.System).Seconds()
			b.CPUUserS, b.CPUSystemS, b.CPUCores = &user, &system, cores(user+system, window)
			b.DiskRead = difference(was.DiskRead, after.DiskRead)
			b.DiskWritten = difference(was.DiskWritten, after.DiskWritten)
		}
		if peak, known := r.peaks.brokerRSS[after.id]; known {
			b.RSSPeakBytes = &peak
		}
		if size, err := probe.FolderSize(after.dataDir); err == nil {
			b.LogSizeBytes = &size
		}
		all = append(all, b)
	}
	return all
}

func difference(before, after *int64) *int64 {
	if before == nil || after == nil {
		return nil
	}
	d := *after - *before
	return &d
}

// isLocal reports whether the brokers run on this machine.
func (r *run) isLocal() bool {
	_, local := r.cfg.Cluster.(cluster.Local)
	return local
}

// brokersGone returns the local brokers that ran at the first reading and not at the second.
func (r *run) brokersGone() (gone []int32) {
	for _, b := range r.atStart.brokers {
		if !slices.ContainsFunc(r.atEnd.brokers, func(o brokerUsage) bool { return o.pid == b.pid }) {
			gone = append(gone, b.id)
		}
	}
	return gone
}
