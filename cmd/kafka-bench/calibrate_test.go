package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
)

// TestCalibrate measures next to nothing, prints it, keeps it, and warns a run that
// offers more.
func TestCalibrate(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	plan := calibrate.Plan{
		Quick: true, RecordBytes: []int{1024},
		Warmup: 50 * time.Millisecond, Measure: 150 * time.Millisecond, Micro: 5 * time.Millisecond,
	}
	var stdout, stderr bytes.Buffer
	if err := calibrateMachine(context.Background(), plan, "franz", &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"as fast as it goes", "frugal", "precise", "1KiB", "A reading of the clock takes", "Kept in "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, stdout.String())
		}
	}
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	c, err := calibrate.Load(home.Dist)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stdout.String(), c.Sentence()+"\n") {
		t.Errorf("it does not begin with the sentence:\n%s", stdout.String())
	}

	slow := 1.0
	c.Offers = []calibrate.Offer{{RecordBytes: 1024, Pacer: "frugal", HighestPerS: &slow}}
	if _, err := c.Save(home.Dist); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out)
	warned := false
	for _, warning := range onlyRun(t, out).Run.Verdict.Warnings {
		warned = warned || strings.Contains(warning, "this machine was found able to offer")
	}
	if !warned {
		t.Errorf("the run was not warned: %q", onlyRun(t, out).Run.Verdict.Warnings)
	}
}

// TestPrintCalibration says how fine the search was, where it was.
func TestPrintCalibration(t *testing.T) {
	held, failed := 10_000.0, 11_250.0
	var out bytes.Buffer
	err := printCalibration(&out, &calibrate.Calibration{Offers: []calibrate.Offer{
		{RecordBytes: 512, Pacer: "frugal", HighestPerS: &held, FailedPerS: &failed},
		{RecordBytes: 1024, Pacer: "precise", HighestPerS: &held},
		{RecordBytes: 2048, Pacer: "none"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for pacer, want := range map[string]bool{"frugal": true, "precise": false, "none": false} {
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, " "+pacer+" ") && strings.Contains(line, "+12.50 %") != want {
				t.Errorf("%s: is the step of 12.5%% in %q? want %v", pacer, line, want)
			}
		}
	}
	wantSaid(t, out.String(), "next failed", "+12.50 %", "may be able to offer up to that much more")
}

// TestCalibrated tells of a calibration that cannot be read, and lets the run go
// on without one.
func TestCalibrated(t *testing.T) {
	dir := t.TempDir()
	var told []string
	tell := func(what string) { told = append(told, what) }
	if got := calibrated(dir, tell)(&result.Run{}); got != nil || len(told) > 0 {
		t.Errorf("never calibrated: %q, told %q", got, told)
	}
	file, err := (&calibrate.Calibration{SchemaVersion: calibrate.SchemaVersion, HostName: hostName(t)}).Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := calibrated(dir, tell)(&result.Run{}); got != nil || len(told) != 1 || !strings.Contains(told[0], "kafka-bench calibrate") {
		t.Errorf("broken: %q, told %q", got, told)
	}
}

func hostName(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestCalibrateInterrupt ends at once and keeps nothing.
func TestCalibrateInterrupt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	sent := false
	interrupt := writer(func([]byte) {
		if !sent {
			sent = true
			if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	})
	var stdout bytes.Buffer
	err := calibrateMachine(context.Background(), calibrate.Full(), "franz", &stdout, interrupt)
	if !errors.Is(err, errInterrupted) || stdout.Len() > 0 {
		t.Errorf("%v, and it says %q", err, stdout.String())
	}
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := calibrate.Load(home.Dist); !errors.Is(err, calibrate.ErrNone) {
		t.Errorf("err = %v", err)
	}
}

// writer does something with what is written.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
