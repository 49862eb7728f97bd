package report

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// printProcess omits figures that the operating system does not offer.
func printProcess(p *layout.Page, r *result.Run) {
	u := r.Process
	if !r.Says("process") && len(r.Broker) == 0 {
		return
	}
	p.Heading("Process", " in the measured window")
	var cpu, perRecord, memory string
	if u.CPUCores != nil {
		cpu = cores(*u.CPUCores, u.CPUCoresMax) + waited(u.CPUWaitRatio)
	}
	if u.CPUPerRecord != nil {
		perRecord = unit.Nanos(int64(*u.CPUPerRecord)) + " CPU per acked record"
	}
	if u.RSSPeakBytes != nil {
		memory = "RSS " + unit.Bytes(*u.RSSPeakBytes)
	}
	if used := layout.List(cpu, perRecord, memory, collections(r)); used != "" || r.Run.Imported == nil {
		p.Labelled(toolName(r), used)
	}
	delay := ""
	if r.Says("process.scheduling_delay.p99_ns") {
		delay = "scheduling delay p99 " + unit.Nanos(u.SchedDelayNs.P99Ns) + ", max " + unit.Nanos(u.SchedDelayNs.MaxNs)
	}
	if host := layout.List(hostUse(r), delay); host != "" {
		p.Labelled("host", host)
	}
	for _, b := range r.Broker {
		if used := layout.List(brokerUse(b), ownAccount(b.Metrics)); used != "" {
			p.Labelled(fmt.Sprintf("broker %d", b.ID), used)
		}
	}
	printDevices(p, r.HostUse)
	if text := requests(r.Clients); text != "" {
		p.Labelled("requests", text)
	}
	if text := stored(r.Storage, r.Run.Cluster.Kind); text != "" {
		p.Labelled("topic", text)
	}
}

func cores(mean float64, most *float64) string {
	text := unit.Decimals(mean, 2) + " cores"
	if most != nil {
		text += ", max " + unit.Decimals(*most, 2)
	}
	return text
}

// waited prints the share of the runnable time of a process in which it waited for a core.
func waited(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return " (" + unit.WholePercent(*ratio) + " waiting)"
}

func toolName(r *result.Run) string {
	if r.Run.Imported != nil {
		return "the tool"
	}
	return "kafka-bench"
}

func collections(r *result.Run) string {
	u := r.Process
	switch {
	case !r.Says("process.gc_cycles"):
		return ""
	case u.GCCycles == 0:
		return "no GC"
	case !r.Says("process.gc_pause.p99_ns") && u.GCPauseTotalNs != nil:
		return unit.Things(u.GCCycles, "GC") + ", pauses " + unit.Nanos(*u.GCPauseTotalNs) + " in total"
	case !r.Says("process.gc_pause.p99_ns"):
		return unit.Things(u.GCCycles, "GC")
	}
	text := fmt.Sprintf("%s, pause p99 %s", unit.Things(u.GCCycles, "GC"), unit.Nanos(u.GCPauseNs.P99Ns))
	if u.GCPauseTotalNs != nil {
		text += ", total " + unit.Nanos(*u.GCPauseTotalNs)
	}
	return text
}

func hostUse(r *result.Run) string {
	u := r.Process
	var busy, stolen string
	if u.HostCPUBusy != nil {
		busy = fmt.Sprintf("%s of %s busy", unit.Percent(*u.HostCPUBusy), unit.Things(int64(r.Run.Host.CPUs), "CPU"))
	}
	if u.HostCPUStolen != nil && *u.HostCPUStolen > 0 {
		stolen = unit.Percent(*u.HostCPUStolen) + " stolen"
	}
	return layout.List(busy, stolen)
}

func brokerUse(b result.Broker) string {
	var cpu, memory, disk, log string
	if b.CPUCores != nil {
		cpu = cores(*b.CPUCores, b.CPUCoresMax) + waited(b.CPUWaitRatio)
	}
	if b.RSSPeakBytes != nil {
		memory = "RSS " + unit.Bytes(*b.RSSPeakBytes)
	}
	if b.DiskWritten != nil && b.DiskRead != nil {
		disk = unit.Bytes(*b.DiskWritten) + " written, " + unit.Bytes(*b.DiskRead) + " read"
	}
	if b.LogSizeBytes != nil {
		log = "log " + unit.Bytes(*b.LogSizeBytes)
	}
	return layout.List(cpu, memory, disk, log)
}

func printCompression(p *layout.Page, r *result.Run) {
	codecs := r.Compression
	if len(codecs) == 0 {
		return
	}
	of := fmt.Sprintf(" of %s of this run, %s each", batches(int64(codecs[0].Batches)),
		unit.Bytes(codecs[0].BatchBytes))
	if r.Run.Imported != nil {
		of = " as the other tool tried it" // a warning names the data
	}
	p.Heading("Compression", of+"; > is what the run used")
	names, ratios, compress, decompress := []string{""}, []string{"  ratio"}, []string{"  compress"}, []string{"  decompress"}
	for _, c := range codecs {
		name := c.Codec
		if c.Level != 0 {
			name += fmt.Sprintf("-%d", c.Level)
		}
		if c.UsedByThisRun {
			name = "> " + name
		}
		names = append(names, name)
		ratios = append(ratios, unit.Decimals(c.Ratio, 2))
		compress = append(compress, speed(c.CompressMBPerS))
		decompress = append(decompress, speed(c.DecompressMBPerS))
	}
	t := layout.Table{Rows: [][]string{names, ratios, compress, decompress}, Gap: 4}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: t, Heads: 1})
	for _, line := range t.Text() {
		p.Line(line)
	}
}

func batches(n int64) string {
	if n == 1 {
		return "1 batch"
	}
	return unit.Count(n) + " batches"
}

func speed(mbPerS float64) string {
	if mbPerS == 0 {
		return unit.Absent
	}
	return unit.Bytes(int64(mbPerS*1e6)) + "/s"
}
