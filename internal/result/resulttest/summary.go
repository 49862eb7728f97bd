package resulttest

import (
	"fmt"
	"path"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

func (s *simulation) recorded() *result.Recorded {
	s.settle()
	p := s.plan
	stamp := StartedAt.Format("20060102T150405Z")
	return &result.Recorded{
		Dir: path.Join("runs", stamp+"-"+p.Name+"-"+p.ID),
		Run: result.Run{
			SchemaVersion: result.SchemaVersion,
			Run:           s.info(),
			Scenario:      s.scenario(),
			Verdict:       result.Verdict{Status: result.Valid, Reasons: []string{}, Warnings: []string{}},
			Load:          s.load,
			Delivery:      s.got,
			Time:          s.total.full(s.open),
			Lag:           s.lagSummary(),
			Consumer:      s.consumer(),
			Warmup:        result.Warmup{Load: s.warm, Delivery: s.warmup()},
			Backpressure:  s.backpressure(),
			Compression:   compression(),
			Process:       s.process(),
			Broker:        s.broker(),
			Producers:     s.producers(),
			Consumers:     s.consumers(),
			WindowEnd:     s.windowEnd(),
		},
		Intervals: s.intervals,
		Events:    s.events,
		Files:     result.RunFiles()[:6], // without agents
	}
}

// open returns how many records have no value yet, and the least value that each can have.
func (s *simulation) open(metric string, ended int64) (records, floor int64) {
	all := s.load.Scheduled - s.load.Shed
	if metric == "poll_time" || metric == "pacer_lateness" || ended >= all {
		return 0, 0
	}
	if !strings.HasSuffix(metric, "_service_time") {
		floor = s.drainEnd - int64(s.plan.Measure)
	}
	return all - ended, floor
}

func (s *simulation) settle() {
	window := s.plan.Measure.Seconds()
	for _, r := range s.deferred {
		s.book(r).Deferred++
	}
	s.load.OfferedPerS = float64(s.load.Scheduled) / window
	if warmup := s.plan.Warmup.Seconds(); warmup > 0 {
		s.warm.OfferedPerS, s.warm.AckedPerS = float64(s.warm.Scheduled)/warmup, float64(s.warm.Acked)/warmup
	}
	s.load.AckedPerS, s.load.AckedInWindow = float64(s.inWindow.acked)/window, &s.inWindow.acked
	wire := int64(float64(s.load.Bytes) * 0.46)
	s.load.WireBytes = &wire
	if s.load.Shed > 0 {
		s.load.ShedByReason = result.Counts{"gate": s.load.Shed, "queue_full": 0}
	}
	s.got.Checked, s.early.Checked = true, true
	s.got.Pending = s.load.Acked - s.got.Unique
	s.early.Pending = s.warm.Acked - s.early.Unique
	s.got.DeliveredPerS, s.got.UniqueInPhase = float64(s.inWindow.delivered)/window, &s.inWindow.delivered
	if acked := s.inWindow.acked; acked > 0 {
		ratio := float64(s.inWindow.delivered) / float64(acked)
		s.got.DeliveredToAcked = &ratio
	}
	s.got.Ratio = float64(s.got.Unique) / float64(s.load.Scheduled)
}

func (s *simulation) warmup() result.WarmupDelivery {
	d := result.WarmupDelivery{Delivery: s.early}
	d.UniqueInPhase = &s.deliveredBefore
	if warmup := s.plan.Warmup.Seconds(); warmup > 0 {
		perS := float64(s.deliveredBefore) / warmup
		d.DeliveredPerS = &perS
	}
	return d
}

func (s *simulation) info() result.Info {
	p := s.plan
	return result.Info{
		ID: p.ID, Name: p.Name, StartedAt: StartedAt, FinishedAt: StartedAt.Add(time.Duration(s.drainEnd)),
		Tool:          result.Tool{Version: "0.1.0", Revision: "3f1c9e2", GoVersion: "go1.26.8"},
		MethodVersion: result.Method,
		Host:          result.Host{OS: "linux", Arch: "amd64", Kernel: "6.12.8", CPUModel: "AMD EPYC 9R14", CPUs: 2, MemoryBytes: 8_254_390_272},
		Cluster: result.Cluster{
			Kind: "kafka", ID: "4L6g3nShT-eMCtK--X86sw", Version: "4.3.1", Brokers: 1,
			Settings: map[string]string{"heap": "1GiB", "num.io.threads": "8"},
		},
		Driver: result.Driver{
			Name: "franz-go", Version: "v1.22.2",
			Producer: []result.Setting{{Name: "RequiredAcks", Value: "leader"}, {Name: "ProducerLinger", Value: "5ms"}},
			Consumer: []result.Setting{{Name: "FetchMaxWait", Value: "500ms"}},
		},
		Topic: "kafka-bench-" + p.Name + "-" + p.ID, Group: "kafka-bench-" + p.Name + "-" + p.ID,
		Phases: []result.Phase{
			{Name: "warm-up", StartNs: -int64(p.Warmup), EndNs: 0},
			{Name: "measure", StartNs: 0, EndNs: int64(p.Measure)},
			{Name: "drain", StartNs: int64(p.Measure), EndNs: s.drainEnd},
		},
	}
}

func (s *simulation) scenario() result.Settings {
	p := s.plan
	return Settings(map[string]any{
		"name":  p.Name,
		"topic": map[string]any{"partitions": p.Partitions, "replication": 1},
		"load": map[string]any{
			"rate": fmt.Sprintf("%dk/s", p.RatePerS/1000), "producers": 8, "acks": "1", "compression": "snappy",
			"record": map[string]any{"size": "512B", "payload": "json", "seed": 42},
		},
		"consume": map[string]any{
			"consumers": p.Members,
			"work":      map[string]any{"time": p.Work.String(), "jitter": p.Jitter.String(), "distribution": "uniform"},
		},
		"phases": map[string]any{"warmup": p.Warmup.String(), "measure": p.Measure.String(), "drain": p.Drain.String()},
	})
}

func (s *simulation) lagSummary() result.Lag {
	drain := s.drainEnd - int64(s.plan.Measure)
	l := result.Lag{Drained: s.backlog() == 0, DrainTimeS: float64(drain) / float64(second), FinalRecords: s.lag}
	var peak, drained int64
	for _, i := range s.intervals {
		if i.Phase == "warm-up" {
			continue
		}
		if i.LagRecords != nil {
			peak = max(peak, *i.LagRecords)
		}
		l.BacklogPeakRecords = max(l.BacklogPeakRecords, i.BacklogRecords)
		l.TimeLagPeakNs = max(l.TimeLagPeakNs, i.TimeLagNs)
		if i.Phase == "drain" {
			drained += i.Delivered
		}
	}
	l.PeakRecords = &peak
	l.DrainPerS = float64(drained) / l.DrainTimeS
	return l
}

func (s *simulation) consumer() result.Consumer {
	p := s.plan
	c := result.Consumer{
		Members: p.Members, Workers: p.Partitions,
		Polls: int64(len(s.total["poll_time"])), EmptyPolls: 37, Commits: 46,
	}
	ready, first := 3_120*tick, 6*tick
	c.ReadyNs, c.FirstRecordNs = &ready, &first
	if p.Work > 0 {
		// This also counts work that ends after the window.
		used := min(1, float64(s.workedNs)/(float64(p.Measure)*float64(p.Partitions)))
		capacity := float64(p.Partitions) / (p.Work + p.Jitter/2).Seconds()
		c.Utilisation, c.CapacityPerS = &used, &capacity
	}
	return c
}

func (s *simulation) producers() (all []result.Share) {
	first, last := int64(0), int64(s.plan.Measure)
	for n := range 8 {
		all = append(all, result.Share{
			Number: n, Records: s.load.Acked / 8, Bytes: s.load.Bytes / 8, FirstNs: &first, LastNs: &last,
		})
	}
	return all
}

func (s *simulation) consumers() (all []result.Share) {
	first, last := 2*tick, s.drainEnd
	for m := range s.plan.Members {
		share := result.Share{Number: m, FirstNs: &first, LastNs: &last}
		for p := m; p < len(s.partitions); p += s.plan.Members {
			for _, r := range s.partitions[p].log[:s.partitions[p].delivered] {
				if r.measured {
					share.Records, share.Bytes = share.Records+1, share.Bytes+512
				}
			}
		}
		all = append(all, share)
	}
	return all
}

// windowEnd has the offsets of the drain's end, as if nothing were delivered or committed in the
// drain.
func (s *simulation) windowEnd() *result.WindowEnd {
	leader := int32(1)
	g := result.GroupAtEnd{Name: s.info().Group, State: "Stable"}
	for m := range s.plan.Members {
		g.Members = append(g.Members, result.Member{
			ID:       fmt.Sprintf("kafka-bench-%s-consumer-%d-5a4b", s.plan.ID, m),
			ClientID: fmt.Sprintf("kafka-bench-%s-consumer-%d", s.plan.ID, m), Host: "/127.0.0.1",
		})
	}
	w := &result.WindowEnd{ReadNs: int64(s.plan.Measure) + tick/2}
	for p, of := range s.partitions {
		w.Partitions = append(w.Partitions, result.TopicPartition{
			Partition: int32(p), Leader: &leader, Replicas: []int32{1}, InSync: []int32{1},
		})
		committed, end := int64(of.committed), int64(len(of.log))
		lag := end - committed
		m := &g.Members[p%s.plan.Members]
		m.Partitions = append(m.Partitions, result.MemberPartition{
			Partition: int32(p), Committed: &committed, End: &end, Lag: &lag,
		})
	}
	w.Groups = []result.GroupAtEnd{g}
	return w
}

func (s *simulation) backpressure() *result.Backpressure {
	p := s.plan
	if p.MaxLag == 0 {
		return nil
	}
	return &result.Backpressure{
		Controller: "hysteresis", Excess: p.Excess, MaxLag: p.MaxLag, ResumeLag: p.ResumeLag, PollNs: gatePoll,
		Decisions: s.decisions, ClosedS: float64(s.closedNs) / float64(second),
		DeferredPeakRecords: s.deferPeak, SignalAgeMaxNs: 104_200_000,
	}
}

func compression() []result.Compression {
	row := func(codec string, level int, ratio, compress, decompress float64) result.Compression {
		const batches, bytes = 64, 58_113
		return result.Compression{
			Codec: codec, Level: level, Batches: batches, BatchBytes: bytes, Ratio: ratio,
			CompressMBPerS: compress, DecompressMBPerS: decompress, UsedByThisRun: codec == "snappy",
			UncompressedBytes: batches * bytes, CompressedBytes: int64(batches * bytes / ratio),
		}
	}
	return []result.Compression{
		row("none", 0, 1, 0, 0), row("gzip", 6, 4.13, 64.2, 391), row("snappy", 0, 2.27, 612, 1208),
		row("lz4", 0, 2.31, 701, 2316), row("zstd", 3, 4.02, 318, 894),
	}
}

func (s *simulation) process() result.Process {
	user, system := 0.19*s.plan.Measure.Seconds(), 0.05*s.plan.Measure.Seconds()
	cores := (user + system) / s.plan.Measure.Seconds()
	perRecord := (user + system) * 1e9 / float64(s.load.Acked)
	busy, stolen, rss, most, paused := 0.372, 0.0014, int64(61_865_984), 1.25*cores, int64(612_000)
	return result.Process{
		CPUUserS: &user, CPUSystemS: &system, CPUCores: &cores, CPUPerRecord: &perRecord,
		HostCPUBusy: &busy, HostCPUStolen: &stolen, RSSPeakBytes: &rss,
		CPUCoresMax: &most, GCPauseTotalNs: &paused,
		GCCycles: 11, GCPauseNs: result.Quantile{Count: 22, P50Ns: 20_480, P99Ns: 98_304, MaxNs: 114_688}, GCCPUS: 0.081,
		SchedDelayNs: result.Quantile{Count: 812_113, P50Ns: 1_280, P99Ns: 409_600, MaxNs: 9_437_184},
		AllocBytes:   412_877_312, AllocObjects: 2_118_442, CorpusBytes: 8_388_608, CorpusTimeNs: 61_204_118,
	}
}

func (s *simulation) broker() []result.Broker {
	user, system := 0.21*s.plan.Measure.Seconds(), 0.07*s.plan.Measure.Seconds()
	cores := (user + system) / s.plan.Measure.Seconds()
	rss, read, written, size := int64(641_728_512), int64(0), s.load.Bytes/2, s.load.Bytes*44/100
	return []result.Broker{{
		ID: 1, CPUUserS: &user, CPUSystemS: &system, CPUCores: &cores, RSSPeakBytes: &rss,
		DiskRead: &read, DiskWritten: &written, LogSizeBytes: &size, HeapMaxBytes: 1 << 30,
	}}
}
