package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// What may befall a target.
const (
	Kill  = "kill"
	Stop  = "stop"
	Start = "start"
)

// ConsumerTarget is the Kind of a Target that is a consumer of the group.
const ConsumerTarget = "consumer"

// An actOn is one of the things that a fault may do, and what it does it to.
type actOn struct {
	action string
	target Target
}

// acts are what f says that it does, one thing if f is valid.
func (f ScheduledFault) acts() (acts []actOn) {
	for _, a := range []actOn{{Kill, f.Kill}, {Stop, f.Stop}, {Start, f.Start}} {
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
	if t == (Target{}) {
		return ""
	}
	return fmt.Sprintf("%s %d", t.Kind, t.Number)
}

// MarshalText prints t as String does.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads "consumer 0".
func (t *Target) UnmarshalText(text []byte) error {
	kind, digits, _ := strings.Cut(string(text), " ")
	number, err := strconv.ParseUint(digits, 10, 31)
	if kind != ConsumerTarget || err != nil {
		return fmt.Errorf("%q is no target; write consumer and its number, as in: consumer 0", text)
	}
	*t = Target{Kind: kind, Number: int(number)}
	return nil
}
