package result_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func recordIn(t testing.TB, out string, r *result.Recorded) string {
	t.Helper()
	w, err := result.Create(out, r.Run.Run.Name, r.Run.Run.StartedAt)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range r.Intervals {
		if err := w.Interval(i); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range r.Events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(r.Run); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(w.Dir())
}

func rootOf(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root.FS()
}

// Reading never leaves the root, by ".." or by a link.
func TestReadThroughARoot(t *testing.T) {
	above := t.TempDir()
	out := filepath.Join(above, "runs")
	name := recordIn(t, out, resulttest.OverloadTight().Run())
	stranger := recordIn(t, above, resulttest.Baseline().Run())
	if err := os.Symlink(filepath.Join("..", stranger), filepath.Join(out, "link")); err != nil {
		t.Fatal(err)
	}
	root := rootOf(t, out)

	want, err := result.Read(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	got, err := result.ReadFS(root, name)
	if err != nil {
		t.Fatal(err)
	}
	if got.Dir != name {
		t.Errorf("the run's folder is %q, want %q", got.Dir, name)
	}
	if got.Dir = want.Dir; !reflect.DeepEqual(got, want) {
		t.Error("a run that is read through a root is another one")
	}
	listed, err := result.ListFS(root, ".")
	if err != nil || len(listed) != 1 || listed[0].Dir != name || listed[0].Err != nil {
		t.Errorf("listed %+v, error %v", listed, err)
	}
	for _, outside := range []string{"link", "../" + stranger} {
		if _, err := result.ReadFS(root, outside); err == nil {
			t.Errorf("%s was read, which is outside of the root", outside)
		}
	}
}

func TestReadCampaignThroughARoot(t *testing.T) {
	out := t.TempDir()
	run := recordIn(t, out, resulttest.Baseline().Run())
	campaign := result.Campaign{
		SchemaVersion: result.SchemaVersion, Cells: []result.Cell{{Name: "a"}},
		Runs: []result.CampaignRun{
			{Dir: result.Beside(run), Status: result.Valid}, {Dir: "../../elsewhere", Status: result.Valid},
		},
	}
	text, err := json.Marshal(campaign)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(out, "study"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "study", result.CampaignFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	root := rootOf(t, out)
	c, err := result.ReadCampaignFS(root, "study")
	if err != nil {
		t.Fatal(err)
	}
	if c.Runs[0] == nil || c.Runs[0].Dir != run || c.Runs[1] != nil {
		t.Errorf("read the runs %+v", c.Runs)
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "run 2 of 2 cannot be read") {
		t.Errorf("notes %q do not speak of the run outside", c.Notes)
	}
	if listed, err := result.ListCampaignsFS(root, "."); err != nil || len(listed) != 1 || listed[0].Err != nil {
		t.Errorf("listed %+v, error %v", listed, err)
	}
}

func TestRow(t *testing.T) {
	out := t.TempDir()
	r := resulttest.OverloadTight().Run()
	root := rootOf(t, out)
	row := func(r *result.Recorded) result.Row {
		t.Helper()
		row, err := result.ReadRow(root, recordIn(t, out, r))
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	got, e2e := row(r), r.Run.Time["e2e_response_time"]
	if got.Name != r.Run.Run.Name || got.ID == "" || got.Status != result.Valid || !got.Finished || got.Imported != "" ||
		!got.StartedAt.Equal(r.Run.Run.StartedAt) {
		t.Errorf("the row is %+v", got)
	}
	if *got.OfferedPerS != r.Run.Load.OfferedPerS || *got.AckedPerS != r.Run.Load.AckedPerS ||
		*got.E2EP99Ns != e2e.P99Ns || got.E2ERecords != e2e.Count+e2e.NotEnded || got.E2EP99AtLeast ||
		*got.LagPeakRecords != *r.Run.Lag.PeakRecords {
		t.Errorf("the row's figures are %v %v %v %v, not those of the run", *got.OfferedPerS, *got.AckedPerS, *got.E2EP99Ns,
			*got.LagPeakRecords)
	}

	e2e.AtLeast, e2e.ErrorNs = []string{"p99_ns"}, 130
	r.Run.Time["e2e_response_time"] = e2e
	r.Run.Delivery.Copies = 2
	if got := row(r); !got.E2EP99AtLeast || got.E2ERecords != (e2e.Count+e2e.NotEnded)/2 || got.E2EErrorNs != 130 {
		t.Errorf("of two groups, two clocks and a lower bound, the row says %+v", got)
	}
	r.Run.Run.Imported = &result.Imported{Format: "omb", CannotSay: []string{"load.offered_per_s", "lag"}}
	r.Run.Run.NotMeasured = []string{"time.e2e_response_time"}
	got = row(r)
	run, err := result.ReadSummary(root, got.Dir)
	if err != nil || got.Status != result.Unchecked || run.Verdict.Status != result.Unchecked { // an older import called itself valid
		t.Errorf("the status of an imported run is %s in a list and %s by itself, %v", got.Status, run.Verdict.Status, err)
	}
	if got.Imported != "omb" || got.OfferedPerS != nil || got.AckedPerS == nil || got.E2EP99Ns != nil ||
		got.LagPeakRecords != nil {
		t.Errorf("the row has what the run cannot say: %+v", got)
	}
}

func TestRowOfWhatIsNoFinishedRun(t *testing.T) {
	out := t.TempDir()
	w, err := result.Create(out, "killed", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(out, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	root := rootOf(t, out)
	killed := filepath.Base(w.Dir())
	row, err := result.ReadRow(root, killed)
	if err != nil || row.Finished || row.Status != result.Invalid || row.OfferedPerS != nil || row.AckedPerS != nil {
		t.Errorf("of a run that was killed: %+v, error %v", row, err)
	}
	if _, err := result.ReadRow(root, "empty"); !errors.Is(err, result.ErrNotARun) {
		t.Errorf("of a folder without a run: error %v", err)
	}
	dirs, err := result.Folders(root, ".")
	if err != nil || !reflect.DeepEqual(dirs, []string{killed, "empty"}) {
		t.Errorf("folders %q, error %v", dirs, err)
	}
	summary := filepath.Join(w.Dir(), result.SummaryFile)
	if err := os.WriteFile(summary, []byte(`{"schema_version": 2}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := result.ReadRow(root, killed); err == nil || !strings.Contains(err.Error(), "schema_version 2") {
		t.Errorf("of a newer schema: error %v", err)
	}
}
