package result_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

// The steps are equal, and include each nine.
func TestCurvePercentiles(t *testing.T) {
	all := result.CurvePercentiles()
	different := len(slices.Compact(slices.Clone(all)))
	if len(all) != 120 || different != 120 || all[0] != 0 || all[119] != 100 || !slices.IsSorted(all) {
		t.Errorf("the percentiles are %v", all)
	}
	for nines, p := range []float64{90, 99, 99.9, 99.99, 99.999} {
		if got := all[20*(nines+1)]; got != p {
			t.Errorf("percentile %d is %v, want %v", 20*(nines+1), got, p)
		}
	}
}

func TestCurvesFile(t *testing.T) {
	w := create(t)
	if err := w.Finish(result.Run{}); err != nil {
		t.Fatal(err)
	}
	if r := read(t, w.Dir()); r.Curves != nil || len(r.Notes) > 0 {
		t.Errorf("a run without curves has %v, with the notes %q", r.Curves, r.Notes)
	}
	want := result.Curves{Percentiles: []float64{0, 50, 100}, Ns: map[string][]int64{"send_delay": {1, 2}}}
	if err := w.Curves(want); err != nil {
		t.Fatal(err)
	}
	want.SchemaVersion = result.SchemaVersion
	r := read(t, w.Dir())
	if r.Curves == nil || !reflect.DeepEqual(*r.Curves, want) || !slices.Contains(r.Files, result.CurvesFile) {
		t.Errorf("read %+v of %q, want %+v", r.Curves, r.Files, want)
	}
	for text, complaint := range map[string]string{
		`{"schema_version": 1, "ns": 7}`: "curves.json:1", `{"schema_version": 99}`: "schema_version 99",
	} {
		if err := os.WriteFile(filepath.Join(w.Dir(), result.CurvesFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := result.Read(w.Dir()); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v, want %q", text, err, complaint)
		}
	}
}
