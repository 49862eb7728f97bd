package bench_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

const workerWord = "worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerWord {
		franzAlone := func(string) (driver.Driver, error) { return franz.New(), nil }
		if err := bench.Worker(context.Background(), os.Stdin, os.Stdout, franzAlone); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
