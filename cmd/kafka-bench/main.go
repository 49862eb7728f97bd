// Command kafka-bench measures end-to-end latency, consumer lag and delivery of Apache
// Kafka, with and without backpressure.
//
// Files to know: one file for each command, exit.go (the exit code of each error),
// drivers.go (the only list of drivers), view.go.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(program(os.Args[1:]))
}

// program is the whole process, and returns its exit code.
func program(args []string) int {
	dumpNoCore()
	stdout, stderr := outOf(os.Stdout), outOf(os.Stderr)
	return exitCode(stderr, run(context.Background(), args, stdout, stderr))
}
