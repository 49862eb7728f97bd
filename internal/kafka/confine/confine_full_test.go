//go:build full

package confine

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

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

func in(c *Cell, word string) (said string, used *os.ProcessState, err error) {
	line := c.Command([]string{os.Args[0], word})
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(cmd.Environ(), c.Env()...)
	out, err := cmd.CombinedOutput()
	return string(out), cmd.ProcessState, err
}

func wantFallback(t *testing.T, c *Cell) {
	t.Helper()
	if c.By() != Runtime || !strings.Contains(c.Note(), "the operating system does not enforce") || len(c.Env()) == 0 {
		t.Errorf("confined by %s, with %v and the note %q", c.By(), c.Env(), c.Note())
	}
	if _, known := c.Usage(); known {
		t.Error("the operating system tells the usage of what it does not hold")
	}
}

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

func TestCommandOutsideOfItsGroup(t *testing.T) {
	c := &Cell{limits: Limits{CPU: 1}, group: nowhere{}}
	if said, _, err := in(c, eatWord); err == nil || strings.HasPrefix(said, "ate") {
		t.Errorf("it ran: %q", said)
	}
}

type nowhere struct{}

func (nowhere) kind() string             { return V2 }
func (nowhere) entrances() []string      { return []string{"/nowhere/cgroup.procs"} }
func (nowhere) usage() (Usage, error)    { return Usage{}, errors.ErrUnsupported }
func (nowhere) oomKills() (int64, error) { return 0, errors.ErrUnsupported }
func (nowhere) remove() error            { return nil }
