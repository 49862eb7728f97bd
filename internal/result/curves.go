package result

import (
	"errors"
	"io/fs"
	"math"
)

// Curves is curves.json: for each metric of Run.Time, the percentiles over the records of the
// measured window. Times that had not ended when the run did are left out.
type Curves struct {
	SchemaVersion int       `json:"schema_version" jsonschema:"minimum=1"`
	Percentiles   []float64 `json:"percentiles"` // ascending, from 0 to 100
	// Ns has the values at each percentile, by metric. A curve ends before the first percentile
	// that has too few values. The last percentile, 100, is the maximum, and only complete curves
	// have it.
	Ns map[string][]int64 `json:"ns"`
}

// A curve's percentiles are equidistant on the axis −log10(1 − p).
const (
	// per nine, such as from 90 to 99
	curveStepsPerNine = 20
	curveSteps        = 119
)

// CurvePercentiles returns the percentiles of a curve: 100·(1 − 10^(−k/20)) for k from 0 to 118,
// rounded to nine decimals, and 100.
func CurvePercentiles() []float64 {
	all := make([]float64, 0, curveSteps+1)
	for k := range curveSteps {
		p := 100 * (1 - math.Pow(10, -float64(k)/curveStepsPerNine))
		all = append(all, math.Round(p*1e9)/1e9)
	}
	return append(all, 100)
}

// The run is unfinished, or older than curves.json.
var errNoCurves = errors.New("no curves")

func readCurves(fsys fs.FS, dir string) (*Curves, error) {
	c := new(Curves)
	err := readDocument(fsys, dir, CurvesFile, errNoCurves, c)
	if errors.Is(err, errNoCurves) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Curves writes curves.json. Call it before Finish.
func (w *Writer) Curves(c Curves) error {
	c.SchemaVersion = SchemaVersion
	b, err := encode(c, "")
	if err != nil {
		return fileError(CurvesFile, err)
	}
	return replaceFile(w.dir, CurvesFile, b)
}
