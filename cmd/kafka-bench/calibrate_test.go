package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
)

func TestCalibrationWarns(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	slow, warned := 1.0, [2]bool{}
	for i := range warned {
		virtually(t, func(t *testing.T, l lab) {
			out := t.TempDir()
			l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out)
			run := onlyRun(t, out).Run
			warned[i] = slices.ContainsFunc(run.Verdict.Warnings, func(w string) bool {
				return strings.Contains(w, "this machine can only offer")
			})
			_, err := (&calibrate.Calibration{
				SchemaVersion: calibrate.SchemaVersion, HostName: hostName(t), Host: run.Run.Host,
				Offers: []calibrate.Offer{{RecordBytes: 1024, Pacer: "frugal", HighestPerS: &slow}},
			}).Save(home.Dist)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if warned != [2]bool{false, true} {
		t.Errorf("before and after the calibration a run is warned: %v", warned)
	}
}

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

// A calibration that cannot be read does not end the run.
func TestCalibrated(t *testing.T) {
	dir := t.TempDir()
	var told []string
	tell := func(what string) { told = append(told, what) }
	if got := calibrated(dir, tell).Caveats(&result.Run{}); got != nil || len(told) > 0 {
		t.Errorf("never calibrated: %q, told %q", got, told)
	}
	file, err := (&calibrate.Calibration{SchemaVersion: calibrate.SchemaVersion, HostName: hostName(t)}).Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := calibrated(dir, tell).Caveats(&result.Run{}); got != nil || len(told) != 1 || !strings.Contains(told[0], "kafka-bench calibrate") {
		t.Errorf("broken: %q, told %q", got, told)
	}
}

func TestCalibrateDisk(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	was := calibrate.Offer{RecordBytes: 512, Pacer: "frugal"}
	if _, err := (&calibrate.Calibration{
		SchemaVersion: calibrate.SchemaVersion, HostName: hostName(t), Offers: []calibrate.Offer{was},
	}).Save(home.Dist); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	plan := calibrate.DiskPlan{Bytes: 2 << 20, Length: time.Hour}
	if err := (surroundings{}).calibrateDisk(t.Context(), localDisk, plan, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, stdout.String(), home.Clusters, "of sequential writes", "with an fsync after each 64 KiB", "Kept in ")
	c := calibrated(home.Dist, func(what string) { t.Error(what) })
	if len(c.Offers) != 1 || len(c.Disks) != 1 || c.Disks[0].WriteBytesPerS <= 0 {
		t.Errorf("%+v", c)
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

func TestCalibrateInterrupt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	interrupted := surroundings{signals: func(c chan<- os.Signal) { c <- os.Interrupt }}
	var stdout bytes.Buffer
	err := interrupted.calibrateMachine(t.Context(), calibrate.Full(), "franz", &stdout, io.Discard)
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

func TestCalibrateDiskRefused(t *testing.T) {
	for args, want := range map[string]string{
		"calibrate --disk /mnt/logs":      "--disk takes its folder after an equals sign; write --disk=/mnt/logs",
		"calibrate --disk=":               "--disk: it is empty; name a folder, or write --disk alone for that of local clusters",
		"calibrate --disk --driver franz": "--driver: a disk is measured without a client; leave it out",
	} {
		wantBad(t, invoke(t, strings.Fields(args)...), want)
	}
}
