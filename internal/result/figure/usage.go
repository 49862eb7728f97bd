package figure

import "kafkabench.example/kafka-bench/internal/result"

func usage() []Figure {
	return []Figure{
		{Name: "wire_ratio", Title: "bytes sent ÷ bytes acked", Kind: Ratio, Better: Lower,
			fields: []string{"load.bytes"}, value: wireRatio},
		{Name: "compression_ratio", Title: "compression", Kind: Number, Better: Higher,
			fields: []string{"compression.ratio"}, value: compressionRatio},
		{
			Name: "cpu_cores", Title: "CPU of the tool, cores", Kind: Number, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Process.CPUCores }),
		},
		{
			Name: "cpu_cores_max", Title: "CPU of the tool, cores, highest interval", Kind: Number, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Process.CPUCoresMax }),
		},
		{
			Name: "cpu_per_record", Title: "CPU of the tool, each record", Kind: Nanoseconds, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Process.CPUPerRecord }),
		},
		{
			Name: "broker_cpu_per_record", Title: "CPU of the brokers, each record", Kind: Nanoseconds, Better: Lower,
			value: brokerCPUPerRecord,
		},
		{
			Name: "host_cpu_busy_ratio", Title: "CPU of the host, busy", Kind: Ratio, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Process.HostCPUBusy }),
		},
		{
			Name: "host_cpu_stolen_ratio", Title: "CPU of the host, stolen", Kind: Ratio, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Process.HostCPUStolen }),
		},
		{
			Name: "rss_peak", Title: "memory of the tool, peak", Kind: Bytes, Better: Lower,
			value: pointed(func(r *result.Run) *int64 { return r.Process.RSSPeakBytes }),
		},
		{
			Name: "alloc_per_record", Title: "allocated, each record", Kind: Bytes, Better: Lower,
			fields: []string{"process.alloc_bytes", "load.acked"},
			value: when(produced,
				func(r *result.Run) float64 { return float64(r.Process.AllocBytes) / float64(r.Load.Acked) }),
		},
		ofProcess("gc_cycles", "GC cycles", Count, "process.gc_cycles",
			func(p result.Process) int64 { return p.GCCycles }),
		ofProcess("gc_pause_p99", "GC pause p99", Nanoseconds, "process.gc_pause.p99_ns",
			func(p result.Process) int64 { return p.GCPauseNs.P99Ns }),
		ofProcess("gc_pause_max", "GC pause max", Nanoseconds, "process.gc_pause.max_ns",
			func(p result.Process) int64 { return p.GCPauseNs.MaxNs }),
		{
			Name: "gc_pause_total", Title: "GC pauses, total", Kind: Nanoseconds, Better: Lower,
			value: pointed(func(r *result.Run) *int64 { return r.Process.GCPauseTotalNs }),
		},
		ofProcess("scheduling_delay_p99", "scheduling delay p99", Nanoseconds, "process.scheduling_delay.p99_ns",
			func(p result.Process) int64 { return p.SchedDelayNs.P99Ns }),
		ofProcess("scheduling_delay_max", "scheduling delay max", Nanoseconds, "process.scheduling_delay.max_ns",
			func(p result.Process) int64 { return p.SchedDelayNs.MaxNs }),
		brokerCPU,
		ofBrokers("broker_rss_peak", "memory of the brokers, peak", Bytes,
			func(b result.Broker) *int64 { return b.RSSPeakBytes }),
		ofBrokers("broker_disk_written", "written to disk by the brokers", Bytes,
			func(b result.Broker) *int64 { return b.DiskWritten }),
		{
			Name: "disk_yardstick_ratio", Title: "disk writes ÷ yardstick", Kind: Ratio, Better: Lower,
			value: pointed(diskYardstickRatio),
		},
	}
}

var brokerCPU = ofBrokers("broker_cpu_cores", "CPU of the brokers, cores", Number,
	func(b result.Broker) *float64 { return b.CPUCores })

// diskYardstickRatio is the highest YardstickRatio of the disks with brokers' logs; nil if one of
// these disks was not calibrated.
func diskYardstickRatio(r *result.Run) (most *float64) {
	if r.HostUse == nil {
		return nil
	}
	for _, d := range r.HostUse.Disks {
		switch {
		case !d.HoldsLogs:
		case d.YardstickRatio == nil:
			return nil
		case most == nil || *d.YardstickRatio > *most:
			most = d.YardstickRatio
		}
	}
	return most
}

func ofProcess(name, title string, kind Kind, field string, v func(result.Process) int64) Figure {
	return Figure{
		Name: name, Title: title, Kind: kind, Better: Lower, fields: []string{field},
		value: func(r *result.Run) (float64, string) { return float64(v(r.Process)), "" },
	}
}

// All brokers must have the figure.
func ofBrokers[T int64 | float64](name, title string, kind Kind, v func(result.Broker) *T) Figure {
	return Figure{
		Name: name, Title: title, Kind: kind, Better: Lower,
		value: func(r *result.Run) (sum float64, missing string) {
			for _, b := range r.Broker {
				p := v(b)
				if p == nil {
					return 0, notMeasured
				}
				sum += float64(*p)
			}
			if len(r.Broker) == 0 {
				return 0, notMeasured
			}
			return sum, ""
		},
	}
}

// brokerCPUPerRecord is per acked record, or per delivered record in a run that only reads.
func brokerCPUPerRecord(r *result.Run) (float64, string) {
	perS := r.Load.AckedPerS
	if reads(r) {
		perS = r.Delivery.DeliveredPerS
	}
	cores, missing := brokerCPU.value(r)
	if missing == "" && perS <= 0 {
		missing = notMeasured
	}
	if missing != "" {
		return 0, missing
	}
	return cores * 1e9 / perS, ""
}

// Above 1 the overhead is larger than the effect of compression.
func wireRatio(r *result.Run) (float64, string) {
	if r.Load.WireBytes == nil || r.Load.Bytes == 0 {
		return 0, notMeasured
	}
	return float64(*r.Load.WireBytes) / float64(r.Load.Bytes), ""
}

func compressionRatio(r *result.Run) (float64, string) {
	for _, c := range r.Compression {
		if c.UsedByThisRun {
			return c.Ratio, ""
		}
	}
	return 0, notMeasured
}
