package report

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printBottleneck(p *layout.Page, r *result.Run) {
	if r.Bottleneck == nil {
		return
	}
	p.Line()
	p.Section("Bottleneck")
	p.Record(layout.Block{Style: layout.Bold, Text: limitedBy(*r.Bottleneck)})
	const lead = "Bottleneck: "
	for i, line := range layout.WrapWords(limitedBy(*r.Bottleneck), p.Width-len(lead)) {
		if i == 0 {
			p.Line(p.Paint(layout.Bold, lead), line)
			continue
		}
		p.Line(layout.Pad("", 2), line)
	}
	printRemarks(p, besideBottleneck(*r.Bottleneck))
}

func limitedBy(b result.Bottleneck) string { return b.Resource + ", " + b.Evidence }

// usedShown is the maximum number of other resources in the text, each used to at least 1 %.
const usedShown = 5

func besideBottleneck(b result.Bottleneck) (all []remark) {
	if b.Remedy != "" {
		all = append(all, remark{layout.Plain, "remedy", b.Remedy})
	}
	var others []string
	for _, r := range b.Resources {
		if r.Name != b.Resource && r.Saturation >= 0.01 && len(others) < usedShown {
			others = append(others, fmt.Sprintf("%s %.0f %%", r.Name, 100*r.Saturation))
		}
	}
	if len(others) > 0 {
		all = append(all, remark{layout.Plain, "also used", layout.List(others...)})
	}
	return all
}

func markdownBottleneck(m *layout.Markdown, r *result.Run) {
	if b := r.Bottleneck; b != nil {
		markdownRemarks(m, "Bottleneck: "+layout.Prose(limitedBy(*b)), besideBottleneck(*b))
	}
}

func requests(c *result.Clients) string {
	if c == nil {
		return ""
	}
	return layout.List(requestsOf("produce", c.Produce), requestsOf("fetch", c.Fetch))
}

func requestsOf(kind string, c *result.ClientRequests) string {
	if c == nil || c.MeanMs == nil {
		return ""
	}
	text := fmt.Sprintf("%s %s of %s, %s in flight on %s", kind, unit.PerSecond(c.PerS),
		unit.Nanos(int64(*c.MeanMs*1e6)),
		unit.Decimals(c.InFlightMean, 2), unit.Things(int64(c.Connections), "connection"))
	if c.ThrottledS > 0 {
		text += ", throttled for " + unit.Seconds(c.ThrottledS)
	}
	return text
}

func stored(s *result.Storage, clusterKind string) string {
	if s == nil {
		return ""
	}
	place := "on disk"
	if clusterKind == "embedded" {
		place = "in memory"
	}
	text := unit.Bytes(s.DiskBytes) + " " + place + " in " + unit.Things(int64(s.Replicas), "replica")
	var behind, each, ratio, wire string
	if s.BehindBytes > 0 {
		behind = unit.Bytes(s.BehindBytes) + " of it not yet with the followers when the run had ended"
	}
	if s.DiskBytesPerRecord != nil {
		each = unit.Decimals(*s.DiskBytesPerRecord, 1) + " B a record in each"
	}
	if s.DiskRatio != nil {
		ratio = "keys and values " + times(*s.DiskRatio) + " that"
	}
	if s.WireBytesPerRecord != nil {
		wire = unit.Decimals(*s.WireBytesPerRecord, 1) + " B a record on the wire"
	}
	return layout.List(text, behind, each, ratio, wire)
}

func printDevices(p *layout.Page, h *result.HostUse) {
	if h == nil {
		return
	}
	var disks, networks []string
	for _, d := range h.Disks {
		busy := ""
		if d.BusyRatio != nil {
			busy = " " + unit.Percent(*d.BusyRatio) + " busy,"
		}
		if d.QueueMean != nil {
			busy += " " + unit.Decimals(*d.QueueMean, 2) + " at once,"
		}
		share := ""
		if d.YardstickRatio != nil {
			share = " (" + unit.Percent(*d.YardstickRatio) + " of its yardstick)"
		}
		disks = append(disks, fmt.Sprintf("%s%s %s written%s, %s read", d.Name, busy, unit.Bytes(d.WrittenBytes), share,
			unit.Bytes(d.ReadBytes)))
	}
	for _, n := range h.Networks {
		networks = append(networks, fmt.Sprintf("%s %s sent, %s received", n.Name, unit.Bytes(n.SentBytes),
			unit.Bytes(n.ReceivedBytes)))
	}
	if len(disks) > 0 {
		p.Labelled("disks", layout.List(disks...))
	}
	if len(networks) > 0 {
		p.Labelled("networks", layout.List(networks...))
	}
	if h.PageCacheBytes != nil && h.DirtyPeakBytes != nil {
		pressure := ""
		if h.IOPressureRatio != nil {
			pressure = "I/O pressure " + unit.WholePercent(*h.IOPressureRatio)
		}
		p.Labelled("page cache", layout.List(unit.Bytes(*h.PageCacheBytes),
			"at most "+unit.Bytes(*h.DirtyPeakBytes)+" to be written", pressure))
	}
}

