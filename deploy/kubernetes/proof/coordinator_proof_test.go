//go:build proof

package proof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// coordinator is a process that coordinates, or collects.
type coordinator struct {
	*exec.Cmd
	printed lockedBuffer
}

func (s *session) coordinate(t *testing.T) *coordinator {
	t.Helper()
	return s.kafkaBench(t, "run", s.file("load.yaml"), "--agents", strconv.Itoa(agents), "--cluster-id", s.clusterID,
		"--session", s.name, "--brokers", s.brokers, "--key", s.file("session.key"),
		"--command-config", s.file("client.properties"), "--out", s.file("out"))
}

func (s *session) kafkaBench(t *testing.T, arguments ...string) *coordinator {
	t.Helper()
	c := &coordinator{Cmd: s.command(append([]string{absolute(t, kafkaBench)}, arguments...)...)}
	c.Stdout, c.Stderr = &c.printed, &c.printed
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// exit returns the exit code of a coordinator, once it has ended.
func (c *coordinator) exit(t *testing.T) int {
	t.Helper()
	_ = c.Wait()
	t.Logf("%s\n%s", strings.Join(c.Args, " "), c.printed.String())
	return c.ProcessState.ExitCode()
}

// kill kills a coordinator: the child of nsenter.
func (c *coordinator) kill(t *testing.T) {
	t.Helper()
	child, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(child)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// awaitLoad waits until an agent has reported to the coordinator that it is in the measured window.
func (s *session) awaitLoad(t *testing.T) {
	t.Helper()
	await(t, 3*time.Minute, "the load", func() bool {
		files, _ := filepath.Glob(s.file("out/*/pulses.ndjson"))
		if len(files) == 0 {
			return false
		}
		pulses, err := os.ReadFile(files[0])
		return err == nil && bytes.Contains(pulses, []byte(`"phase":"measure"`))
	})
}

// outcome is the part of run.json that this proof judges.
type outcome struct {
	Verdict struct {
		Status  string
		Reasons []string
	}
	Load     struct{ Scheduled, Admitted, Acked, Failed, Unknown int64 }
	Delivery struct{ Unique, Duplicates, Lost, Corrupt int64 }
	Agents   []struct {
		Index    int
		HostName string `json:"host_name"`
		Counts   *struct{ Scheduled, Acked int64 }
	}
}

// outcome reads the only run in a folder.
func (s *session) outcome(t *testing.T, folder string) (o outcome) {
	t.Helper()
	files, err := filepath.Glob(s.file(folder + "/*/run.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the runs are %v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// complete checks that a run is valid, that its books balance, and that each agent has its part.
func (o outcome) complete(t *testing.T) {
	t.Helper()
	if o.Verdict.Status != "valid" {
		t.Errorf("the run is %+v", o.Verdict)
	}
	l, d := o.Load, o.Delivery
	if l.Scheduled == 0 || l.Admitted != l.Scheduled || l.Acked != l.Admitted || d.Unique != l.Acked ||
		d.Duplicates+d.Lost+d.Corrupt != 0 {
		t.Errorf("the books do not balance: %+v, %+v", l, d)
	}
	var scheduled, acked int64
	for _, a := range o.Agents {
		if a.Counts == nil || a.Counts.Scheduled == 0 {
			t.Errorf("agent %d has no part", a.Index)
			continue
		}
		scheduled, acked = scheduled+a.Counts.Scheduled, acked+a.Counts.Acked
	}
	if len(o.Agents) != agents || scheduled != l.Scheduled || acked != l.Acked {
		t.Errorf("%d agents have scheduled %d and acked %d, of %d and %d",
			len(o.Agents), scheduled, acked, l.Scheduled, l.Acked)
	}
}
