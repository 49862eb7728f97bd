package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What may befall a target.
const (
	Kill  = "kill"
	Stop  = "stop"
	Start = "start"

	Pause   = "pause"
	Resume  = "resume"
	Restart = "restart"
)

// Kinds of Targets.
const (
	ConsumerTarget = "consumer"            // of the group
	BrokerTarget   = "broker"              // by its ID
	LeaderTarget   = "leader of partition" // the broker that leads it when the fault comes
	EveryBroker    = "every broker"        // for Restart
)

// A state is what has become of somebody whom faults befall.
type state int

const (
	running state = iota
	gone          // killed or stopped
	paused
)

// An effect is what an action does to its target. Whoever needs to know asks this table.
type effect struct {
	leaves state  // the state in which the target is afterwards
	undo   string // the action that undoes it; "" if nothing is left to undo
	mends  bool   // the action undoes what others did
}

var effects = map[string]effect{
	Kill:    {leaves: gone, undo: Start},
	Stop:    {leaves: gone, undo: Start},
	Start:   {leaves: running, mends: true},
	Pause:   {leaves: paused, undo: Resume},
	Resume:  {leaves: running, mends: true},
	Restart: {leaves: running},
}

// Opposite is the action that undoes another, as Start undoes Kill; "" if none does.
func Opposite(action string) string { return effects[action].undo }

// Mends reports whether an action undoes others: Start and Resume do.
func Mends(action string) bool { return effects[action].mends }

// An actOn is one of the things that a fault may do, and what it does it to.
type actOn struct {
	action string
	target Target
}

// acts are what f says that it does, one thing if f is valid.
func (f ScheduledFault) acts() (acts []actOn) {
	for _, a := range []actOn{
		{Kill, f.Kill}, {Stop, f.Stop}, {Start, f.Start},
		{Pause, f.Pause}, {Resume, f.Resume}, {Restart, f.Restart},
	} {
		if a.target != (Target{}) {
			acts = append(acts, a)
		}
	}
	return acts
}

// Action is what f does to its Target: Kill, Stop or Start; "" where f says
// nothing.
func (f ScheduledFault) Action() string {
	if acts := f.acts(); len(acts) > 0 {
		return acts[0].action
	}
	return ""
}

// Target is what f befalls.
func (f ScheduledFault) Target() Target {
	if acts := f.acts(); len(acts) > 0 {
		return acts[0].target
	}
	return Target{}
}

// String prints f as people say it: kill consumer 0.
func (f ScheduledFault) String() string { return f.Action() + " " + f.Target().String() }

// String prints t as a scenario writes it.
func (t Target) String() string {
	switch t.Kind {
	case "", EveryBroker:
		return t.Kind
	}
	return fmt.Sprintf("%s %d", t.Kind, t.Number)
}

// MarshalText prints t as String does.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what String prints.
func (t *Target) UnmarshalText(text []byte) error {
	if string(text) == EveryBroker {
		*t = Target{Kind: EveryBroker}
		return nil
	}
	at := max(0, strings.LastIndexByte(string(text), ' '))
	kind, digits := string(text[:at]), strings.TrimSpace(string(text[at:]))
	number, err := strconv.ParseUint(digits, 10, 31)
	if !slices.Contains([]string{ConsumerTarget, BrokerTarget, LeaderTarget}, kind) || err != nil {
		return fmt.Errorf("%q is no target; write consumer 0, broker 1, leader of partition 0, or every broker", text)
	}
	*t = Target{Kind: kind, Number: int(number)}
	return nil
}
