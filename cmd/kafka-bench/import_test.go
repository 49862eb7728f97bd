package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func foreignSample(file string) (content []byte, err error) {
	samples := map[string]string{
		"results-overload.json": "ssp/results-slow-aggr.json", "producer.txt": "producer-4.txt", "consumer.txt": "consumer-4.txt",
		"send_service_time.hlog": "send_service_time.hlog",
	}
	return os.ReadFile(filepath.Join(sampleDir, samples[file]))
}

// sampleDir is absolute, because examples run in their own folder.
var sampleDir = func() string {
	dir, err := filepath.Abs(filepath.Join("..", "..", "internal", "result", "foreign", "testdata"))
	if err != nil {
		return err.Error()
	}
	return dir
}()

func prepareImport(arg string) error {
	content, err := foreignSample(arg)
	if err != nil || filepath.Ext(arg) == "" {
		return nil //nolint:nilerr // a flag or its value
	}
	return os.WriteFile(arg, content, 0o644)
}

// Fields that a foreign result does not have stay unknown through import and report.
func TestImport(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := prepareImport("results-overload.json"); err != nil {
		t.Fatal(err)
	}
	got := invoke(t, "import", "results-overload.json", "--name", "overload-off")
	if got.code != exitValid || !strings.Contains(got.stdout, "results-overload.json (ssp) → runs/") || !strings.Contains(got.stdout, "not judged by the rules of kafka-bench") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	run := onlyRun(t, "runs")
	if run.Run.Run.Name != "overload-off" || *run.Run.Lag.PeakRecords != 309_435 || run.Run.Time["e2e_service_time"].P50Ns != 17_035_009_000 {
		t.Errorf("%s: peak lag %d, e2e p50 %d", run.Run.Run.Name, *run.Run.Lag.PeakRecords, run.Run.Time["e2e_service_time"].P50Ns)
	}
	shown := invoke(t, "report", run.Dir)
	if shown.code != exitValid || !strings.Contains(shown.stdout, "imported (ssp)") {
		t.Errorf("exit code %d\n%s%s", shown.code, shown.stdout, shown.stderr)
	}
}

func TestImportIsAllOrNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := prepareImport("producer.txt"); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"cut.json": `{"publishRate": [1,`, "other.txt": "hello"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := invoke(t, "import", "producer.txt", "cut.json", "other.txt", "missing.txt")
	want := `kafka-bench: cut.json:1: it is not JSON: unexpected end of JSON input
other.txt: not a result that can be imported: it shows the marks of none of ssp, producer-perf, consumer-perf, share-consumer-perf, e2e-latency, omb, hlog, hgrm; if it is one of them, say so with --format
cannot read a result: stat missing.txt: no such file or directory
`
	if got.stderr != want || got.code != exitBadInput {
		t.Errorf("exit code %d and\n%s, want %d and\n%s", got.code, got.stderr, exitBadInput, want)
	}
	wantNothing(t, "runs")
	wantBad(t, invoke(t, "import", "producer.txt", "--format", "csv"), `--format csv: there is no format "csv"; choose one of auto, ssp, producer-perf, consumer-perf, share-consumer-perf, e2e-latency, omb, hlog, hgrm`)
	wantBad(t, invoke(t, "import", "producer.txt", "--hlog-unit", "s"), `--hlog-unit s: there is no unit "s"; choose ns, us or ms`)
	wantBad(t, invoke(t, "import"), "import needs a FILE: the result of another tool")
}

func TestMergedLogComesBack(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"first", "second"} {
		if err := os.WriteFile(name+".yaml", []byte(tiny), 0o644); err != nil {
			t.Fatal(err)
		}
		runValid(t, name+".yaml", "runs/"+name)
	}
	first, second := onlyRun(t, "runs/first"), onlyRun(t, "runs/second")
	if got := invoke(t, "report", first.Dir, second.Dir, "--hlog-merge", "all.hlog"); got.code != exitValid {
		t.Fatal(got.stderr)
	}
	if got := invoke(t, "import", "all.hlog", "--out", "again"); got.code != exitValid {
		t.Fatal(got.stderr)
	}
	listed, err := result.List("again")
	if err != nil || len(listed) != 2 {
		t.Fatalf("%d runs came back, %v", len(listed), err)
	}
	for i, was := range []*result.Run{first.Run, second.Run} {
		is := listed[i].Run
		if is.Run.Name != was.Run.Name || len(is.Time) != len(was.Time) || is.Time["send_service_time"].Count != was.Time["send_service_time"].Count {
			t.Errorf("%s with %d times came back as %s with %d", was.Run.Name, len(was.Time), is.Run.Name, len(is.Time))
		}
		shown := invoke(t, "report", listed[i].Dir).stdout
		if !strings.HasPrefix(shown, "MEASUREMENT IMPORTED  "+was.Run.Name) || strings.Contains(shown, "0/s") || strings.Count(shown, "  warning") > 3 || !strings.Contains(shown, "lateness") {
			t.Errorf("its report:\n%s", shown)
		}
	}
}

