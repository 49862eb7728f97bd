package report

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// files says where to look further: in the files that are there.
func (p *page) files(r *result.Recorded) {
	p.heading("Files", " in "+r.Dir)
	var files []string
	for _, name := range r.Files {
		switch i := r.Run.Run.Imported; {
		case name == result.IntervalsFile:
			name = fmt.Sprintf("%s (%s)", name, count(int64(len(r.Intervals)), "line"))
		case name == result.EventsFile:
			name = fmt.Sprintf("%s (%s)", name, count(int64(len(r.Events)), "line"))
		case name == result.HistogramsFile && i != nil && i.Format != "hlog":
			continue // another tool's values are seldom there to be logged
		}
		files = append(files, name)
	}
	for _, line := range wrap(list(files...), p.width-2) {
		p.line("  ", line)
	}
}

// unfinished tells of a run without a summary what its intervals saved. These
// are sums over every phase, warm-up included: no books were closed over them.
func (p *page) unfinished(r *result.Recorded) {
	p.heading("Until it stopped", ", warm-up included; no books were closed over these")
	if len(r.Intervals) == 0 {
		p.line("  no interval was recorded")
		return
	}
	var sum result.Interval
	var peak int64
	for _, i := range r.Intervals {
		sum.Scheduled += i.Scheduled
		sum.Admitted += i.Admitted
		sum.Shed += i.Shed
		sum.Acked += i.Acked
		sum.Failed += i.Failed
		sum.Unknown += i.Unknown
		sum.Delivered += i.Delivered
		if i.LagRecords != nil {
			peak = max(peak, *i.LagRecords)
		}
	}
	first, last := r.Intervals[0], r.Intervals[len(r.Intervals)-1]
	p.labelled("time", fmt.Sprintf("from %s to %s of the run's time axis; it stopped in the phase %q", seconds(first.StartNs), seconds(last.EndNs), last.Phase))
	p.labelled("records", list(
		unit.Count(sum.Scheduled)+" scheduled", unit.Count(sum.Admitted)+" admitted", unit.Count(sum.Shed)+" shed",
		unit.Count(sum.Acked)+" acked", unit.Count(sum.Failed)+" failed", unit.Count(sum.Unknown)+" unknown",
		unit.Count(sum.Delivered)+" delivered"))
	p.labelled("lag", fmt.Sprintf("peak %s, backlog %s when it stopped", count(peak, "record"), unit.Count(last.BacklogRecords)))
}
