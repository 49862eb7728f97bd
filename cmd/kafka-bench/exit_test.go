package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/fleet"
)

func TestExitCodes(t *testing.T) {
	silent := []error{nil, errInvalid, errFailed, errUndecided} // the output has said it
	for code, errs := range map[int][]error{
		exitValid: {nil},
		exitInvalid: {errInvalid, errNotHandedIn, fmt.Errorf("%w: %w", bench.ErrNotSaved, errors.New("the disk is full")),
			fmt.Errorf("%w: agent 1", campaign.ErrAgentLost)},
		exitBadInput:    {errors.New("any other"), &cluster.Error{Kind: cluster.ErrInput}, cluster.ErrAlreadyUp},
		exitUnreachable: {cluster.ErrUnreachable, cluster.ErrRefused, cluster.ErrUnavailable, cluster.ErrNotUp},
		exitFailed:      {errFailed},
		exitGuarded:     {fmt.Errorf("%w: the disk is full", bench.ErrGuarded)},
		exitUndecided:   {errUndecided, fmt.Errorf("%w: too few runs", errUndecided)},
		exitInterrupted: {errInterrupted, context.Canceled, fmt.Errorf("%w; 1 of 2 runs are made", errInterrupted)},
	} {
		for _, err := range errs {
			var stderr strings.Builder
			if got := exitCode(&stderr, err); got != code {
				t.Errorf("%v has exit code %d, want %d", err, got, code)
			}
			if said := stderr.String(); strings.Count(said, "\n") > 1 || (said == "") != slices.Contains(silent, err) {
				t.Errorf("%v says %q", err, said)
			}
		}
	}
}

// Of two errors together, the one that comes first here gives the code.
func TestExitPrecedence(t *testing.T) {
	order := []struct {
		code int
		err  error
	}{
		{exitInterrupted, errInterrupted},
		{exitUnreachable, &cluster.Error{Kind: cluster.ErrUnreachable, Cause: errors.Join(errors.New("a"), errors.New("b"))}},
		{exitUnreachable, fmt.Errorf("%w: 2 of 3", fleet.ErrAgents)},
		{exitBadInput, errors.New("the page could not be written")},
		{exitInvalid, errInvalid},
		{exitInvalid, fmt.Errorf("%w: %w", bench.ErrNotSaved, errors.Join(errors.New("a"), errors.New("b")))},
		{exitFailed, errFailed},
		{exitUndecided, errUndecided},
	}
	for i, first := range order {
		for _, second := range order[i:] {
			for _, err := range []error{
				errors.Join(first.err, second.err), with(second.err, first.err), errors.Join(nil, errors.Join(second.err), first.err),
			} {
				if got := exitCode(io.Discard, err); got != first.code {
					t.Errorf("%q has exit code %d, want %d", err, got, first.code)
				}
			}
		}
	}
	if wrapped := fmt.Errorf("%w; go on with …", errors.Join(errors.New("any"), errFailed)); exitCode(io.Discard, wrapped) != exitFailed {
		t.Errorf("%q has exit code %d: what an error wraps only describes it", wrapped, exitCode(io.Discard, wrapped))
	}
}
