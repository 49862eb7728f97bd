// Command kafka-bench measures what the users of an Apache Kafka feel.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(exitCode(os.Stderr, run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)))
}
