package main

import (
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/run/bench"
)

const workerName = "worker"

func workerCommandLine() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program's own file: %w", err)
	}
	return []string{program, workerName}, nil
}

// workerCommand is started by a run, which controls it over standard input and ends it. It ignores
// an interrupt of the terminal, because the run handles interrupts.
func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: workerName, Hidden: true, Args: cobra.NoArgs,
		Short: "Work for a run; only a run calls this",
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(ends...)
			return bench.Worker(c.Context(), os.Stdin, os.Stdout, driverNamed)
		},
	}
}
