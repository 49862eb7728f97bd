//go:build proof && unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/result"
)

const onKafkaYAML = `
name: agents
topic: {partitions: 4}
load: {rate: 1k/s, producers: 2, record: {size: 100B}}
consume: {consumers: 2}
phases: {warmup: 1s, measure: 12s, drain: 10s}
`

// processes are the coordinator and two agents of a session on a real Kafka.
type processes struct {
	t       *testing.T
	ctx     context.Context
	session string
	brokers string
	out     string
	key     string
	agents  []*process
	lead    *process
}

type process struct {
	*exec.Cmd
	said bytes.Buffer
}

func (ps *processes) start(arguments ...string) *process {
	program, err := os.Executable()
	if err != nil {
		ps.t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(ps.ctx, program)}
	p.Env = append(os.Environ(), childVariable+"="+strings.Join(arguments, "\n"))
	p.Stdout, p.Stderr = &p.said, &p.said
	if err := p.Start(); err != nil {
		ps.t.Fatal(err)
	}
	return p
}

func (ps *processes) agent(index int) *process {
	return ps.start("agent", "--session", ps.session, "--index", strconv.Itoa(index), "--of", "2", "--brokers", ps.brokers,
		"--key", ps.key, "--spool", ps.t.TempDir())
}

// wants waits for a process and fails the test unless it ends with the exit code.
func (ps *processes) wants(p *process, name string, code int) {
	ps.t.Helper()
	_ = p.Wait()
	if got := p.ProcessState.ExitCode(); got != code {
		ps.t.Errorf("%s ended with %d, want %d:\n%s", name, got, code, p.said.String())
	}
}

func (ps *processes) until(name, text string) {
	for ps.ctx.Err() == nil {
		for _, file := range ps.files(name) {
			if content, err := os.ReadFile(file); err == nil && strings.Contains(string(content), text) {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	ps.t.Fatalf("%s never had %q; the coordinator said\n%s", name, text, ps.lead.said.String())
}

func (ps *processes) files(name string) []string {
	files, _ := filepath.Glob(filepath.Join(ps.out, "*", name)) // the pattern is valid
	return files
}

func (ps *processes) run() result.Run {
	ps.t.Helper()
	files := ps.files(result.SummaryFile)
	if len(files) != 1 {
		ps.t.Fatalf("there are %d runs", len(files))
	}
	recorded, err := result.Read(filepath.Dir(files[0]))
	if err != nil {
		ps.t.Fatal(err)
	}
	return recorded.Run
}

// invalid fails the test unless the run is invalid because of agent 1.
func (ps *processes) invalid() {
	ps.t.Helper()
	v := ps.run().Verdict
	if v.Status != result.Invalid || !strings.Contains(strings.Join(v.Reasons, "\n"), "agent 1") {
		ps.t.Errorf("the verdict is %+v", v)
	}
}

func (ps *processes) signal(p *process, s syscall.Signal) {
	if err := p.Process.Signal(s); err != nil {
		ps.t.Error(err)
	}
}

const (
	isReady   = `agent 1 (`
	underLoad = `"phase":"measure"`
)

// A fault of an agent makes the run invalid, and the verdict names the agent; collect replaces a
// coordinator that dies.
func TestAgentsOnKafka(t *testing.T) {
	if userCache != "" {
		t.Setenv("XDG_CACHE_HOME", userCache) // Kafka is there
	}
	for name, befall := range map[string]func(*processes){
		"killed": func(ps *processes) {
			ps.until(result.PulsesFile, underLoad)
			ps.signal(ps.agents[1], syscall.SIGKILL)
			ps.wants(ps.lead, "the coordinator", exitInvalid)
			ps.wants(ps.agents[0], "agent 0", exitValid)
			_ = ps.agents[1].Wait()
			ps.invalid()
		},
		"frozen": func(ps *processes) {
			ps.until(result.PulsesFile, underLoad)
			ps.signal(ps.agents[1], syscall.SIGSTOP)
			time.Sleep(time.Second)
			ps.signal(ps.agents[1], syscall.SIGCONT)
			ps.wants(ps.lead, "the coordinator", exitInvalid)
			ps.wants(ps.agents[0], "agent 0", exitValid)
			ps.wants(ps.agents[1], "agent 1", exitValid)
			ps.invalid()
		},
		"late": func(ps *processes) { // the agent cannot read the start in time
			ps.until(result.EventsFile, fmt.Sprintf("%s%s) is ready", isReady, hostName(ps.t)))
			ps.signal(ps.agents[1], syscall.SIGSTOP)
			time.Sleep(5 * time.Second)
			ps.signal(ps.agents[1], syscall.SIGCONT)
			ps.wants(ps.lead, "the coordinator", exitInvalid)
			ps.wants(ps.agents[0], "agent 0", exitValid)
			_ = ps.agents[1].Wait()
			ps.invalid()
		},
		"zombie": func(ps *processes) { // another process claims an index after the start
			ps.until(result.PulsesFile, underLoad)
			ps.wants(ps.agent(1), "the second agent 1", exitBadInput)
			_ = ps.lead.Wait()
			ps.wants(ps.agents[0], "agent 0", exitValid)
			ps.wants(ps.agents[1], "agent 1", exitValid)
			if r := ps.run(); r.Load.Acked != 12000 || r.Delivery.Unique != 12000 {
				ps.t.Errorf("%d records were acknowledged and %d delivered", r.Load.Acked, r.Delivery.Unique)
			}
		},
		"coordinator": func(ps *processes) {
			ps.until(result.PulsesFile, underLoad)
			ps.signal(ps.lead, syscall.SIGKILL)
			_ = ps.lead.Wait()
			ps.out = ps.t.TempDir()
			collect := ps.start("collect", "--session", ps.session, "--brokers", ps.brokers, "--key", ps.key, "--out", ps.out, "--delete")
			_ = collect.Wait() // it waits until both have handed in
			if r := ps.run(); r.Load.Acked != 12000 || r.Delivery.Unique != 12000 {
				ps.t.Errorf("%d records were acknowledged and %d delivered", r.Load.Acked, r.Delivery.Unique)
			}
			for _, agent := range ps.agents { // they would wait ten minutes for another run
				_ = agent.Process.Kill()
				_ = agent.Wait()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := clustertest.Shared(t)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			ps := &processes{t: t, ctx: ctx, session: fmt.Sprintf("%s-%d", name, os.Getpid()), brokers: strings.Join(k.Bootstrap(), ","), out: t.TempDir()}
			ps.key = filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(ps.key, []byte(newKey()), 0o600); err != nil {
				t.Fatal(err)
			}
			ps.agents = []*process{ps.agent(0), ps.agent(1)}
			ps.lead = ps.start("run", write(t, onKafkaYAML), "--agents", "2", "--session", ps.session, "--brokers", ps.brokers,
				"--key", ps.key, "--out", ps.out)
			befall(ps)
		})
	}
}
