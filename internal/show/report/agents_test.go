package report_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestAgents(t *testing.T) {
	three := reporting(showtest.Agents(t, 3))
	for _, width := range []int{80, 120} {
		showtest.Screens(t, showtest.Written(t, three, report.Options{Width: width}), width, 115)
	}
	got := showtest.Written(t, three, report.Options{})
	showtest.Screens(t, got, layout.Width, 100)
	showtest.Golden(t, "agents", got)
	showtest.Golden(t, "agents.md", showtest.Written(t, three, report.Options{Format: report.AsMarkdown}))
	showtest.Golden(t, "agents.json", showtest.Written(t, three, report.Options{Format: report.AsJSON}))
	for _, table := range []string{"agents", "times", "figures"} {
		showtest.Golden(t, "agents-"+table+".csv", showtest.Written(t, three, report.Options{Format: report.AsCSV, Table: table}))
	}
	again := showtest.Agents(t, 3)
	again.Run.Run.ID, again.Run.Run.Name = "other1", "agents-again"
	showtest.Golden(t, "agents-side-by-side", showtest.Written(t, reporting(showtest.Agents(t, 3), again), report.Options{}))
}

// A text lists the worst of many agents, the missing one first; the page lists all.
func TestManyAgents(t *testing.T) {
	r := showtest.Agents(t, 20)
	lost := &r.Run.Agents[7]
	*lost = result.Agent{Index: 7, HostName: lost.HostName}
	got := string(showtest.Written(t, reporting(r), report.Options{}))
	block := got[strings.Index(got, "Agents "):strings.Index(got, "Books")]
	showtest.Golden(t, "agents-many", []byte(block))
	rows := 0
	for _, s := range report.AccountOf(r).Sections {
		for _, b := range s.Blocks {
			if s.Title == "Agents" && b.Kind == layout.BlockTable {
				rows = len(b.Table.Rows) - b.Heads
			}
		}
	}
	if rows != 20 {
		t.Errorf("the page has %d rows", rows)
	}
}

// The records that a missing agent scheduled are in no book.
func TestBooksWithoutAPart(t *testing.T) {
	r := showtest.Agents(t, 3)
	for _, missing := range []bool{false, true} {
		r.Run.Agents[1].HandedIn = !missing
		for format, words := range map[report.Format][2]string{
			report.AsText:     {"Everything that was scheduled was delivered.", "of the measured window, in records, of the parts that were handed in\n"},
			report.AsMarkdown: {"Everything that was scheduled was delivered.", "what the missing ones did is not known."},
		} {
			got := string(showtest.Written(t, reporting(r), report.Options{Format: format}))
			if strings.Contains(got, words[0]) == missing || strings.Contains(got, words[1]) != missing {
				t.Errorf("with a part missing (%v), format %v has\n%s", missing, format, got)
			}
		}
	}
}

// The agents of a coordinator that died may have handed in their parts. The report names the
// command that collects them.
func TestUnfinishedWithASession(t *testing.T) {
	r := killed(t)
	const command = "kafka-bench collect --session s7"
	for _, session := range []string{"", "s7"} {
		r.Run.Run.Session = session
		for _, format := range []report.Format{report.AsText, report.AsMarkdown} {
			got := string(showtest.Written(t, reporting(r), report.Options{Format: format}))
			if strings.Contains(got, command) != (session != "") {
				t.Errorf("with the session %q, format %v has\n%s", session, format, got)
			}
		}
		shown := false
		for _, s := range report.AccountOf(r).Sections {
			for _, b := range s.Blocks {
				shown = shown || strings.Contains(b.Text, command)
			}
		}
		if shown != (session != "") {
			t.Errorf("with the session %q, the page has the command: %v", session, shown)
		}
	}
}

// The advice of a stranger's run is one command, whatever the run calls its session and its cluster.
func TestAdviceIsOneCommand(t *testing.T) {
	const hostile, quoted = "x; id | sh #'", `'x; id | sh #'\'''`
	r := killed(t)
	r.Run.Run.Session = hostile
	r.Run.Run.Cluster.Kind, r.Run.Run.Cluster.ID, r.Run.Run.Topic = "existing", hostile, "kafka-bench-a"
	got := string(showtest.Written(t, reporting(r), report.Options{Format: report.AsText}))
	for _, want := range []string{"collect --session " + quoted + "\n", "--cluster-id " + quoted + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
