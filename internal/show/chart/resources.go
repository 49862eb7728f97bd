package chart

import (
	"fmt"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

var (
	processCPU = field{name: "process_cpu_cores",
		value: func(i *result.Interval) float64 { return some(i.ProcessCPUCores) }}
	processRSS = field{name: "process_rss_bytes",
		value: func(i *result.Interval) float64 { return some(i.ProcessRSSBytes) }}
)

const tool = "kafka-bench"

func resources(in Input) (draw.Spec, error) {
	r, err := in.oneOver()
	if err != nil {
		return draw.Spec{}, err
	}
	brokers := brokersOf(r)
	var ps panels
	for _, p := range []struct {
		axis  draw.Axis
		calls []call
	}{
		{draw.Free("CPU, cores", draw.Linear, cores), append([]call{{tool, processCPU}}, brokerCPU(r, brokers)...)},
		{draw.Free("CPU of the machine", draw.Linear, share), []call{
			{"busy", ofHost("cpu_busy_ratio", func(h *result.IntervalHost) float64 { return some(h.CPUBusyRatio) })},
			{"stolen", ofHost("cpu_stolen_ratio", func(h *result.IntervalHost) float64 { return some(h.CPUStolenRatio) })},
		}},
		{draw.Free("memory", draw.Linear, bytes), append([]call{{tool, processRSS}}, eachBroker(brokers, "rss_bytes",
			func(b *result.IntervalBroker, _ float64) float64 { return some(b.RSSBytes) })...)},
		{draw.Free("disk, written/s", draw.Linear, bytesPerS), append([]call{
			{"machine", hostRate("disk_written_bytes", func(h *result.IntervalHost) *int64 { return h.DiskWritten })}},
			eachBroker(brokers, "disk_written_bytes",
				func(b *result.IntervalBroker, s float64) float64 { return some(b.DiskWritten) / s })...)},
		{draw.Free("disk, read/s", draw.Linear, bytesPerS), append([]call{
			{"machine", hostRate("disk_read_bytes", func(h *result.IntervalHost) *int64 { return h.DiskRead })}},
			eachBroker(brokers, "disk_read_bytes",
				func(b *result.IntervalBroker, s float64) float64 { return some(b.DiskRead) / s })...)},
		{draw.Free("network", draw.Linear, bytesPerS), []call{
			{"received", hostRate("network_received_bytes", func(h *result.IntervalHost) *int64 { return h.NetworkReceived })},
			{"sent", hostRate("network_sent_bytes", func(h *result.IntervalHost) *int64 { return h.NetworkSent })},
		}},
	} {
		ps.add(panelOf(p.axis, r, p.calls...))
	}
	return ps.spec(only(r), "Processors, memory, disk and network",
		fmt.Sprintf("What the tool, the brokers and the machine used while %s went on.", r.name))
}

func ofHost(name string, value func(*result.IntervalHost) float64) field {
	return field{name: "host." + name, value: func(i *result.Interval) float64 {
		if i.Host == nil {
			return math.NaN()
		}
		return value(i.Host)
	}}
}

func hostRate(name string, count func(*result.IntervalHost) *int64) field {
	f := ofHost(name, func(h *result.IntervalHost) float64 { return some(count(h)) })
	return perSecond(f.name, f.value)
}

func brokersOf(r named) (ids []int32) {
	for _, i := range r.Intervals {
		for _, b := range i.Brokers {
			ids = append(ids, b.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// eachBroker passes the length of the interval, in seconds, to value.
func eachBroker(ids []int32, name string, value func(*result.IntervalBroker, float64) float64) (all []call) {
	for _, id := range ids {
		one := field{name: "brokers." + name, value: func(i *result.Interval) float64 {
			at := slices.IndexFunc(i.Brokers, func(b result.IntervalBroker) bool { return b.ID == id })
			if at < 0 {
				return math.NaN()
			}
			return value(&i.Brokers[at], seconds(i))
		}}
		all = append(all, call{fmt.Sprintf("broker %d", id), one})
	}
	return all
}

// Older runs have the CPU only of running brokers, without the brokers' IDs. An interval in which
// fewer brokers ran than in another has no values.
func brokerCPU(r named, ids []int32) (all []call) {
	if len(ids) > 0 {
		return eachBroker(ids, "cpu_cores", func(b *result.IntervalBroker, _ float64) float64 { return some(b.CPUCores) })
	}
	brokers := 0
	for _, i := range r.Intervals {
		brokers = max(brokers, len(i.BrokerCPUCores))
	}
	for n := range brokers {
		one := field{name: "broker_cpu_cores", value: func(i *result.Interval) float64 {
			if len(i.BrokerCPUCores) != brokers {
				return math.NaN()
			}
			return i.BrokerCPUCores[n]
		}}
		all = append(all, call{fmt.Sprintf("one of %d brokers", brokers), one})
	}
	return all
}

func process(in Input) (draw.Spec, error) {
	r, err := in.oneOver()
	if err != nil {
		return draw.Spec{}, err
	}
	var ps panels
	heap := eachProcess(r, "heap_bytes", func(p *result.IntervalProcess) *int64 { return p.HeapBytes })
	if len(heap) == 0 {
		return draw.Spec{}, r.lacks(intervalsFile, "processes", "")
	}
	metric := timeOf([]named{r})
	ps.add(timesOver(r, metric))
	ps.add(panelOf(draw.Free("CPU of the tool, cores", draw.Linear, cores), r, call{tool, processCPU}))
	ps.add(panelOf(draw.Free("heap", draw.Linear, bytes), r, heap...))
	ps.add(panelOf(draw.Free("GC pauses in the interval", draw.Linear, nanos), r,
		eachProcess(r, "gc_pause_ns", func(p *result.IntervalProcess) *int64 { return p.GCPauseNs })...))
	ps.add(panelOf(draw.Free("goroutines", draw.Linear, count), r,
		eachProcess(r, "goroutines", func(p *result.IntervalProcess) *int64 { return p.Goroutines })...))
	return ps.spec(only(r), "Process of the tool, under the latency", fmt.Sprintf(
		"The %s of %s, and below it CPU, heap, pauses of the garbage collector and goroutines of the tool.",
		inWords(metric), r.name))
}

func eachProcess(r named, name string, value func(*result.IntervalProcess) *int64) (all []call) {
	var names []string
	for _, i := range r.Intervals {
		for _, p := range i.Processes {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	for _, process := range names {
		all = append(all, call{process, field{name: "processes." + name, value: func(i *result.Interval) float64 {
			at := slices.IndexFunc(i.Processes, func(p result.IntervalProcess) bool { return p.Name == process })
			if at < 0 {
				return math.NaN()
			}
			return some(value(&i.Processes[at]))
		}}})
	}
	return all
}
