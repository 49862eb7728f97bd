package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/fleet"
)

// The exit codes are part of the command line's contract.
const (
	exitValid       = 0
	exitInvalid     = 1 // a run is invalid, or no rate holds
	exitBadInput    = 2
	exitUnreachable = 3 // Kafka is not reachable, refuses, or cannot be started
	exitFailed      = 4 // an expectation or a condition of --fail-if does not hold
	exitGuarded     = 5 // a guard of the cluster ended a run
	exitUndecided   = 6 // an expectation or a condition of --fail-if is not decided
	exitInterrupted = 130
)

// precedence orders the codes of errors that occur together: the first one wins.
var precedence = []int{exitInterrupted, exitGuarded, exitUnreachable, exitBadInput, exitInvalid, exitFailed, exitUndecided}

// errInvalid, errFailed and errUndecided end a command whose output has already said everything.
var (
	errInvalid       = errors.New("a run is invalid")
	errFailed        = errors.New("an expectation does not hold")
	errUndecided     = errors.New("undecided")
	errInterrupted   = errors.New("interrupted")
	errNotHandedIn   = errors.New("the agent did not hand in its part")
	errNoCoordinator = errors.New("the agent has no coordinator")
)

// kinds has the code of each kind of error, in the order of precedence. All others are bad input.
var kinds = []struct {
	err  error
	code int
}{
	{errInterrupted, exitInterrupted}, {context.Canceled, exitInterrupted},
	{bench.ErrGuarded, exitGuarded},
	{errNoCoordinator, exitUnreachable}, {fleet.ErrAgents, exitUnreachable},
	{cluster.ErrUnreachable, exitUnreachable}, {cluster.ErrRefused, exitUnreachable},
	{cluster.ErrUnavailable, exitUnreachable}, {cluster.ErrNotUp, exitUnreachable},
	{errInvalid, exitInvalid}, {errNotHandedIn, exitInvalid}, {bench.ErrNotSaved, exitInvalid},
	{bench.ErrNoPart, exitInvalid}, {campaign.ErrAgentLost, exitInvalid},
	{errFailed, exitFailed}, {errUndecided, exitUndecided},
}

func with(outcome, failed error) error {
	if failed == nil {
		return outcome
	}
	return errors.Join(outcome, failed)
}

// Only exitCode maps errors to codes. Mistakes of a scenario begin with their place, without the
// program's name, so that a terminal or an editor can open the file.
func exitCode(stderr io.Writer, err error) int {
	if err == nil {
		return exitValid
	}
	var mistakes scenario.Mistakes
	switch {
	case slices.Contains([]error{errInvalid, errFailed, errUndecided}, err): // alone: the output has said it
	case errors.As(err, &mistakes):
		fmt.Fprintln(stderr, textfile.Lines(err.Error()))
	default:
		for line := range strings.SplitSeq("kafka-bench: "+textfile.Lines(err.Error()), "\n") {
			if strings.HasPrefix(line, " ") { // of a table, or a command
				fmt.Fprintln(stderr, line)
			} else {
				printWrapped(stderr, "%s", line)
			}
		}
	}
	codes := codesOf(err)
	for _, code := range precedence {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return exitBadInput
}

var joined = reflect.TypeOf(errors.Join(errInvalid))

// codesOf returns a code for each error that err joins. Any other error that wraps several is one
// error, and parts of an unknown kind only describe it.
func codesOf(err error) (codes []int) {
	if reflect.TypeOf(err) == joined {
		for _, part := range err.(interface{ Unwrap() []error }).Unwrap() {
			codes = append(codes, codesOf(part)...)
		}
		return codes
	}
	for _, kind := range kinds {
		if errors.Is(err, kind.err) {
			return []int{kind.code}
		}
	}
	return []int{exitBadInput}
}
