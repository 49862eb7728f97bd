//go:build full

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
)

// startRun starts a run on another's cluster, as a process.
func startRun(t *testing.T, brokers, out string, more ...string) (cmd *exec.Cmd, stdout io.ReadCloser, stderr *bytes.Buffer) {
	t.Helper()
	args := append([]string{"run", write(t, tiny), "--brokers", brokers, "--out", out}, more...)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(args, "\n"))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, stdout, stderr
}

// TestEndings: each way to end a process but SIGKILL leaves nothing on the cluster; what SIGKILL leaves is found by
// clean, and named by list and report.
func TestEndings(t *testing.T) {
	for name, ends := range map[string][]os.Signal{
		"SIGINT": {os.Interrupt}, "SIGTERM": {syscall.SIGTERM}, "SIGHUP": {syscall.SIGHUP}, "SIGQUIT": {syscall.SIGQUIT},
		"a terminal closes": {syscall.SIGHUP, syscall.SIGHUP}, "SIGKILL": {os.Kill},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = e.Stop(t.Context()) })
			brokers := e.Bootstrap()[0]
			out := filepath.Join(t.TempDir(), "runs")
			cmd, stdout, stderr := startRun(t, brokers, out, "--set", "phases.measure=5m")
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			for end := time.Now().Add(time.Minute); !measuring(out); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the run did not begin to measure")
				}
			}
			for _, end := range ends {
				if err := cmd.Process.Signal(end); err != nil {
					t.Fatal(err)
				}
				time.Sleep(200 * time.Microsecond)
			}
			_ = cmd.Wait()
			left := topics(t, kgo.SeedBrokers(brokers), kgo.DisableClientMetrics())
			if ends[0] != os.Kill {
				if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || len(left) > 0 || !onlyRun(t, out).Run.Finished() {
					t.Errorf("exit code %d, and the topics %v are left: %s", code, left, stderr)
				}
				return
			}
			if len(left) != 1 || !strings.HasPrefix(left[0], runname.Prefix) {
				t.Fatalf("the topics %v are left", left)
			}
			r := onlyRun(t, out)
			wantSaid(t, invoke(t, "clean", "--brokers", brokers).stdout, "topic  "+left[0])
			command := "kafka-bench clean --brokers HOST:PORT --cluster-id " + e.Info().ID
			wantSaid(t, invoke(t, "list", "--out", out).stdout, "On the cluster "+e.Info().ID+", 1 run did not finish.", command)
			wantSaid(t, invoke(t, "report", r.Dir).stdout, left[0], command)
			if got := invoke(t, "clean", "--brokers", brokers, "--topic", left[0], "--yes"); got.code != exitBadInput {
				t.Errorf("a topic of a group with members was removed: %s", got.stdout)
			}
		})
	}
}

// TestClosedPipe: a run goes on when the reader of its output has ended.
func TestClosedPipe(t *testing.T) {
	e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(t.Context()) })
	out := filepath.Join(t.TempDir(), "runs")
	cmd, stdout, stderr := startRun(t, e.Bootstrap()[0], out, "--repeat", "2")
	stdout.Close()
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != exitInvalid {
		t.Errorf("it ends with %v: %s", err, stderr)
	}
	if c := onlyCampaign(t, out); !c.Campaign.Finished() {
		t.Errorf("%d runs of 2 were made", c.Campaign.Made())
	}
	wantTopics(t, e.Bootstrap()[0])
}
