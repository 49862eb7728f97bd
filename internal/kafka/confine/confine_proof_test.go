//go:build proof

package confine

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// If other processes compete for the cores, the process gets less, and is throttled less.
func TestConfinedToAPartOfACore(t *testing.T) {
	const share, within = 0.25, 0.05
	c := open(t, Limits{CPU: share})
	b := burnIn(t, c)
	if c.By() == Runtime {
		wantFallback(t, c)
		return
	}
	stood := b.throttled.Seconds() / burnFor.Seconds()
	had := b.cores > share-within
	if b.cores > share+within || math.Abs(b.cores-b.own) > within || had && stood == 0 || b.cores/(b.cores+stood) < share/2 {
		t.Errorf("%v; want %v of a core, and no more for being throttled", b, share)
	}
	if c.Env() != nil || c.Note() != "" {
		t.Errorf("beside its group it has %v and the note %q", c.Env(), c.Note())
	}
}

type burnt struct {
	cores     float64 // from its cell
	own       float64 // from getrusage
	throttled time.Duration
}

func (b burnt) String() string {
	return fmt.Sprintf("it used %.3f of a core, by its own account %.3f, and was throttled for %v", b.cores, b.own, b.throttled)
}

func burnIn(t *testing.T, c *Cell) burnt {
	t.Helper()
	said, used, err := in(c, burnWord)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	u, known := c.Usage()
	if !known && c.By() != Runtime {
		t.Fatal("what was used is not known")
	}
	return burnt{
		cores:     u.CPU.Seconds() / burnFor.Seconds(),
		own:       (used.UserTime() + used.SystemTime()).Seconds() / burnFor.Seconds(),
		throttled: u.Throttled,
	}
}
