package figure

import "kafkabench.example/kafka-bench/internal/result"

func throughput() []Figure {
	return []Figure{
		{
			Name: "throughput_per_s", Title: "throughput", Kind: PerSecond, Better: Higher,
			value: func(r *result.Run) (float64, string) {
				if reads(r) {
					return r.Delivery.DeliveredPerS, consumed(r)
				}
				return r.Load.AckedPerS, produced(r)
			},
		},
		{
			Name: "throughput_bytes_per_s", Title: "throughput in bytes", Kind: BytesPerSecond, Better: Higher,
			value: func(r *result.Run) (float64, string) {
				if reads(r) {
					return deliveredBytes(r)
				}
				if r.Load.Acked == 0 {
					return 0, "nothing was produced"
				}
				return r.Load.AckedPerS * float64(r.Load.Bytes) / float64(r.Load.Acked), ""
			},
		},
		{
			Name: "cpu_per_delivered", Title: "CPU of the tool, each delivered", Kind: Nanoseconds, Better: Lower,
			fields: []string{"delivery.delivered_per_s"}, value: cpuPerDelivered,
		},
		{
			Name: "fill_acked_per_s", Title: "filled", Kind: PerSecond, Better: Higher,
			value: ofPart(func(r *result.Run) *result.Fill { return r.Fill },
				func(f result.Fill) *float64 { return &f.AckedPerS }),
		},
		ofStorage("disk_bytes", "on disk, all replicas", Bytes, Lower,
			func(s result.Storage) *float64 { n := float64(s.DiskBytes); return &n }),
		ofStorage("disk_bytes_per_record", "on disk, each record", Bytes, Lower,
			func(s result.Storage) *float64 { return s.DiskBytesPerRecord }),
		ofStorage("wire_bytes_per_record", "on the wire, each record", Bytes, Lower,
			func(s result.Storage) *float64 { return s.WireBytesPerRecord }),
		ofStorage("disk_compression_ratio", "keys and values ÷ on disk", Number, Higher,
			func(s result.Storage) *float64 { return s.DiskRatio }),
		ofConfined("consumer_cpu_cores", "CPU of the busiest consumer process, cores", Number,
			func(c result.Confined) *float64 { return c.CPUCoresUsed }),
		ofConfined("consumer_throttled_time", "consumer processes held back", Nanoseconds,
			func(c result.Confined) *float64 { return seconds(c.ThrottledS) }),
		ofConfined("consumer_scheduling_delay_p99", "consumer processes' scheduling delay p99", Nanoseconds,
			func(c result.Confined) *float64 {
				if c.SchedDelayNs == nil {
					return nil
				}
				ns := float64(c.SchedDelayNs.P99Ns)
				return &ns
			}),
		{Name: "broker_handler_idle_ratio", Title: "request handlers idle, the busiest broker", Kind: Ratio,
			Better: Higher, value: leastIdle},
	}
}

func reads(r *result.Run) bool { return r.Load.Scheduled == 0 && r.Consumer.Members > 0 }

func cpuPerDelivered(r *result.Run) (float64, string) {
	if r.Process.CPUCores == nil || r.Delivery.DeliveredPerS <= 0 {
		return 0, notMeasured
	}
	return *r.Process.CPUCores * 1e9 / r.Delivery.DeliveredPerS, consumed(r)
}

func ofPart[Part any](part func(*result.Run) *Part, v func(Part) *float64) func(*result.Run) (float64, string) {
	return pointed(func(r *result.Run) *float64 {
		p := part(r)
		if p == nil {
			return nil
		}
		return v(*p)
	})
}

func ofStorage(name, title string, kind Kind, better Better, v func(result.Storage) *float64) Figure {
	return Figure{Name: name, Title: title, Kind: kind, Better: better,
		value: ofPart(func(r *result.Run) *result.Storage { return r.Storage }, v)}
}

func ofConfined(name, title string, kind Kind, v func(result.Confined) *float64) Figure {
	return Figure{Name: name, Title: title, Kind: kind, Better: Lower,
		value: ofPart(func(r *result.Run) *result.Confined { return r.Consumer.Confined }, v)}
}

func seconds(s *float64) *float64 {
	if s == nil {
		return nil
	}
	ns := *s * 1e9
	return &ns
}

func leastIdle(r *result.Run) (float64, string) {
	least, some := 0.0, false
	for _, b := range r.Broker {
		if b.Metrics == nil || b.Metrics.HandlerIdleRatio == nil {
			continue
		}
		if idle := *b.Metrics.HandlerIdleRatio; !some || idle < least {
			least, some = idle, true
		}
	}
	if !some {
		return 0, notMeasured
	}
	return least, ""
}
