package foreign

import (
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Of the process figures the CPU is not read, because it includes idle time, and of the memory only
// the heap: the rest is reserved, not resident.
type sspFile struct {
	Config      sspConfig     `json:"config"`
	Final       sspFinal      `json:"final"`
	Timeline    []sspPoint    `json:"timeline"`
	LagTimeline []sspLag      `json:"lag_timeline"`
	LagSummary  sspLagSummary `json:"lag_summary"`
	Process     []sspProcess  `json:"sysperf_timeline"`
	Compression sspCodecs     `json:"compression_offline"`
	GateEvents  int64         `json:"bp_events"`
	GateClosedS float64       `json:"bp_paused_s"`
}

type sspConfig struct {
	Acks           int     `json:"acks"`
	BatchBytes     int64   `json:"batch_bytes"`
	MaxLag         int64   `json:"bp_max_lag"`
	ResumeLag      int64   `json:"bp_resume_lag"`
	GatePoll       goTime  `json:"bp_poll"`
	BurstRate      float64 `json:"burst_rate"`
	BurstLength    goTime  `json:"burst_duration"`
	BurstPeriod    goTime  `json:"burst_period"`
	Compression    string  `json:"compression"`
	ConsumerDelay  goTime  `json:"consumer_delay"`
	ConsumerJitter goTime  `json:"consumer_jitter"`
	Consumers      int     `json:"consumers"`
	DurationS      float64 `json:"duration_s"`
	Group          string  `json:"group"`
	LingerMs       float64 `json:"linger_ms"`
	RecordBytes    int64   `json:"message_size"`
	Partitions     int     `json:"partitions"`
	Payload        string  `json:"payload_mode"`
	PhaseDelay     goTime  `json:"phase_delay"`
	PhaseAt        goTime  `json:"phase_duration"`
	Producers      int     `json:"producers"`
	Rate           float64 `json:"target_rate"`
	Topic          string  `json:"topic"`
	WarmupS        float64 `json:"warmup_s"`
}

type sspFinal struct {
	ElapsedS  float64  `json:"elapsed_s"`
	Sent      int64    `json:"messages_sent"`
	Received  int64    `json:"messages_received"`
	Errors    int64    `json:"errors"`
	BytesSent int64    `json:"bytes_sent"`
	SentPerS  float64  `json:"avg_rate_msg_per_sec"`
	RecvPerS  float64  `json:"avg_recv_rate_msg_per_sec"`
	Ack       sspTimes `json:"ack_latency_ms"`
	E2E       sspTimes `json:"e2e_latency_ms"`
}

type sspTimes struct {
	Min, Max, Mean, StdDev                     float64
	P50, P75, P90, P95, P99, P995, P999, P9999 float64
	MAD                                        *float64
	Count                                      int64
	CDFBuckets                                 []int64 // not cumulative
}

type sspPoint struct {
	ElapsedS float64 `json:"elapsed_s"`
	SentPerS float64 `json:"inst_rate"`
	RecvPerS float64 `json:"recv_rate"`
	AckP50   float64 `json:"ack_p50_ms"`
	AckP99   float64 `json:"ack_p99_ms"`
	E2EP50   float64 `json:"e2e_p50_ms"`
	E2EP99   float64 `json:"e2e_p99_ms"`
	Errors   int64   `json:"errors"`
}

type sspLag struct {
	ElapsedS   float64          `json:"elapsed_s"`
	Total      int64            `json:"total_lag"`
	Partitions map[string]int64 `json:"per_partition_lag"`
}

type sspLagSummary struct {
	Peak  int64 `json:"max_total_lag"`
	Final int64 `json:"final_total_lag"`
}

type sspProcess struct {
	ElapsedS   float64  `json:"elapsed_s"`
	GCCycles   int64    `json:"num_gc"`
	GCPauseMs  *float64 `json:"gc_pause_total_ms"` // since the tool began
	HeapMB     *float64 `json:"heap_alloc_mb"`     // of 2^20 bytes
	Goroutines *int64   `json:"goroutines"`
}

type sspCodecs struct {
	RawBytes int64               `json:"raw_bytes"`
	Codecs   map[string]sspCodec `json:"codecs"`
}

type sspCodec struct {
	Bytes        int64   `json:"compressed_bytes"`
	Ratio        float64 `json:"ratio"`
	EncodeMicros float64 `json:"encode_micros"`
}

type goTime time.Duration

func (t *goTime) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*t = goTime(d)
	return err
}

