package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"kafkabench.example/kafka-bench/internal/result"
)

func (l lab) agents(t *testing.T, of int, session, brokers string, more ...string) (ended func() []invoked) {
	return agents(t, slices.Repeat([]lab{l}, of), session, brokers, more...)
}

func agents(t *testing.T, in []lab, session, brokers string, more ...string) (ended func() []invoked) {
	all := make([]invoked, len(in))
	var running sync.WaitGroup
	for i, l := range in {
		running.Go(func() {
			all[i] = l.invoke(t, append([]string{"agent", "--session", session, "--index", fmt.Sprint(i),
				"--of", fmt.Sprint(len(in)), "--brokers", brokers}, more...)...)
		})
	}
	return func() []invoked {
		running.Wait()
		return all
	}
}

// byTwo invokes a command and lets two agents make its runs.
func (l lab) byTwo(t *testing.T, command, session, brokers, out, more string) invoked {
	const shared = " --agents 2 --set load.producers=2 --set consume.consumers=2 --set topic.partitions=4 "
	args := []string{command, write(t, tiny), "--session", session, "--brokers", brokers, "--out", out}
	return l.invoke(t, append(args, strings.Fields(shared+more)...)...)
}

// Agents make one run as one process would: each scheduled record is acked and delivered once.
func TestAgentsMakeARun(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e, out := l.start(t), t.TempDir()
		brokers := strings.Join(e.Bootstrap(), ",")
		ended := l.agents(t, 3, "virtual", brokers, "--spool", t.TempDir())
		got := l.invoke(t, "run", "quick", "--agents", "3", "--session", "virtual", "--brokers", brokers,
			"--expect", "lost = 0", "--expect", "acked_per_s > 4k/s in every 1s",
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
		wantSaid(t, got.stdout, "EXPECTED MET  lost is 0, expected = 0\nEXPECTED MET  acked_per_s is ")
	})
}

// A campaign with agents can be resumed only with as many agents.
func TestAgentsGoOnWithACampaign(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e, out := l.start(t), t.TempDir()
		brokers := strings.Join(e.Bootstrap(), ",")
		ended := l.agents(t, 2, "first", brokers, "--spool", t.TempDir())
		got := l.interrupted(35*time.Second).invoke(t, "run", write(t, tiny), "--repeat", "2", "--agents", "2", "--session", "first", "--brokers", brokers,
			"--set", "load.producers=2", "--set", "consume.consumers=2", "--set", "topic.partitions=4", "--set", "phases.measure=20s", "--set", "sampling.interval=5s", "--out", out)
		ended()
		c := onlyCampaign(t, out)
		resume := "interrupted; 1 of 2 runs are made, go on with: kafka-bench run --resume " + c.Dir + " --brokers " + brokers + " --agents 2"
		if got.code != exitInterrupted || got.message() != resume {
			t.Fatalf("exit code %d and\n%s, want\n%s", got.code, got.message(), resume)
		}
		wantBad(t, l.invoke(t, "run", "--resume", c.Dir, "--brokers", brokers), c.Dir+": the campaign was begun with 2 agents (own), "+
			"and would go on with no agents: its runs would not compare; give the same agents, or begin a new campaign")
		ended = l.agents(t, 2, "second", brokers, "--spool", t.TempDir())
		if got := l.invoke(t, "run", "--resume", c.Dir, "--brokers", brokers, "--agents", "2", "--session", "second"); got.code != exitValid {
			t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
		ended()
		for _, run := range onlyCampaign(t, out).Runs {
			if run == nil || len(run.Run.Agents) != 2 {
				t.Errorf("a run without two agents: %+v", run)
			}
		}
	})
}

// A lost agent ends the campaign, because no other agent takes its place. The run that lost it is
// invalid, but counts as made: --resume does not repeat it.
func TestCampaignLosesAnAgent(t *testing.T) {
	for reason, times := range map[string]int{result.EndedEarly: 1, "its part is missing": 2} {
		virtually(t, func(t *testing.T, l lab) {
			e, out := l.start(t), t.TempDir()
			brokers := strings.Join(e.Bootstrap(), ",")
			of := func(session string, other lab) func() []invoked {
				return agents(t, []lab{l, other}, session, brokers, "--spool", t.TempDir())
			}
			ended := of("first", l.interruptedTimes(times, 33*time.Second))
			got := l.byTwo(t, "run", "first", brokers, out, "--repeat 3 --page --set phases.measure=20s --set sampling.interval=5s")
			ended()
			c := onlyCampaign(t, out)
			agent := c.Runs[1].Run.Agents[1]
			lost := agent.String() + ": " + strings.Join(agent.Reasons, "; ")
			resume := "an agent was lost: " + lost + "; 2 of 3 runs are made, go on with: kafka-bench run --resume " + c.Dir +
				" --brokers " + brokers + " --agents 2 --page"
			if got.code != exitInvalid || got.message() != resume || !strings.Contains(lost, reason) {
				t.Errorf("exit code %d and\n%s, want\n%s", got.code, got.message(), resume)
			}
			wantSaid(t, got.stderr, "INVALID: "+agent.String()+": ")
			wantSaid(t, got.stdout, "2 of 3 planned runs made, 1 valid",
				"Run 2, s: an agent was lost: "+agent.String())
			page, err := os.ReadFile(filepath.Join(c.Dir, pageFile))
			if err != nil {
				t.Fatal(err)
			}
			wantSaid(t, string(page), "Run 2, s: an agent was lost: "+lost)
			if strings.Contains(got.stdout+string(page), "interrupted and left out") {
				t.Errorf("the user interrupted nothing:\n%s", got.stdout)
			}
			ended = of("second", l)
			got = l.invoke(t, "run", "--resume", c.Dir, "--brokers", brokers, "--agents", "2", "--session", "second")
			ended()
			c = onlyCampaign(t, out)
			if runs := c.Campaign.Runs; got.code != exitInvalid || !c.Campaign.Finished() || runs[2].Status != result.Valid {
				t.Errorf("resumed: exit code %d, %+v\n%s%s", got.code, runs, got.stdout, got.stderr)
			}
		})
	}
}

