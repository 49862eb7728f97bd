package result

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

// scenarioName has the characters that package scenario accepts; the name is empty if run.json has none.
var scenarioName = regexp.MustCompile(`^[A-Za-z0-9._-]{0,200}$`)

// checkWords refuses a name and statuses that no run has: a report would show them as its own words.
func (r *Run) checkWords() error {
	system := KeptUp
	if r.System != nil {
		system = r.System.Status
	}
	switch {
	case r.Run.Imported == nil && !scenarioName.MatchString(r.Run.Name):
		return fmt.Errorf("run.name %q is no name of a scenario", r.Run.Name)
	case !slices.Contains([]string{"", Valid, Invalid, Unchecked}, r.Verdict.Status):
		return fmt.Errorf("verdict.status %q is not known", r.Verdict.Status)
	case !slices.Contains([]string{NotJudged, LostRecords, Unavailable, Overloaded, HeldBack, KeptUp}, system):
		return fmt.Errorf("system.status %q is not known", system)
	}
	return nil
}

// checkFolder refuses a folder whose name cannot be shown as it is.
func checkFolder(dir string) error {
	if name := path.Base(dir); textfile.Line(name) != name {
		return fmt.Errorf("the folder's name %q has control characters: rename it", name)
	}
	return nil
}
