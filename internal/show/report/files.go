package report

import (
	"cmp"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printFiles(p *layout.Page, r *result.Recorded) {
	p.Heading("Files", " in "+r.Dir)
	var files []string
	for _, name := range r.Files {
		switch i := r.Run.Run.Imported; {
		case name == result.IntervalsFile:
			name = fmt.Sprintf("%s (%s)", name, unit.Things(int64(len(r.Intervals)), "line"))
		case name == result.EventsFile:
			name = fmt.Sprintf("%s (%s)", name, unit.Things(int64(len(r.Events)), "line"))
		case name == result.AgentsFile:
			name = fmt.Sprintf("%s (%s)", name, unit.Things(int64(len(r.Agents)), "line"))
		case name == result.CurvesFile:
			continue // the file repeats the histograms, for programs
		case name == result.HistogramsFile && i != nil && i.Format != "hlog":
			continue // the file of an imported run seldom has the values of the other tool
		}
		files = append(files, name)
	}
	p.Text(2, layout.List(files...))
}

const collectable = "If its agents have handed in and the cluster is still there, this makes the result, with the " +
	"--brokers and the --key of the run:"

// collecting is the command that makes the result of an unfinished run of agents; "" without agents.
func collecting(r *result.Run) string {
	if r.Run.Session == "" {
		return ""
	}
	return "kafka-bench collect --session " + textfile.ShellWord(r.Run.Session)
}

// Left reports whether a run that did not finish may have left its topic and groups on a cluster of others.
func Left(r *result.Run) bool {
	ours := func(name string) bool { return strings.HasPrefix(name, "kafka-bench-") }
	return !r.Finished() && r.Run.Cluster.Kind == "existing" && (ours(r.Run.Topic) || ours(r.Run.Group))
}

// Cleaning is the command that lists what runs left on a cluster.
func Cleaning(clusterID string) string {
	return "kafka-bench clean --brokers HOST:PORT --cluster-id " + textfile.ShellWord(clusterID)
}

func printUnfinished(p *layout.Page, r *result.Recorded) {
	p.Heading("Until it stopped", ", warm-up included; no books were closed over these")
	if id := r.Run.Run.Cluster.ID; Left(&r.Run) {
		p.Text(2, "If it was killed, its topic or its groups, "+cmp.Or(r.Run.Run.Group, r.Run.Run.Topic)+
			", are still on the cluster "+id+". This lists them:")
		p.Text(4, Cleaning(id))
	}
	if command := collecting(&r.Run); command != "" {
		p.Text(2, collectable)
		p.Text(4, command)
	}
	if len(r.Intervals) == 0 {
		p.Text(2, "no interval was recorded")
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
	p.Labelled("time", fmt.Sprintf("from %s to %s of the run's time axis; it stopped in the phase %q",
		seconds(first.StartNs), seconds(last.EndNs), last.Phase))
	p.Labelled("records", layout.List(
		unit.Count(sum.Scheduled)+" scheduled", unit.Count(sum.Admitted)+" admitted", unit.Count(sum.Shed)+" shed",
		unit.Count(sum.Acked)+" acked", unit.Count(sum.Failed)+" failed", unit.Count(sum.Unknown)+" unknown",
		unit.Count(sum.Delivered)+" delivered"))
	p.Labelled("lag", fmt.Sprintf("peak %s, backlog %s when it stopped", unit.Things(peak, "record"),
		unit.Count(last.BacklogRecords)))
}