// Both latencies begin when a record is passed to the client, after any wait for the gate, so they
// are service times. The timeline begins after the warm-up, but the lag and process samples before
// it.
func readSSP(d *draft, content []byte) error {
	var f sspFile
	doc, err := openDocument(d, content, &f)
	if err != nil {
		return err
	}
	doc.need("config.duration_s", "config.warmup_s", "config.target_rate", "config.partitions",
		"final.elapsed_s", "final.messages_sent", "final.messages_received", "final.avg_rate_msg_per_sec",
		"final.ack_latency_ms.Count", "final.ack_latency_ms.P50", "final.e2e_latency_ms.Count")
	f.check(doc)
	if err := doc.err(); err != nil {
		return err
	}
	d.lengthS = f.Final.ElapsedS
	f.describe(d)
	f.books(d)
	f.times(d)
	f.phases(d)
	f.series(d)
	f.lag(d)
	f.process(d)
	f.gate(d)
	f.codecs(d)
	f.caveats(d)
	return nil
}

func (f *sspFile) check(doc *document) {
	doc.notNegative(map[string]float64{
		"config.duration_s": f.Config.DurationS, "config.warmup_s": f.Config.WarmupS,
		"config.target_rate": f.Config.Rate,
		"config.burst_rate":  f.Config.BurstRate, "config.linger_ms": f.Config.LingerMs,
		"config.message_size": float64(f.Config.RecordBytes), "config.batch_bytes": float64(f.Config.BatchBytes),
		"config.partitions": float64(f.Config.Partitions), "config.producers": float64(f.Config.Producers),
		"final.elapsed_s": f.Final.ElapsedS, "final.messages_sent": float64(f.Final.Sent),
		"final.messages_received": float64(f.Final.Received), "final.errors": float64(f.Final.Errors),
		"final.bytes_sent": float64(f.Final.BytesSent), "bp_paused_s": f.GateClosedS,
		"final.avg_rate_msg_per_sec": f.Final.SentPerS, "final.avg_recv_rate_msg_per_sec": f.Final.RecvPerS,
	})
	last := 0.0
	for i, p := range f.Timeline {
		at := fmt.Sprintf("timeline[%d].", i)
		if p.ElapsedS <= last {
			doc.wrong(at+"elapsed_s", "%v does not come after %v", p.ElapsedS, last)
		}
		doc.notNegative(map[string]float64{at + "inst_rate": p.SentPerS, at + "recv_rate": p.RecvPerS})
		last = p.ElapsedS
	}
	last = -1
	for i, s := range f.LagTimeline {
		at := fmt.Sprintf("lag_timeline[%d].", i)
		if s.ElapsedS <= last {
			doc.wrong(at+"elapsed_s", "%v does not come after %v", s.ElapsedS, last)
		}
		if _, ok := s.byPartition(); !ok {
			doc.wrong(at+"per_partition_lag", "the partitions are not numbered from 0 to %d", len(s.Partitions)-1)
		}
		last = s.ElapsedS
	}
}

