package bottleneck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Capacities: what is used up.

// cores prints a number of cores.
func cores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%.3g cores", n)
}

// consumerCPU judges the processes of confined consumers, by the busiest.
func consumerCPU(j *judge) (finding, bool) {
	c := j.Consumer.Confined
	if c == nil || c.CPU <= 0 || c.CPUCoresUsed == nil {
		return unknown()
	}
	share := *c.CPUCoresUsed / c.CPU
	held := ""
	if c.ThrottledS != nil && *c.ThrottledS > 0 {
		held = fmt.Sprintf(", and the system held them back for %.3g s in all", *c.ThrottledS)
	}
	return found(ConsumerCPU, capacity, share,
		"allow the consumers more (consume.cpu), or add consumers and partitions",
		"%s of the %s that a consumer's process is allowed%s", percent(share), cores(c.CPU), held)
}

// consumerWork judges the simulated work, where there are partitions for all workers.
func consumerWork(j *judge) (finding, bool) {
	c := j.Consumer
	if c.Utilisation == nil || c.Workers > j.partitions() && j.Partitions > 0 {
		return unknown()
	}
	return found(ConsumerWork, capacity, *c.Utilisation,
		"add consumers, or partitions where each has one already, or make the work shorter",
		"%d workers were busy for %s of the window with the work on each record", c.Workers, percent(*c.Utilisation))
}

// partitions are those of the topic, once for each group.
func (j *judge) partitions() int { return j.Partitions * max(1, len(j.Groups)) }

// clientCPU judges what the tool's own processes use: the clients under test, and the
// measuring.
func clientCPU(j *judge) (finding, bool) {
	if j.Process.CPUCores == nil || j.ClientCores <= 0 {
		return unknown()
	}
	share := *j.Process.CPUCores / j.ClientCores
	with := ""
	if j.Run.Run.Cluster.Kind == "embedded" {
		with = ", the embedded broker's part included"
	}
	return found(ClientCPU, capacity, share,
		"larger batches and a cheaper codec cost less for each record; else use more machines or cores",
		"%s of %s%s", percent(share), cores(j.ClientCores), with)
}

// brokerCPU judges the local broker that uses the most of what it may.
func brokerCPU(j *judge) (finding, bool) {
	worst, share, allowed := result.Broker{}, -1.0, 0.0
	for _, b := range byID(j.Broker) {
		may := float64(j.Run.Run.Host.CPUs)
		if b.CoresAllowed != nil {
			may = *b.CoresAllowed
		}
		if b.CPUCores == nil || may <= 0 {
			continue
		}
		if s := *b.CPUCores / may; s > share {
			worst, share, allowed = b, s, may
		}
	}
	return found(BrokerCPU, capacity, share,
		"larger batches make fewer requests; else spread the leaders over more brokers, or give them more cores",
		"broker %d used %s of the %s that it may use", worst.ID, percent(share), cores(allowed))
}

// byID are the brokers in the order of their IDs, so that of equals the first is told.
func byID(brokers []result.Broker) []result.Broker {
	return slices.SortedStableFunc(slices.Values(brokers),
		func(a, b result.Broker) int { return cmp.Compare(a.ID, b.ID) })
}

