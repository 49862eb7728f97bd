package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/run/bench"
)

// workerName is the command that makes this program a process of a run's.
const workerName = "worker"

// workerCommandLine is how such a process is started.
func workerCommandLine() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program's own file: %w", err)
	}
	return []string{program, workerName}, nil
}

// workerCommand has no interface for people: a run starts it, tells it what to do on
// its standard input, and ends it. An interrupt at the terminal reaches both; the run
// decides what becomes of it.
func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: workerName, Hidden: true, Args: cobra.NoArgs,
		Short: "Work for a run; only a run calls this",
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
			return bench.Worker(c.Context(), os.Stdin, os.Stdout, driverNamed)
		},
	}
}
