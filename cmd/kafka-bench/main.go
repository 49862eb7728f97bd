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
	dumpNoCore()
	os.Exit(exitCode(os.Stderr, run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)))
}