func TestSearchLosesAnAgent(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e, out := l.start(t), t.TempDir()
		brokers := strings.Join(e.Bootstrap(), ",")
		ended := agents(t, []lab{l, l.interrupted(10 * time.Second)}, "found", brokers, "--spool", t.TempDir())
		got := l.byTwo(t, "search", "found", brokers, out, "--probe 20s --set sampling.interval=5s --curve-of 1k/s")
		ended()
		c := onlySearch(t, out)
		lost := "an agent was lost: " + c.Runs[0].Run.Agents[1].String() + ": " + result.EndedEarly
		if got.code != exitInvalid || got.message() != lost {
			t.Errorf("exit code %d and\n%s, want\n%s", got.code, got.stderr, lost)
		}
		want := "The curve ended early (" + lost + "): no rate was tried."
		if c.Campaign.Search.Answer != want || c.Campaign.Runs[0].Status != result.Invalid || c.Campaign.Finished() {
			t.Errorf("saved %+v, %s", c.Campaign.Runs, c.Campaign.Search.Answer)
		}
	})
}

// If the user interrupts the run command during the drain, it exits as interrupted, even if an
// agent's part is invalid for another reason: here its clock. If an agent is interrupted, the run
// is invalid.
func TestInterruptInTheDrainOfAgents(t *testing.T) {
	for who, c := range map[string]struct {
		code, lost int
	}{"the run": {exitInterrupted, 0}, "agent 1": {exitInvalid, 1}} {
		virtually(t, func(t *testing.T, l lab) {
			l.embedded.ProduceDelay = 200 * time.Millisecond
			e, out := l.start(t), t.TempDir()
			brokers := strings.Join(e.Bootstrap(), ",")
			user, other := l.interrupted(20*time.Second), l
			if c.lost > 0 {
				user, other = other, user
			}
			ended := agents(t, []lab{l, other}, "drained", brokers, "--spool", t.TempDir(), "--clock", "kafka")
			got := user.byTwo(t, "run", "drained", brokers, out, "--set phases.measure=10s --set phases.drain=20s "+
				"--set consume.work=20ms --set sampling.interval=5s")
			ended()
			r := onlyRun(t, out).Run
			inDrain := r.Run.Interrupted && r.Run.Phases[1].EndNs == 10e9
			if got.code != c.code || !inDrain || len(r.Agents[1].Reasons) != 1+c.lost {
				t.Errorf("interrupt of %s: exit code %d, %+v\n%s%s", who, got.code, r.Agents, got.stdout, got.stderr)
			}
			if lost := r.Lost(); len(lost) != c.lost || c.lost > 0 && lost[0].Index != 1 {
				t.Errorf("interrupt of %s: lost are %+v", who, lost)
			}
		})
	}
}

// Neither the cluster's password nor the session's key is in a control record, spool, result or
// output.
func TestAgentsKeepSecrets(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers, out, spool := securedBrokers(t, l), t.TempDir(), t.TempDir()
		config, key := ofAlice(t, password), filepath.Join(t.TempDir(), "session.key")
		text := newKey()
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		records := l.controlRecords(t, brokers, "kafka-bench-control-secret")
		ended := l.agents(t, 2, "secret", brokers, "--command-config", config, "--key", key, "--spool", spool)
		got := l.invoke(t, "run", write(t, tiny), "--agents", "2", "--session", "secret", "--brokers", brokers, "--command-config", config,
			"--key", key, "--out", out, "--set", "load.producers=2", "--set", "consume.consumers=2", "--set", "topic.partitions=4")
		printed := got.stdout + got.stderr
		for _, agent := range ended() {
			printed += agent.stdout + agent.stderr
		}
		if got.code != exitValid {
			t.Fatalf("exit code %d\n%s", got.code, printed)
		}
		written := map[string]string{"what is printed": printed}
		for n, record := range records() {
			written[fmt.Sprintf("control record %d", n)] = record
		}
		if len(written) < 10 {
			t.Errorf("only %d control records were seen", len(written)-1)
		}
		for _, dir := range []string{out, spool} {
			readAll(t, dir, written)
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for where, what := range written {
			for name, secret := range map[string]string{"password": password, "key": text, "key in bytes": string(raw)} {
				if strings.Contains(what, secret) {
					t.Errorf("%s has the %s", where, name)
				}
			}
		}
	})
}

func (l lab) controlRecords(t *testing.T, brokers, topic string) (all func() []string) {
	client, err := kgo.NewClient(l.client([]string{brokers}, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SASL(scram.Auth{User: "alice", Pass: password}.AsSha256Mechanism()))...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var read sync.WaitGroup
	var values []string
	read.Go(func() {
		for ctx.Err() == nil {
			fetches := client.PollFetches(ctx)
			fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Key)+string(r.Value)) })
			if fetches.Err() != nil { // the topic is not there yet, or not any more
				time.Sleep(100 * time.Millisecond)
			}
		}
	})
	return func() []string {
		cancel()
		read.Wait()
		client.Close()
		return values
	}
}

func readAll(t *testing.T, dir string, to map[string]string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		to[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
