package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// agents starts agents of a session in the lab, and returns what waits for their ends.
func (l lab) agents(t *testing.T, of int, session string, brokers []string) (ended func() []invoked) {
	all := make([]invoked, of)
	var running sync.WaitGroup
	for i := range of {
		running.Go(func() {
			all[i] = l.invoke(t, "agent", "--session", session, "--index", fmt.Sprint(i), "--of", fmt.Sprint(of),
				"--brokers", strings.Join(brokers, ","), "--spool", t.TempDir())
		})
	}
	return func() []invoked {
		running.Wait()
		return all
	}
}

// Agents make one run together, as one process would: all that is scheduled is acknowledged
// and delivered once, and no agent sends what another one does.
func TestAgentsMakeARun(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e, out := l.start(t), t.TempDir()
		ended := l.agents(t, 3, "virtual", e.Bootstrap())
		got := l.invoke(t, "run", "quick", "--agents", "3", "--session", "virtual", "--brokers", strings.Join(e.Bootstrap(), ","),
			"--set", "load.producers=3", "--set", "consume.consumers=3", "--set", "load.pacer=frugal", "--out", out)
		if got.code != exitValid {
			t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
		for i, agent := range ended() {
			if agent.code != exitValid {
				t.Errorf("agent %d: exit code %d\n%s%s", i, agent.code, agent.stdout, agent.stderr)
			}
		}
		r := onlyRun(t, out).Run
		if r.Load.Scheduled == 0 || r.Load.Acked != r.Load.Scheduled || r.Delivery.Unique != r.Load.Acked || r.Delivery.Duplicates != 0 {
			t.Errorf("scheduled %d, acked %d, delivered %d, duplicates %d", r.Load.Scheduled, r.Load.Acked, r.Delivery.Unique,
				r.Delivery.Duplicates)
		}
	})
}
