package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	Kill  = "kill"
	Stop  = "stop"
	Start = "start"

	Pause   = "pause"
	Resume  = "resume"
	Restart = "restart"
)

const (
	ConsumerTarget = "consumer"            // of the group
	BrokerTarget   = "broker"              // by its ID
	LeaderTarget   = "leader of partition" // the broker that leads it at the time of the fault
	EveryBroker    = "every broker"        // for Restart
)

type state int

const (
	running state = iota
	gone          // killed or stopped
	paused
)

type effect struct {
	leaves state // the target's state afterwards
	undo   string
	mends  bool
}

var effects = map[string]effect{
	Kill:    {leaves: gone, undo: Start},
	Stop:    {leaves: gone, undo: Start},
	Start:   {leaves: running, mends: true},
	Pause:   {leaves: paused, undo: Resume},
	Resume:  {leaves: running, mends: true},
	Restart: {leaves: running},
}

// Opposite returns the action that undoes action, as Start undoes Kill; "" if there is none.
func Opposite(action string) string { return effects[action].undo }

// Mends reports whether an action undoes others: Start and Resume do.
func Mends(action string) bool { return effects[action].mends }

type actOn struct {
	action string
	target Target
}

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

// Action returns the action of f, such as Kill, or "" if it has none.
func (f ScheduledFault) Action() string {
	if acts := f.acts(); len(acts) > 0 {
		return acts[0].action
	}
	return ""
}

// Target returns the target of f.
func (f ScheduledFault) Target() Target {
	if acts := f.acts(); len(acts) > 0 {
		return acts[0].target
	}
	return Target{}
}

// String returns f as text, such as "kill consumer 0".
func (f ScheduledFault) String() string { return f.Action() + " " + f.Target().String() }

// String returns t as a scenario writes it.
func (t Target) String() string {
	switch t.Kind {
	case "", EveryBroker:
		return t.Kind
	}
	return fmt.Sprintf("%s %d", t.Kind, t.Number)
}

// MarshalText returns the text of String.
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
