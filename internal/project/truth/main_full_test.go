//go:build full

package truth

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerWord {
		franzAlone := func(string) (driver.Driver, error) { return franz.New(), nil }
		if err := bench.Worker(context.Background(), os.Stdin, os.Stdout, franzAlone); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv(childVariable); dir != "" {
		if err := runUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	// Runs on a real clock mostly wait, so more of them run at once than there are cores.
	if err := flag.Set("test.parallel", "4"); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	flag.Parse()
	os.Exit(m.Run())
}
