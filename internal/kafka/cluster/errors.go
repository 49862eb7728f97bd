package cluster

import (
	"errors"
	"strings"
)

// The kinds of errors, for errors.Is.
var (
	// ErrInput: an option, a cluster ID or a name is wrong.
	ErrInput = errors.New("bad input")
	// ErrUnavailable: a local broker did not start, or this machine lacks Java, Maven, disk space, or the network
	// for the first download.
	ErrUnavailable = errors.New("no local Kafka")
	// ErrUnreachable: the brokers of a cluster do not answer.
	ErrUnreachable = errors.New("cluster out of reach")
	// ErrRefused: the cluster rejected a request.
	ErrRefused = errors.New("refused by the cluster")
	// ErrNotUp: no long-lived cluster has that name.
	ErrNotUp = errors.New("cluster is not up")
	// ErrAlreadyUp: a long-lived cluster already has that name.
	ErrAlreadyUp = errors.New("cluster is already up")
)

// Error is an error with its remedy, in sentences for the user.
type Error struct {
	Kind   error    // one of the Err variables of this package
	What   string   // what is wrong, naming the thing
	Remedy string   // may be empty
	Log    []string // the last lines of the log that explains it; may be empty
	Cause  error    // may be nil
}

// Error returns what is wrong, the cause and the remedy on one line, and the log below it.
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

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