func runValid(t *testing.T, scenario, out string) {
	t.Helper()
	virtually(t, func(t *testing.T, l lab) {
		got := l.invoke(t, "run", scenario, "--cluster", "embedded", "--out", out)
		wantValid(t, got, onlyRun(t, out).Run)
	})
}

// An imported run has no verdict of ours: nothing counts it as valid.
func TestImportedRunsAreNotValid(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := prepareImport("producer.txt"); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"before", "after"} {
		if got := invoke(t, "import", "producer.txt", "--out", set); got.code != exitValid {
			t.Fatal(got.stderr)
		}
		if status := onlyRun(t, set).Run.Verdict.Status; status != result.Unchecked {
			t.Errorf("the status is %s", status)
		}
	}
	got := invoke(t, "compare", "before", "after")
	if strings.Count(got.stdout, "1 run, imported, not checked") != 2 || strings.Contains(got.stdout, ", valid") || strings.Contains(got.stdout, "all valid") {
		t.Errorf("compare says\n%s%s", got.stdout, got.stderr)
	}
	asJSON := invoke(t, "compare", "before", "after", "--format", "json").stdout
	if strings.Count(asJSON, `"imported": 1`) != 2 || strings.Count(asJSON, `"valid": 0`) != 2 {
		t.Errorf("compare as JSON says\n%.2000s", asJSON)
	}
	if csv := invoke(t, "report", "before", "after", "--format", "csv").stdout; strings.Contains(csv, "valid") {
		t.Errorf("the CSV says\n%s", csv)
	}
}

// Two outputs in one file are two runs, also for whoever looks at the folder.
func TestImportOfTwoOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	content, err := foreignSample("producer.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("both.txt", append(content, content...), 0o644); err != nil {
		t.Fatal(err)
	}
	got := invoke(t, "import", "both.txt", "--name", "n")
	listed, err := result.List("runs")
	if err != nil || len(listed) != 2 || listed[0].Run.Load.Acked != 40_000 || listed[1].Run.Load.Acked != 40_000 {
		t.Fatalf("%d runs, %v\n%s%s", len(listed), err, got.stdout, got.stderr)
	}
	if names := []string{listed[0].Run.Run.Name, listed[1].Run.Run.Name}; !slices.Contains(names, "n-1") || !slices.Contains(names, "n-2") {
		t.Errorf("the names are %v", names)
	}
}

func TestImportOfPercentilesNeedsTheUnit(t *testing.T) {
	path := filepath.Join(sampleDir, "poll_time.hgrm")
	wantBad(t, invoke(t, "import", path), path+":1: the table does not say its unit; say it with --hlog-unit ns, us or ms")
	out := t.TempDir()
	if got := invoke(t, "import", path, "--hlog-unit", "us", "--out", out); got.code != exitValid || onlyRun(t, out).Run.Time["poll_time"].P50Ns != 1200 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestSummaryWithoutHistograms(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := prepareImport("producer.txt"); err != nil {
		t.Fatal(err)
	}
	invoke(t, "import", "producer.txt")
	dir := onlyRun(t, "runs").Dir
	wantBad(t, invoke(t, "report", dir, "--hlog-summary"), dir+" has no histograms to read: it was imported from producer.txt (producer-perf), which has none")
}

func TestImportOfAFailedTool(t *testing.T) {
	got := invoke(t, "import", filepath.Join(sampleDir, "consumer-gave-up.txt"), "--out", t.TempDir())
	if got.code != exitInvalid || !strings.Contains(got.stdout, result.Invalid) || !strings.Contains(got.stdout, "the tool gave up") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