func (f *sspFile) books(d *draft) {
	sent := f.Final.Sent
	d.Run.Load = result.Load{
		Scheduled: sent + f.Final.Errors, Admitted: sent + f.Final.Errors, Acked: sent, Failed: f.Final.Errors,
		OfferedPerS: f.Final.SentPerS, AckedPerS: f.Final.SentPerS, Bytes: f.Final.BytesSent,
	}
	d.tells("load.closed_loop", "load.admitted", "load.acked", "load.failed", "load.acked_per_s", "load.bytes")
	d.Run.Delivery = result.Delivery{Delivered: f.Final.Received, DeliveredPerS: f.Final.RecvPerS}
	d.tells("delivery.checked", "delivery.delivered", "delivery.delivered_per_s")
	// The tool ignores config.consumers, and has a goroutine for each partition.
	d.Run.Consumer = result.Consumer{Members: 1, Workers: f.Config.Partitions}
	d.tells("consumer.members", "consumer.workers")
}

func (f *sspFile) times(d *draft) {
	for name, t := range map[string]sspTimes{"send_service_time": f.Final.Ack, "e2e_service_time": f.Final.E2E} {
		if t.Count == 0 {
			continue
		}
		d.metric(name, result.Time{
			MADNs: scaled(t.MAD, 1e6), CDF: t.cdf(d, name),
			Count: t.Count, MinNs: nanos(t.Min, 1e6), MeanNs: t.Mean * 1e6, StddevNs: t.StdDev * 1e6,
			P50Ns: nanos(t.P50, 1e6), P75Ns: nanos(t.P75, 1e6), P90Ns: nanos(t.P90, 1e6), P95Ns: nanos(t.P95, 1e6),
			P99Ns: nanos(t.P99, 1e6), P995Ns: nanos(t.P995, 1e6), P999Ns: nanos(t.P999, 1e6),
			P9999Ns: nanos(t.P9999, 1e6),
			MaxNs:   nanos(t.Max, 1e6),
		}, "count", "min_ns", "mean_ns", "stddev_ns", "p50_ns", "p75_ns", "p90_ns", "p95_ns", "p99_ns", "p99_5_ns", "p99_9_ns", "p99_99_ns", "max_ns")
	}
}

// The tool has no drain.
func (f *sspFile) phases(d *draft) {
	if f.Config.WarmupS > 0 {
		d.phase("warm-up", -nanos(f.Config.WarmupS, 1e9), 0)
	}
	d.phase("measure", 0, nanos(f.Final.ElapsedS, 1e9))
	if at := time.Duration(f.Config.PhaseAt); at > 0 {
		d.Events = append(d.Events, result.Event{
			AtNs: int64(at), Kind: "consumer", What: "the work changes",
			Reason: fmt.Sprintf("from %v to %v a record, as configured", time.Duration(f.Config.ConsumerDelay),
				time.Duration(f.Config.PhaseDelay)),
		})
	}
}

func (f *sspFile) gate(d *draft) {
	if f.Config.MaxLag == 0 {
		return
	}
	d.Run.Backpressure = &result.Backpressure{
		Controller: "hysteresis", MaxLag: f.Config.MaxLag, ResumeLag: f.Config.ResumeLag,
		PollNs: int64(f.Config.GatePoll), Decisions: f.GateEvents, ClosedS: f.GateClosedS,
	}
	for _, field := range []string{"max_lag_records", "resume_lag_records", "poll_ns", "decisions", "closed_s"} {
		d.tells("backpressure." + field)
	}
}

func (f *sspFile) codecs(d *draft) {
	raw := f.Compression.RawBytes
	for _, name := range sortedKeys(f.Compression.Codecs) {
		c := f.Compression.Codecs[name]
		if name == "none" {
			continue
		}
		row := result.Compression{
			Codec: name, Batches: 1, BatchBytes: raw, Ratio: c.Ratio, UsedByThisRun: name == f.Config.Compression,
			UncompressedBytes: raw, CompressedBytes: c.Bytes,
		}
		if c.EncodeMicros > 0 {
			row.CompressMBPerS = float64(raw) / c.EncodeMicros
		}
		d.Run.Compression = append(d.Run.Compression, row)
	}
	for _, field := range []string{"batches", "batch_bytes", "ratio", "compress_mb_per_s", "used_by_this_run",
		"uncompressed_bytes", "compressed_bytes"} {
		d.tells("compression." + field)
	}
}
