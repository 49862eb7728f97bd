package crash

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var (
	kills     = flag.Int("kills", 0, "how many kills for each way of keeping a queue, here and on Apache Kafka; 0: one for each step, not on Kafka")
	brokers   = flag.Bool("brokers", false, "TestRealBrokers does everything, to queues of every kind: four minutes")
	onlyWay   = flag.String("way", "", "only the ways of keeping a queue whose name has this in it, in campaigns")
	killsSeed = flag.Uint64("kills.seed", 1, "what is killed when, and what becomes of a record")
	verbose   = flag.Bool("queue.log", false, "queues log to standard error")
	onlyFault = flag.String("fault", "", "of the faults, only those whose name has this in it, or all; empty: a few, those that differ most")
)

// TestMain is also what a child runs: see child_test.go.
func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		if err := runChild(spec); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(childFailed)
		}
		os.Exit(0)
	}
	// The tests wait for children more than they work.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	flag.Parse()
	for _, left := range leftOut() {
		fmt.Println("crash: left out by default:", left)
	}
	os.Exit(m.Run())
}

// leftOut says what these flags leave out, and how to have it.
func leftOut() []string {
	var all []string
	for _, one := range []struct {
		out  bool
		what string
	}{
		{*kills == 0, "kill campaigns beyond one kill for each step, and all on Apache Kafka: -kills 500 -timeout 3h"},
		{*onlyFault == "", "most faults of TestFaults, and the engine share there: -fault all"},
		{!*brokers, "most of TestRealBrokers: -brokers"},
	} {
		if one.out {
			all = append(all, one.what)
		}
	}
	return all
}
