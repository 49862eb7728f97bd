package report

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printVerdict(p *layout.Page, r *result.Recorded) {
	info, v := r.Run.Run, r.Run.Verdict
	style := standingStyle(&r.Run)
	status := "MEASUREMENT " + heading(&r.Run)
	when := layout.Moment(analysis.StartedAt(&r.Run), "2006-01-02 15:04:05 UTC") + "  " + method(&r.Run)
	between := "  "
	if layout.Columns(status+"  "+info.Name+"  "+info.ID+between+when) > p.Width {
		between = "\n  "
	}
	p.Line(p.Paint(style, status), "  ", p.Paint(layout.Bold, info.Name), "  ", info.ID, between, when)
	printSystem(p, &r.Run)
	PrintExpected(p, Judge([]*result.Recorded{r}))
	for _, reason := range v.Reasons {
		p.Styled(layout.Red, "because", reason)
	}
	if info.Interrupted {
		p.Labelled("interrupted", endedEarly)
	}
	again := retried(&r.Run)
	if again != "" {
		p.Styled(layout.Yellow, "tries", again)
	}
	for _, warning := range v.Warnings {
		p.Styled(layout.Yellow, "warning", warning)
	}
	for _, note := range r.Notes {
		p.Styled(layout.Yellow, "files", note)
	}
	if len(v.Reasons)+len(v.Warnings)+len(r.Notes) > 0 || info.Interrupted || again != "" {
		p.Line()
	}
}

const endedEarly = "the run was ended early; the figures speak of what there was"

func standingStyle(r *result.Run) string {
	switch {
	case !r.Verdict.Usable():
		return layout.Red
	case !proven(r):
		return layout.Yellow
	}
	return layout.Green
}

func printSystem(p *layout.Page, r *result.Run) {
	s := systemOf(r)
	if s == nil {
		return
	}
	printStatus(p, outcomeStyle(s.Status), "SYSTEM "+strings.ToUpper(s.Status), outcome.Sentence(*s))
}

func printStatus(p *layout.Page, style, status, text string) {
	for i, line := range layout.WrapWords(status+"  "+text, p.Width-2) {
		if i == 0 {
			p.Line(p.Paint(style, status), strings.TrimPrefix(line, status))
			continue
		}
		p.Line("  ", line)
	}
}

func outcomeStyle(status string) string {
	switch status {
	case result.KeptUp:
		return layout.Green
	case result.NotJudged, result.HeldBack:
		return layout.Yellow
	}
	return layout.Red
}

// systemOf is nil if the run did not finish.
func systemOf(r *result.Run) *result.System {
	if !r.Finished() {
		return nil
	}
	s := outcome.In(r)
	return &s
}

func statusOf(r *result.Run) string {
	if s := systemOf(r); s != nil {
		return s.Status
	}
	return unit.Absent
}

func printSubject(p *layout.Page, r *result.Run) {
	for _, line := range append(layout.Wrap(offer(r), p.Width), layout.Wrap(madeWith(r), p.Width)...) {
		p.Line(line)
	}
	if why := r.Run.DiskNotWatched; why != "" {
		for _, line := range layout.Wrap("disk not watched: "+why, p.Width) {
			p.Line(p.Paint(layout.Yellow, line))
		}
	}
	if given := clientOptions(r.Scenario); given != "" {
		p.Labelled("client", given)
	}
	if note := r.Run.Cluster.Note; note != "" && !slices.Contains(r.Verdict.Warnings, note) {
		for _, line := range layout.Wrap(note, p.Width) {
			p.Line(p.Paint(layout.Yellow, line))
		}
	}
}

func clientOptions(scenario result.Settings) string {
	var parts []string
	if batch := scenario.Get("load.batch"); batch == "1 record" {
		parts = append(parts, batch+" a batch")
	}
	if assignor := scenario.Get("consume.assignor"); assignor != "" {
		parts = append(parts, "assignor "+assignor)
	}
	if timeout := scenario.Get("consume.poll_timeout"); timeout != "" {
		parts = append(parts, "a poll ends after "+timeout)
	}
	var given []string
	for path, value := range scenario.All() {
		if strings.HasPrefix(path, "load.client.") || strings.HasPrefix(path, "consume.client.") {
			given = append(given, path+"="+value)
		}
	}
	if len(given) > 0 {
		parts = append(parts, "set by its own names: "+strings.Join(given, ", "))
	}
	return layout.List(parts...)
}

func madeWith(r *result.Run) string {
	tool := layout.List(strings.TrimSpace("kafka-bench "+r.Run.Tool.Version), method(r))
	if i := r.Run.Imported; i != nil {
		tool = "imported from " + i.File + " (" + i.Format + ")"
	}
	host := fmt.Sprintf("%s/%s, %s", r.Run.Host.OS, r.Run.Host.Arch, unit.Things(int64(r.Run.Host.CPUs), "CPU"))
	if r.Run.Host.OS == "" {
		host = ""
	}
	client := strings.TrimSpace(r.Run.Driver.Name + " " + r.Run.Driver.Version)
	return layout.List(cluster(r.Run.Cluster), client, tool, host, result.LabelText(r.Run.Labels))
}

