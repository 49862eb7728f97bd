package scenario

import (
	"fmt"
	"strings"

	"kafka-bench/internal/unit"
)

// faults wants what goes wrong to be possible: in the measured window, in the
// order of the times, and befalling somebody who is there.
func (c *checker) faults(s Scenario) {
	const path = "faults"
	if len(s.Faults) == 0 {
		return
	}
	if len(s.Faults) > maxLevels {
		c.fault(path, fmt.Sprintf("it has %d faults", len(s.Faults)), fmt.Sprintf("give at most %d", maxLevels))
		return
	}
	g := s.Consume
	switch {
	case g.Consumers == 0:
		c.fault(path, "nobody consumes, so nothing befalls a consumer", "leave it out, or give consume.consumers", "consume.consumers")
		return
	case g.Assignment == "manual":
		c.fault(path, "manually assigned consumers are in no group that could notice", "leave it out, or set consume.assignment: group", "consume.assignment")
	case g.Groups > 1:
		c.fault(path, fmt.Sprintf("a consumer's number does not say in which of the %d groups it is", g.Groups),
			"leave it out, or set consume.groups: 1", "consume.groups")
	}
	crew := newCrew(g.Consumers)
	for i, f := range s.Faults {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.faultTime(at, f.At, s, i)
		if acts := f.acts(); len(acts) == 1 {
			c.fate(at, f, crew)
		} else {
			c.fault(at, fmt.Sprintf("it does %d things", len(acts)), "give exactly one of kill, stop and start, as in {at: 10s, kill: consumer 0}")
		}
	}
}

// faultTime wants the time of fault i in the window, and not before the one ahead
// of it. Two may come at one time.
func (c *checker) faultTime(at string, when unit.Duration, s Scenario, i int) {
	measure := s.Phases.Measure
	switch {
	case !c.duration(at+".at", when, 0, maxPhase):
	case measure > 0 && when >= measure:
		c.fault(at+".at", fmt.Sprintf("the fault comes at %s, and the measured window ends at %s", when, measure),
			"let it come earlier, or raise "+measurePath, measurePath)
	case i > 0 && when < s.Faults[i-1].At:
		c.fault(at+".at", fmt.Sprintf("%s is before the fault ahead of it, at %s", when, s.Faults[i-1].At),
			"give the faults in the order of their times", fmt.Sprintf("faults[%d].at", i-1))
	}
}

// fate wants f to befall a consumer that it can befall, and notes what became of
// it.
func (c *checker) fate(at string, f ScheduledFault, crew *crew) {
	n, action := f.Target().Number, f.Action()
	path := at + "." + action
	running, known := crew.runs(n)
	switch {
	case action == Start && !known && n == len(crew.running) && n < maxWorkers:
	case action == Start && !known:
		c.fault(path, fmt.Sprintf("consumer %d cannot be the next to join", n), fmt.Sprintf("start consumer %d", min(len(crew.running), maxWorkers-1)), "consume.consumers")
		return
	case action == Start && running:
		c.fault(path, fmt.Sprintf("consumer %d is running", n), fmt.Sprintf("stop it before, or start consumer %d for one more", len(crew.running)), "consume.consumers")
	case action != Start && !known:
		c.fault(path, fmt.Sprintf("there is no consumer %d", n), "they are "+crew.numbers(), "consume.consumers")
		return
	case action != Start && !running:
		c.fault(path, fmt.Sprintf("consumer %d is not running any more", n), "start it before", "consume.consumers")
	}
	crew.set(n, action == Start)
}

// crew are the consumers of a group as the faults before have left them.
type crew struct{ running []bool }

func newCrew(consumers int) *crew {
	c := &crew{running: make([]bool, min(max(0, consumers), maxWorkers))}
	for i := range c.running {
		c.running[i] = true
	}
	return c
}

// runs tells whether consumer n is running, and whether there ever was one.
func (c *crew) runs(n int) (running, known bool) {
	if n >= len(c.running) {
		return false, false
	}
	return c.running[n], true
}

// set notes that consumer n, a known one or the next, runs or does not.
func (c *crew) set(n int, running bool) {
	if n == len(c.running) {
		c.running = append(c.running, running)
		return
	}
	c.running[n] = running
}

// count is how many consumers are running.
func (c *crew) count() (n int) {
	for _, running := range c.running {
		if running {
			n++
		}
	}
	return n
}

// numbers are those that there are, as people say them.
func (c *crew) numbers() string {
	words := []string{"0"}
	if last := len(c.running) - 1; last > 0 {
		words = append(words, fmt.Sprint(last))
	}
	return strings.Join(words, " to ")
}