var requestTypes = []string{"Produce", "FetchConsumer", "FetchFollower", "OffsetCommit"}

func printBrokerRequests(p *layout.Page, brokers []result.Broker) {
	rows := requestRows(brokers)
	if len(rows) == 0 {
		return
	}
	t := layout.Table{Gap: 2, Rows: [][]string{
		{"", "", "", "request", "in the", "other", "", "response", "being"},
		{"  broker", "a second", "total", "queue", "handler", "brokers", "quota", "queue", "sent"},
	}}
	for _, row := range rows {
		t.Add(append([]string{"  " + row[0]}, row[1:]...)...)
	}
	p.Heading("Requests at the brokers", ", mean times")
	wide := layout.Table{Rows: append([][]string{requestHead}, rows...)}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: wide, Heads: 1})
	for _, part := range t.Within(p.Width) {
		for _, line := range part.Text() {
			p.Line(line)
		}
	}
}

func markdownBrokerRequests(m *layout.Markdown, brokers []result.Broker) {
	rows := requestRows(brokers)
	if len(rows) == 0 {
		return
	}
	m.Table(layout.Table{Rows: append([][]string{requestHead}, rows...)})
}

var requestHead = []string{"Requests, mean times", "a second", "total", "request queue", "in the handler",
	"other brokers", "quota", "response queue", "being sent"}

func requestRows(brokers []result.Broker) (rows [][]string) {
	for _, b := range brokers {
		if b.Metrics == nil {
			continue
		}
		for _, q := range b.Metrics.Requests {
			if slices.Contains(requestTypes, q.Type) {
				rows = append(rows, []string{
					fmt.Sprintf("%d %s", b.ID, q.Type), unit.PerSecond(q.PerS), mean(q.TotalMs), mean(q.QueueMs),
					mean(q.LocalMs),
					mean(q.RemoteMs), mean(q.ThrottleMs), mean(q.ResponseQueueMs), mean(q.ResponseSendMs),
				})
			}
		}
	}
	return rows
}

func mean(ms *float64) string {
	if ms == nil {
		return unit.Absent
	}
	return unit.Decimals(*ms, 2) + " ms"
}

func ownAccount(m *result.BrokerMetrics) string {
	if m == nil {
		return ""
	}
	return layout.List(idleness("handlers", m.HandlerIdleRatio, m.HandlerIdleRatioMin),
		idleness("network threads", m.NetworkIdleRatio, m.NetworkIdleRatioMin),
		collected(m), heap(m), underReplicated(m))
}

func idleness(what string, ratio, least *float64) string {
	if ratio == nil {
		return ""
	}
	text := what + " idle " + unit.Percent(*ratio)
	if least != nil && *least < *ratio {
		text += " (" + unit.Percent(*least) + " at worst)"
	}
	return text
}

func collected(m *result.BrokerMetrics) string {
	if m.GCCount == nil || m.GCTimeMs == nil {
		return ""
	}
	return fmt.Sprintf("%s in %s", unit.Things(*m.GCCount, "GC"), unit.Nanos(int64(*m.GCTimeMs*1e6)))
}

func heap(m *result.BrokerMetrics) string {
	if m.HeapPeakBytes == nil {
		return ""
	}
	return "heap " + unit.Bytes(*m.HeapPeakBytes)
}

func underReplicated(m *result.BrokerMetrics) string {
	if m.UnderReplicatedPeak == nil || *m.UnderReplicatedPeak == 0 {
		return ""
	}
	return unit.Things(*m.UnderReplicatedPeak, "under-replicated partition") + " at most"
}
