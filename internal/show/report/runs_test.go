package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func reporting(runs ...*result.Recorded) func(*bytes.Buffer, report.Options) error {
	return func(b *bytes.Buffer, o report.Options) error { return report.Runs(b, runs, o) }
}

func TestRunsInEveryFormat(t *testing.T) {
	one := reporting(showtest.Simulate(t, resulttest.OverloadTight()))
	showtest.Golden(t, "run.md", showtest.Written(t, one, report.Options{Format: report.AsMarkdown}))
	showtest.Golden(t, "run.json", showtest.Written(t, one, report.Options{Format: report.AsJSON}))
	showtest.Golden(t, "run-80", showtest.Written(t, one, report.Options{Width: 80}))
	flood := closedLoop(t)
	flood.Run.Run.StartedAt = resulttest.StartedAt.Add(time.Hour) // to differ from broken, which has the same ID
	all := reporting(showtest.Simulate(t, resulttest.Overload()), showtest.Simulate(t, resulttest.OverloadTight()),
		broken(t), killed(t), flood)
	showtest.Golden(t, "runs.md", showtest.Written(t, all, report.Options{Format: report.AsMarkdown}))
	for _, table := range []string{"figures", "times", "books", "lag", "intervals", "clients", "members", "partitions"} {
		showtest.Golden(t, "runs-"+table+".csv", showtest.Written(t, all, report.Options{Format: report.AsCSV, Table: table}))
	}
}

func TestTablesAreWhole(t *testing.T) {
	all := reporting(showtest.Simulate(t, resulttest.Overload()), broken(t), killed(t))
	for _, table := range []string{"figures", "times", "books", "lag", "intervals", "clients", "members", "partitions"} {
		rows, err := csv.NewReader(bytes.NewReader(showtest.Written(t, all, report.Options{Format: report.AsCSV, Table: table}))).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%s has %d rows: %v", table, len(rows), err)
		}
	}
	var b bytes.Buffer
	err := all(&b, report.Options{Format: report.AsCSV, Table: "bogus"})
	if err == nil || err.Error() != `there is no table "bogus" here; choose one of agents, books, clients, figures, intervals, lag, members, partitions, queue, times` {
		t.Errorf("a table that is not there: %v", err)
	}
}

func TestJSONHasEveryFigure(t *testing.T) {
	var document report.RunsDocument
	b := showtest.Written(t, reporting(showtest.Simulate(t, resulttest.OverloadTight())), report.Options{Format: report.AsJSON})
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	for _, f := range figure.All() {
		v, there := document.Runs[0].Figures[f.Name]
		if !there || document.Units[f.Name] == "" {
			t.Errorf("%s is missing, or its unit", f.Name)
		}
		if strings.HasPrefix(f.Name, "e2e_response_time_p99_99") && v != nil {
			t.Errorf("%s is %v, of 49,280 records", f.Name, *v)
		}
	}
}

func TestPercentilesAreSupported(t *testing.T) {
	for count, want := range map[int64]string{19: "–", 100_000: "10.4 ms", 99_999: "–"} {
		r := showtest.Simulate(t, resulttest.Baseline())
		d := r.Run.Time["e2e_response_time"]
		d.Count = count
		r.Run.Time = map[string]result.Time{"e2e_response_time": d}
		for line := range strings.Lines(string(text(t, r, report.Options{}))) {
			if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "p99.99" && strings.Join(fields[1:], " ") != want {
				t.Errorf("with %d values: %q, want %s", count, line, want)
			}
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range []report.Format{report.AsText, report.AsMarkdown, report.AsCSV, report.AsJSON, report.AsHTML} {
		if got, err := report.ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("%v is read as %v, %v", f, got, err)
		}
	}
	if _, err := report.ParseFormat("pdf"); err == nil || !strings.Contains(err.Error(), "text, markdown, csv, json, html") {
		t.Errorf("a format that is not there: %v", err)
	}
}
