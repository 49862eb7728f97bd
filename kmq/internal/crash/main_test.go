package crash

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"kafkabench.example/kafka-bench/kmq/internal/step"
)

var (
	kills     = flag.Int("kills", 0, "how many kills for each way of keeping a queue, here and on Apache Kafka; 0: three at each step, and there one for each engine")
	brokers   = flag.Bool("brokers", false, "TestRealBrokers does everything, to queues of every kind: four minutes")
	onlyWay   = flag.String("way", "", "only the ways of keeping a queue whose name has this in it, in campaigns, TestFaults and TestRealBrokers")
	killsSeed = flag.Uint64("kills.seed", 1, "what is killed when, and what becomes of a record")
	verbose   = flag.Bool("queue.log", false, "queues log to standard error")
	onlyFault = flag.String("fault", "", "of the faults, only those whose name has this in it, or all; empty: a few, those that differ most")
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		if err := runChild(spec); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(childFailed)
		}
		os.Exit(0)
	}
	if err := showLabels(); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
	step.Hook = func(s step.Step) {
		if f := atStep.Load(); f != nil {
			(*f)(s)
		}
	}
	flag.Parse()
	for _, left := range leftOut() {
		fmt.Println("crash: left out by default:", left)
	}
	os.Exit(m.Run())
}