func retried(r *result.Run) string {
	if len(r.Run.RetryOf) == 0 {
		return ""
	}
	return fmt.Sprintf("%s at try %d, after %s: %s", Standing(r), len(r.Run.RetryOf)+1,
		unit.Things(int64(len(r.Run.RetryOf)), "invalid run"), strings.Join(r.Run.RetryOf, ", "))
}

func offer(r *result.Run) string {
	rate := unit.PerSecond(r.Load.OfferedPerS) + " offered"
	switch {
	case reads(r):
		rate = unit.PerSecond(r.Delivery.DeliveredPerS) + " read"
	case !r.Says("load.offered_per_s") && r.Says("load.acked_per_s"):
		rate = unit.PerSecond(r.Load.AckedPerS) + " acked"
	case !r.Says("load.offered_per_s") && r.Says("delivery.delivered_per_s"):
		rate = unit.PerSecond(r.Delivery.DeliveredPerS) + " delivered"
	case !r.Says("load.offered_per_s"):
		rate = "An unknown load"
	case r.Load.ClosedLoop:
		rate = "As much as the clients take (closed loop)"
		if round := r.Scenario.Get("load.round"); round != "" {
			rate = "Rounds of " + round + " records by each producer, each after the acks of the last (closed loop)"
		}
	case !r.Finished():
		rate = r.Scenario.Get("load.rate")
		if rate == "" {
			rate = "Load"
		} else {
			rate += " offered"
		}
	}
	text := rate
	if measured := analysis.Phase(r, "measure"); measured.EndNs > measured.StartNs {
		text += " for " + seconds(measured.EndNs-measured.StartNs)
	}
	if warmup := analysis.Phase(r, "warm-up"); warmup.EndNs > warmup.StartNs {
		text += " after " + seconds(warmup.EndNs-warmup.StartNs) + " of warm-up"
	}
	records := strings.TrimSpace(r.Scenario.Get("load.record.size") + " " + r.Scenario.Get("load.record.payload"))
	if records != "" {
		records += " records"
	}
	if f := r.PayloadFile; f != nil {
		records = fmt.Sprintf("the %s of %s (%s to %s, mean %s, p50 %s, p99 %s)", unit.Things(f.Records, "record"), f.Name,
			unit.Bytes(int64(f.MinBytes)), unit.Bytes(int64(f.MaxBytes)), unit.Bytes(int64(f.MeanBytes+0.5)),
			unit.Bytes(int64(f.P50Bytes)), unit.Bytes(int64(f.P99Bytes)))
	}
	partitions := things(r.Scenario, "topic.partitions", "partition")
	if topic := r.Scenario.Get("topic.existing"); topic != "" { // the scenario does not say what it has
		partitions = "the existing topic " + topic
		if r.Scenario.Get("load.producers") == "0" {
			records = ""
		}
	}
	return layout.List(text, records,
		things(r.Scenario, "load.producers", "producer")+processes(r.Scenario), partitions,
		groups(len(r.Groups))+things(r.Scenario, "consume.consumers", "consumer")+work(r.Scenario))
}

func processes(scenario result.Settings) string {
	if n := scenario.Get("load.processes"); n != "" && n != "1" {
		return " in " + n + " processes"
	}
	return ""
}

func groups(n int) string {
	if n == 0 {
		return ""
	}
	return unit.Things(int64(n), "group") + " of "
}

func work(scenario result.Settings) string {
	field := func(name string) string {
		switch v := scenario.Get("consume.work." + name); v {
		case "0", "0s", "fixed":
			return ""
		default:
			return v
		}
	}
	if field("time") == "" {
		return ""
	}
	text := " with " + field("time") + " of work a record"
	jitter := field("jitter")
	if jitter != "" {
		jitter = " jitter " + jitter
	}
	if how := strings.TrimSpace(field("distribution") + jitter); how != "" && how != "uniform" {
		text += " (" + how + ")"
	}
	return text
}

func cluster(c result.Cluster) string {
	brokers := unit.Things(int64(c.Brokers), "broker")
	switch c.Kind {
	case "":
		return ""
	case "kafka":
		return "Apache Kafka " + c.Version + ", " + brokers
	case "existing":
		return strings.TrimSpace("existing cluster "+c.ID+" "+c.Version) + ", " + brokers
	}
	return strings.TrimSpace(c.Kind+" cluster "+c.Version) + ", " + brokers
}

func things(scenario result.Settings, path, singular string) string {
	switch n := scenario.Get(path); n {
	case "":
		return ""
	case "0":
		return "no " + singular
	case "1":
		return "1 " + singular
	default:
		return n + " " + singular + "s"
	}
}
