package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/fleet"
)

// The exit codes are part of the command line's contract.
const (
	exitValid       = 0
	exitInvalid     = 1 // a run was invalid, or an expectation failed
	exitBadInput    = 2
	exitUnreachable = 3 // Kafka is not reachable, refuses, or cannot be started
	exitInterrupted = 130
)

// errInvalid and errInterrupted end a command whose output has already said everything.
var (
	errInvalid       = errors.New("a run is invalid")
	errInterrupted   = errors.New("interrupted")
	errNotHandedIn   = errors.New("the agent did not hand in its part")
	errNoCoordinator = errors.New("the agent has no coordinator")
)

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
	case err == errInvalid: //nolint:errorlint // alone: the report has said it already
	case errors.As(err, &mistakes):
		fmt.Fprintln(stderr, err)
	default:
		fmt.Fprintf(stderr, "kafka-bench: %v\n", err)
	}
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errNoCoordinator), errors.Is(err, fleet.ErrAgents):
		return exitUnreachable
	case errors.Is(err, errInvalid), errors.Is(err, errNotHandedIn), errors.Is(err, bench.ErrNotSaved),
		errors.Is(err, bench.ErrNoPart), errors.Is(err, campaign.ErrAgentLost):
		return exitInvalid
	}
	for _, kind := range []error{cluster.ErrUnreachable, cluster.ErrRefused, cluster.ErrUnavailable, cluster.ErrNotUp} {
		if errors.Is(err, kind) {
			return exitUnreachable
		}
	}
	return exitBadInput
}
