package truth

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// childVariable makes the test binary play a tool that will be killed: its value
// is the folder that it works in (see ending_test.go).
const childVariable = "KAFKA_BENCH_TRUTH_CHILD"

// workerWord makes the test binary a process that works for a run.
const workerWord = "worker"

// workerCommand starts it.
var workerCommand = []string{os.Args[0], workerWord}

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
	flag.Parse()
	// The runs wait far more than they work: more of them fit side by side than
	// there are cores.
	if err := flag.Set("test.parallel", "4"); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "error: stop Kafka:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// shared is the one real broker of the package, started by the first test that
// asks for it.
var shared sharedKafka

type sharedKafka struct {
	once  sync.Once
	kafka *cluster.Kafka
	err   error
}

// The broker's session must outlive the stall, or the controller would fence
// the broker when both wake up; and it should be short, because after a kill
// the controller waits for it to expire.
var sharedConfig = map[string]string{
	"broker.heartbeat.interval.ms": "500",
	"broker.session.timeout.ms":    "4500",
	// Share groups may have short locks, deliver often, and miss a member soon.
	"group.share.min.record.lock.duration.ms": "1000",
	"group.share.delivery.count.limit":        "10",
	"group.share.min.session.timeout.ms":      "1000",
	"group.share.session.timeout.ms":          "3000",
	"group.share.min.heartbeat.interval.ms":   "100",
	"group.share.heartbeat.interval.ms":       "500",
}

func (s *sharedKafka) start() {
	home, err := cluster.UserHome()
	if err != nil {
		s.err = err
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s.kafka, s.err = home.StartKafka(ctx, cluster.KafkaOptions{Config: sharedConfig})
}

func (s *sharedKafka) stop() error {
	if s.kafka == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.kafka.Stop(ctx)
}

// realKafka returns the package's broker.
func realKafka(t *testing.T) *cluster.Kafka {
	t.Helper()
	shared.once.Do(shared.start)
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.kafka
}

// embedded starts an embedded cluster that the test's end stops.
func embedded(t *testing.T, opts cluster.EmbeddedOptions) *cluster.Embedded {
	t.Helper()
	e, err := cluster.StartEmbedded(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(context.Background()) })
	return e
}
