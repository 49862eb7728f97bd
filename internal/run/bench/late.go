package bench

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/run/remote"
)

// processes are all processes that work for the run, that there have been.
func (r *run) processes() remote.Children {
	return slices.Concat(r.children, r.groups.processes())
}

// late names the processes of which an interval has only what they told last, and tells
// of each once when that begins, and when it ends.
func (r *run) late() (names []string) {
	for _, p := range r.processes() {
		name := fmt.Sprintf("%s (pid %d)", p.Name(), p.PID())
		was := slices.Contains(r.wereLate, name)
		switch is := p.Late(); {
		case is:
			names = append(names, name)
			if !was {
				r.journal.now("warning", name+" does not answer", "what it told last stands in for its figures")
			}
		case was && p.Err() == nil: // otherwise it was ended, and that is told of
			r.journal.now("process", name+" answers again", "")
		}
	}
	r.wereLate = names
	return names
}
