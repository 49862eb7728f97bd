package result

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestDistinct(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", "link-to-a"); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs("a")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	own := func(dir, id string, at time.Time) *Recorded {
		return &Recorded{Dir: dir, Run: Run{Run: Info{ID: id, StartedAt: at}}}
	}
	imported := func(dir string) *Recorded {
		r := own(dir, "i2mzr4", at)
		r.Run.Run.Imported = &Imported{Format: "hlog"}
		return r
	}
	runs := []*Recorded{
		0:  own("a", "k3x7qa", at),
		1:  own("elsewhere", "k3x7qa", at.In(time.FixedZone("", 3600))), // a copy of 0
		2:  own("b", "k3x7qa", at.Add(1)),
		3:  own("a", "o7fq2m", at),
		4:  own("c", "k3x7qa", at), // 0, a third time
		5:  imported("a"),
		6:  imported("link-to-a"),   // 5
		7:  imported("b"),           // the same file, imported again
		8:  imported(absolute),      // 5
		9:  imported("b/../b/../b"), // 7
		10: imported("is-not-there"),
		11: imported("./is-not-there"), // 10
	}
	once, twice := Distinct(runs)
	want := []*Recorded{runs[0], runs[2], runs[3], runs[5], runs[7], runs[10]}
	if !slices.Equal(once, want) || twice != 4 {
		t.Errorf("%d of %d runs are left, %d of them came twice; want %d and 4", len(once), len(runs), twice, len(want))
	}
	if once, twice := Distinct(want); !slices.Equal(once, want) || twice != 0 {
		t.Errorf("of %d different runs %d are left, and %d came twice", len(want), len(once), twice)
	}
	if shared := Shared(runs[:5], runs[1:3]); !slices.Equal(shared, []*Recorded{runs[0], runs[2]}) {
		t.Errorf("%d runs are shared, want 2", len(shared))
	}
}
