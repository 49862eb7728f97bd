package confine

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// open opens a cell that the test's end closes.
func open(t *testing.T, l Limits) *Cell {
	t.Helper()
	c := Open(l)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("confined by %s; %s", c.By(), c.Note())
	return c
}

// in runs this binary in a cell.
func in(c *Cell, word string) (said string, used *os.ProcessState, err error) {
	line := c.Command([]string{os.Args[0], word})
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(cmd.Environ(), c.Env()...)
	out, err := cmd.CombinedOutput()
	return string(out), cmd.ProcessState, err
}

// wantFallback wants what a cell says that the operating system does not hold.
func wantFallback(t *testing.T, c *Cell) {
	t.Helper()
	if c.By() != Runtime || !strings.Contains(c.Note(), "the operating system does not hold") || len(c.Env()) == 0 {
		t.Errorf("confined by %s, with %v and the note %q", c.By(), c.Env(), c.Note())
	}
	if _, known := c.Usage(); known {
		t.Error("the operating system tells the usage of what it does not hold")
	}
}

// A process that would use a core has a quarter of one. Where others want the cores too
// it may get less than it may have, and has another try; in none it gets more.
func TestConfinedToAPartOfACore(t *testing.T) {
	const share, within, tries = 0.25, 0.05, 5
	for made := 1; ; made++ {
		c := open(t, Limits{CPU: share})
		b := burnIn(t, c)
		if c.By() == Runtime {
			wantFallback(t, c)
			return
		}
		if b.cores > share+within || b.own > share+within || math.Abs(b.cores-b.own) > within {
			t.Errorf("%v; want %v of a core", b, share)
		}
		if c.Env() != nil || c.Note() != "" {
			t.Errorf("beside its group it has %v and the note %q", c.Env(), c.Note())
		}
		if b.cores >= share-within && b.throttled > 0 { // for how long is a matter of who else wants the cores
			return
		}
		if made == tries {
			t.Fatalf("%v; want %v of a core, and no more for being throttled", b, share)
		}
		t.Logf("made again: %v", b)
	}
}

// burnt is what a process used that would use a core.
type burnt struct {
	cores     float64 // by its cell
	own       float64 // by its own account
	throttled time.Duration
}

func (b burnt) String() string {
	return fmt.Sprintf("it used %.3f of a core, by its own account %.3f, and was throttled for %v", b.cores, b.own, b.throttled)
}

// burnIn has a process burn in a cell, and tells what the operating system tells.
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

// A process that takes too much is killed, and that is told as what it was.
func TestConfinedToMemory(t *testing.T) {
	c := open(t, Limits{MemoryBytes: memoryLimit})
	said, _, err := in(c, eatWord)
	if c.By() == Runtime {
		wantFallback(t, c)
		return
	}
	if err == nil {
		t.Fatalf("it took four times its limit: %s", said)
	}
	if why := c.Why(err); why.Error() != "killed by the operating system at its memory limit of 64 MiB" {
		t.Errorf("it ended because: %v", why)
	}
}

// A process that ends by itself ended by itself, and keeps its place under the limit.
func TestConfinedAndWell(t *testing.T) {
	c := open(t, Limits{CPU: 1.5, MemoryBytes: memoryLimit})
	said, _, err := in(c, tellWord)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	ended := errors.New("exit status 3")
	if why := c.Why(ended); !errors.Is(why, ended) {
		t.Errorf("it ended because: %v", why)
	}
}

// Without control groups the runtime is told, rounded up to whole cores.
func TestConfinedByTheRuntime(t *testing.T) {
	c := &Cell{limits: Limits{CPU: 0.25, MemoryBytes: memoryLimit}, why: "it has none"}
	wantFallback(t, c)
	for _, want := range []string{"(it has none)", "GOMAXPROCS=1", "GOMEMLIMIT"} {
		if !strings.Contains(c.Note(), want) {
			t.Errorf("%q does not say %q", c.Note(), want)
		}
	}
	if said, _, err := in(c, tellWord); err != nil || said != "1 67108864" {
		t.Errorf("the process has %q, %v; want 1 and 67108864", said, err)
	}
	if command := []string{"a", "b"}; !slices.Equal(c.Command(command), command) {
		t.Errorf("it is started by %v", c.Command(command))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if c := Open(Limits{}); c.By() != Runtime || c.Note() != "" || c.Env() != nil {
		t.Errorf("without limits: %s, %q, %v", c.By(), c.Note(), c.Env())
	}
}

func TestInWords(t *testing.T) {
	for bytes, want := range map[int64]string{64 << 20: "64 MiB", 1 << 30: "1 GiB", 100e6: "100 MB", 12345: "12345 B"} {
		if got := inWords(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}

// A process that could not be put into its group does not run outside of it.
func TestCommandOutsideOfItsGroup(t *testing.T) {
	c := &Cell{limits: Limits{CPU: 1}, group: nowhere{}}
	began := time.Now()
	if said, _, err := in(c, burnWord); err == nil || time.Since(began) > burnFor {
		t.Errorf("it ran: %q", said)
	}
}

// nowhere is a group that can't be entered.
type nowhere struct{}

func (nowhere) kind() string             { return V2 }
func (nowhere) entrances() []string      { return []string{"/nowhere/cgroup.procs"} }
func (nowhere) usage() (Usage, error)    { return Usage{}, errors.ErrUnsupported }
func (nowhere) oomKills() (int64, error) { return 0, errors.ErrUnsupported }
func (nowhere) remove() error            { return nil }
