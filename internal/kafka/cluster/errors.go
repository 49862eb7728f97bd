package cluster

import (
	"errors"
	"strings"
)

// Kinds of failures, to be asked for with errors.Is. The command line maps them
// to exit codes.
var (
	// ErrInput: what was asked for is wrong (an option, a cluster ID, a name).
	ErrInput = errors.New("bad input")
	// ErrUnavailable: this machine lacks what a local Kafka needs (Java,
	// Maven, disk space, the network for the first download), or the broker
	// did not start.
	ErrUnavailable = errors.New("no local Kafka")
	// ErrUnreachable: the brokers of a cluster do not answer.
	ErrUnreachable = errors.New("cluster out of reach")
	// ErrRefused: the cluster answered, and said no.
	ErrRefused = errors.New("refused by the cluster")
	// ErrNotUp: there is no long-lived cluster of that name.
	ErrNotUp = errors.New("cluster is not up")
	// ErrAlreadyUp: there is a long-lived cluster of that name already.
	ErrAlreadyUp = errors.New("cluster is already up")
)

// Error is a failure with its remedy, in sentences for the person in front of
// the terminal.
type Error struct {
	Kind   error    // one of the Err variables of this package
	What   string   // what is wrong, naming the thing
	Remedy string   // what would put it right; may be empty
	Log    []string // the last lines of the log that explains it; may be empty
	Cause  error    // may be nil
}

// Error returns what is wrong, the cause and the remedy on one line, and the
// log below it.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.What)
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	for _, line := range e.Log {
		b.WriteString("\n  | " + line)
	}
	return b.String()
}

// Unwrap makes errors.Is find the kind as well as the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