// disk judges the disks that hold local brokers' logs, or all where that is not known.
//
// That a request was under way all the time says little of one that serves many at once,
// and writing the page cache back keeps a disk busy while nobody waits for it. Such a disk
// is a hint. It is a capacity where requests to a broker waited inside its handlers for
// something that was not the CPU, and for as much of the window as tasks waited for I/O.
func disk(j *judge) (finding, bool) {
	d, known := j.busiestDisk()
	if !known {
		return unknown()
	}
	queue, waits := "", "that a request to a broker waited for it does not show"
	if d.QueueMean != nil && d.RequestMeanMs != nil {
		queue = fmt.Sprintf(" (%.3g on average, of %s each)", *d.QueueMean, millis(*d.RequestMeanMs))
	}
	own, id, held := *d.BusyRatio, int32(0), 0.0
	for _, b := range byID(j.Broker) {
		if n := heldUp(b); n > held {
			id, held = b.ID, n
		}
	}
	if p := j.HostUse.IOPressureRatio; p != nil {
		own = min(own, *p)
	}
	shows := held >= Saturated && own >= Saturated
	if shows {
		waits = fmt.Sprintf("%.3g Produce requests waited in the handlers of broker %d, on average", held, id)
	}
	f, known := found(Disk, capacity, *d.BusyRatio,
		"compress, keep fewer replicas, or spread the brokers' logs over more disks",
		"%s had requests under way%s for %s of the window, and wrote %s and read %s; %s", d.Name, queue,
		percent(min(1, *d.BusyRatio)),
		unit.Bytes(d.WrittenBytes), unit.Bytes(d.ReadBytes), waits)
	f.own = own
	if !shows {
		f.kind = hint
	}
	return j.timed(f, known)
}

// busiestDisk is that of the disks with the brokers' logs.
func (j *judge) busiestDisk() (worst result.DiskUse, known bool) {
	if j.HostUse == nil || len(j.Broker) == 0 {
		return worst, false
	}
	told := slices.ContainsFunc(j.HostUse.Disks, func(d result.DiskUse) bool { return d.HoldsLogs })
	for _, d := range j.HostUse.Disks {
		if d.BusyRatio == nil || told && !d.HoldsLogs {
			continue
		}
		if !known || *d.BusyRatio > *worst.BusyRatio || *d.BusyRatio == *worst.BusyRatio && d.Name < worst.Name {
			worst, known = d, true
		}
	}
	return worst, known
}

// roundingMs is what Kafka may add to the time of a request, which it rounds to whole
// milliseconds.
const roundingMs = 0.5

// heldUp is how many Produce requests were in the handlers of a local broker on average
// (Little's law: rate × time there), beyond those for which its CPU, or a wait for it,
// would account if it had done nothing else. 0 is not known.
func heldUp(b result.Broker) float64 {
	if b.CPUCores == nil || b.CPUWaitRatio == nil || *b.CPUWaitRatio >= 1 {
		return 0
	}
	held := 0.0
	for _, q := range requests(b) {
		if q.Type == "Produce" && q.LocalMs != nil {
			held += q.PerS * max(0, *q.LocalMs-roundingMs) / 1e3
		}
	}
	return held - *b.CPUCores/(1-*b.CPUWaitRatio)
}

// network judges the interfaces whose capacity is known, each by its fuller direction.
func network(j *judge) (finding, bool) {
	if j.HostUse == nil {
		return unknown()
	}
	worst, share := result.NetUse{}, -1.0
	for _, n := range j.HostUse.Networks {
		if n.CapacityBytesPerS == nil || *n.CapacityBytesPerS <= 0 {
			continue
		}
		s := float64(max(n.ReceivedBytes, n.SentBytes)) / j.window / *n.CapacityBytesPerS
		if s > share || s == share && n.Name < worst.Name {
			worst, share = n, s
		}
	}
	capacityPerS := 0.0
	if worst.CapacityBytesPerS != nil {
		capacityPerS = *worst.CapacityBytesPerS
	}
	return found(Network, capacity, share, "compress, or use a faster network",
		"%s carried %s of the %s/s that it can", worst.Name, percent(share), unit.Bytes(int64(capacityPerS)))
}

