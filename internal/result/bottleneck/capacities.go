package bottleneck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Capacities: resources that are used up.

func cores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%.3g cores", n)
}

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

// consumerWork judges the simulated work, if each worker can have a partition.
func consumerWork(j *judge) (finding, bool) {
	c := j.Consumer
	if c.Utilisation == nil || c.Workers > j.partitions() && j.Partitions > 0 {
		return unknown()
	}
	return found(ConsumerWork, capacity, *c.Utilisation,
		"add consumers, or partitions where each has one already, or make the work shorter",
		"%d workers were busy for %s of the window with the work on each record", c.Workers, percent(*c.Utilisation))
}

// A topic's partitions count once for each group.
func (j *judge) partitions() int { return j.Partitions * max(1, len(j.Groups)) }

// clientCPU is not known with agents: their CPU is a sum, and ClientCores are the coordinator's.
func clientCPU(j *judge) (finding, bool) {
	if j.Process.CPUCores == nil || j.ClientCores <= 0 || len(j.Agents) > 0 {
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

func byID(brokers []result.Broker) []result.Broker {
	return slices.SortedStableFunc(slices.Values(brokers),
		func(a, b result.Broker) int { return cmp.Compare(a.ID, b.ID) })
}

// A disk that is always busy may serve many requests at once, or write back the page cache while no
// process waits, so it is a hint. It is a capacity if, for most of the window, produce requests
// waited in a broker's handlers without using CPU, and tasks waited for I/O. If the disks with
// local brokers' logs are unknown, disk judges all disks.
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

// Kafka rounds times to whole milliseconds.
const roundingMs = 0.5

// heldUp is the mean number of Produce requests in a local broker's handlers (Little's law: rate ×
// local time) that neither its CPU use nor a wait for CPU explains; 0 if unknown.
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

// Only interfaces with a known capacity count, each by its fuller direction.
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

// hostCPU judges the machine of the tool and local brokers, with other processes and stolen time.
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
		f.own = min(f.own, own/total) // the readings have different times
	}
	if others > own {
		f.kind, f.remedy = foreign, "stop other programs on the machine"
		if j.undelayed > Saturated { // the run does not need the others' cores
			f.kind = hint
		}
	}
	return f, known
}

// hostBusy is not known for several machines.
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

func networkThreads(j *judge) (finding, bool) {
	return j.threads(NetworkThreads, "network threads", "raise num.network.threads of the brokers",
		func(m result.BrokerMetrics) (mean, worst *float64) { return m.NetworkIdleRatio, m.NetworkIdleRatioMin })
}

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
