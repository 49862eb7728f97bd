package crash

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var (
	kills     = flag.Int("kills", 0, "how many kills for each way of keeping a queue; 0 is a number that CI has time for")
	killsSeed = flag.Uint64("kills.seed", 1, "what is killed when, and what becomes of a record")
	verbose   = flag.Bool("queue.log", false, "queues log to standard error")
	onlyFault = flag.String("fault", "", "of the faults, only those whose name has this in it")
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
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