// hostCPU judges the machine that the tool and local brokers share, with everybody else
// on it, and what a hypervisor gave to other machines.
func hostCPU(j *judge) (finding, bool) {
	share, known := j.hostBusy()
	if !known {
		return unknown()
	}
	total, stolen := float64(j.Run.Run.Host.CPUs), ""
	if s := j.Process.HostCPUStolen; s != nil && *s > 0 {
		stolen = fmt.Sprintf(", %s of it stolen", percent(*s))
	}
	own, parts := j.ownCores()
	others := max(0, share*total-own)
	f, known := found(HostCPU, capacity, share,
		"put clients and brokers on machines of their own, or use one with more cores",
		"%s of %s%s: %s%s others%s", percent(share), cores(total), stolen, parts, decimals(others), j.waits())
	if j.keptUp() {
		f.own = min(f.own, own/total) // the two are not read at quite the same moment
	}
	if others > own {
		f.kind, f.remedy = foreign, "end what else runs on the machine"
		if j.undelayed > Saturated { // it keeps itself busy with what the run does not need
			f.kind = hint
		}
	}
	return f, known
}

// hostBusy is what of the machine's cores was used by anybody, or not given to it; not known of
// several machines, of which no one is the limit of the run by itself.
func (j *judge) hostBusy() (share float64, known bool) {
	p := j.Process
	if p.HostCPUBusy == nil || len(j.Agents) > 0 || j.Run.Run.Host.CPUs <= 0 {
		return 0, false
	}
	share = *p.HostCPUBusy
	if p.HostCPUStolen != nil && *p.HostCPUStolen > 0 {
		share += *p.HostCPUStolen
	}
	return share, true
}

// waits says for how much of their time the run's processes waited for a core.
func (j *judge) waits() string {
	var parts []string
	if own := j.Process.CPUWaitRatio; own != nil {
		parts = append(parts, "kafka-bench "+percent(*own))
	}
	for _, b := range byID(j.Broker) {
		if b.CPUWaitRatio != nil {
			parts = append(parts, fmt.Sprintf("broker %d %s", b.ID, percent(*b.CPUWaitRatio)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; of the time in which they could run they waited for a core: " + strings.Join(parts, ", ")
}

// ownCores is what the tool and its local brokers used, in sum and in words.
func (j *judge) ownCores() (sum float64, parts string) {
	if c := j.Process.CPUCores; c != nil {
		sum, parts = *c, decimals(*c)+" kafka-bench, "
	}
	brokers, any := 0.0, false
	for _, b := range j.Broker {
		if b.CPUCores != nil {
			brokers, any = brokers+*b.CPUCores, true
		}
	}
	if any {
		parts += decimals(brokers) + " brokers, "
	}
	return sum + brokers, parts
}

func decimals(v float64) string { return fmt.Sprintf("%.2f", v) }

// networkThreads judges the threads of the broker that waited the least.
func networkThreads(j *judge) (finding, bool) {
	return j.threads(NetworkThreads, "network threads", "raise num.network.threads of the brokers",
		func(m result.BrokerMetrics) (mean, worst *float64) { return m.NetworkIdleRatio, m.NetworkIdleRatioMin })
}

// requestHandlers judges those of the broker that waited the least.
func requestHandlers(j *judge) (finding, bool) {
	return j.threads(RequestHandlers, "request handlers",
		"raise num.io.threads of the brokers, or find what the handlers wait for",
		func(m result.BrokerMetrics) (mean, worst *float64) { return m.HandlerIdleRatio, m.HandlerIdleRatioMin })
}

func (j *judge) threads(name, what, remedy string, idle func(result.BrokerMetrics) (mean, worst *float64)) (finding,
	bool) {
	share, evidence := -1.0, ""
	for _, b := range byID(j.Broker) {
		if b.Metrics == nil {
			continue
		}
		mean, worst := idle(*b.Metrics)
		if mean == nil || 1-*mean <= share {
			continue
		}
		share = 1 - *mean
		evidence = fmt.Sprintf("the %s of broker %d waited for work in %s of the window", what, b.ID, percent(*mean))
		if worst != nil {
			evidence += fmt.Sprintf(" (%s at worst)", percent(*worst))
		}
	}
	return j.timed(found(name, capacity, share, remedy, "%s", evidence))
}
