package result

import (
	"slices"
	"strings"
)

// Imported says that another tool made the run, and what its result does not contain. This tool did
// not judge such a run.
type Imported struct {
	Format string `json:"format"` // ssp, producer-perf, consumer-perf, share-consumer-perf, e2e-latency, omb, hlog, hgrm
	File   string `json:"file"`   // the file that was read, without its folder
	// CannotSay names fields that cannot be null and that the other tool's result does not contain,
	// by their path in run.json ("delivery.lost", or "warmup" for the whole block). Fields of
	// intervals.ndjson have the prefix "intervals.". The value of such a field is not a
	// measurement.
	CannotSay []string `json:"cannot_say"`
}

// Says reports whether the run measured a field of run.json, by Info.NotMeasured and
// Imported.CannotSay. path is its name with dots, such as "load.scheduled".
func (r *Run) Says(path string) bool {
	within := func(open string) bool {
		rest, within := strings.CutPrefix(path, open)
		return within && (rest == "" || rest[0] == '.')
	}
	if i := r.Run.Imported; i != nil && slices.ContainsFunc(i.CannotSay, within) {
		return false
	}
	return !slices.ContainsFunc(r.Run.NotMeasured, within)
}
