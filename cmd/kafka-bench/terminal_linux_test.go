package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

func openTerminal(t *testing.T) *os.File {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal
}

func TestTerminalsAreObeyed(t *testing.T) {
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	terminal := openTerminal(t)
	for _, c := range []struct {
		out             *os.File
		term, noColor   string
		redrawn, colour bool
	}{
		{terminal, "xterm", "", true, true},
		{terminal, "xterm", "1", true, false},
		{terminal, "dumb", "", false, false},
		{pipe, "xterm", "", false, false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		if got := [2]bool{obeys(c.out), coloured(c.out)}; got != [2]bool{c.redrawn, c.colour} {
			t.Errorf("%s, TERM=%s NO_COLOR=%s: redrawn and coloured are %v", c.out.Name(), c.term, c.noColor, got)
		}
	}
}

func TestNoPageOnATerminal(t *testing.T) {
	recorded(t)
	for _, args := range []string{"report runs/base-1", "compare runs/base-1 runs/slow-1", "history base"} {
		root := rootCommand(surroundings{})
		root.SetArgs(append(strings.Fields(args), "--format", "html"))
		root.SetOut(openTerminal(t))
		err := root.Execute()
		if err == nil || err.Error() != "--format html is a page for a browser; add > page.html" || exitCode(io.Discard, err) != exitBadInput {
			t.Errorf("%s: %v", args, err)
		}
	}
}
