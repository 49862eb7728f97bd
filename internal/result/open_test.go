//go:build unix

package result_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// maxAllocated bounds all that reading one folder allocates, also what is free again.
const maxAllocated = 200 << 20

var baseline = sync.OnceValue(func() *result.Recorded { return resulttest.Baseline().Run() })

// A stranger's run is refused with the name of the file that is none, without the memory that it asks for, and
// never hides another run.
func TestHostileFiles(t *testing.T) {
	run := *baseline()
	run.Intervals, run.Events = run.Intervals[:2], run.Events[:2]
	for kind, hostile := range resulttest.Hostile() {
		for _, file := range resulttest.ReadFiles() {
			t.Run(kind+" "+file, func(t *testing.T) {
				out := t.TempDir()
				bad, good := recordIn(t, out, &run), recordIn(t, out, &run)
				if err := resulttest.Replace(filepath.Join(out, bad), file, hostile); err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := result.Read(filepath.Join(out, bad))
				_, throughRoot := result.ReadFS(rootOf(t, out), bad)
				listed, listErr := result.List(out)
				runtime.ReadMemStats(&after)
				if err == nil || throughRoot == nil || !strings.Contains(err.Error(), file) || len(err.Error()) > 1000 {
					t.Errorf("read: %.2000v, through a root: %.2000v; want an error that names %s", err, throughRoot, file)
				}
				if isLink := kind == "link" || kind == "endless"; isLink && err != nil && !strings.Contains(err.Error(), "is a link") {
					t.Errorf("read: %.2000v, want that it is a link", err)
				}
				if listErr != nil || len(listed) != 2 {
					t.Errorf("listed %+v, %v", listed, listErr)
				}
				for _, l := range listed {
					if hidden := filepath.Base(l.Dir) == good && l.Err != nil; hidden || l.Err != nil && file != result.SummaryFile {
						t.Errorf("%s: %v", l.Dir, l.Err)
					}
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > maxAllocated {
					t.Errorf("%d MB were allocated", used>>20)
				}
			})
		}
	}
}

// A campaign reads only runs beside it, each once; others are named in notes.
func TestCampaignReadsOnlyRunsBesideIt(t *testing.T) {
	out := t.TempDir()
	good := recordIn(t, out, baseline())
	outside := recordIn(t, filepath.Dir(out), baseline())
	w, err := result.CreateCampaign(out, result.Campaign{
		Campaign: result.CampaignInfo{Name: "c"}, Cells: []result.Cell{{Name: "a"}},
		Runs: []result.CampaignRun{{Dir: result.Beside(good)}, {Dir: "../../" + outside}, {Dir: result.Beside(good)}, {Dir: "."}, {Dir: "/etc"}, {Dir: "../.."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer os.RemoveAll(filepath.Join(filepath.Dir(out), outside))
	c, err := result.ReadCampaign(w.Dir())
	if err != nil || c.Runs[0] == nil || len(c.Of(0)) != 1 || len(c.Notes) != 5 {
		t.Fatalf("%d runs and the notes %q, %v", len(c.Of(0)), c.Notes, err)
	}
	for _, outside := range []int{1, 5} {
		if _, err := c.Campaign.ReadRun(w.Dir(), outside); err == nil || !strings.Contains(err.Error(), "is not beside that of the campaign") {
			t.Errorf("the run outside %s: %v", c.Campaign.Runs[outside].Dir, err)
		}
	}
}
