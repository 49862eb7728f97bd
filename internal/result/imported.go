package result

import (
	"slices"
	"strings"
)

// Imported says that another tool made the run, and what its result leaves open.
// No run that has it was judged by this tool's rules, whatever its verdict says.
type Imported struct {
	Format string `json:"format"` // ssp, producer-perf, consumer-perf, omb, hlog
	File   string `json:"file"`   // that it was read from, without its folder
	// CannotSay names what the foreign result does not tell, among the fields
	// that have no null to say so with: by their path in run.json
	// ("delivery.lost", or "warmup" for all of that block), and with "intervals."
	// before it in intervals.ndjson. What such a field holds is no measurement.
	CannotSay []string `json:"cannot_say"`
}

// Says tells whether a field of run.json holds a measurement, as far as the run
// names those that do not (see Info.NotMeasured and Imported.CannotSay): path is
// its name with dots, as in "load.scheduled" or "time.send_service_time.p75_ns".
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
