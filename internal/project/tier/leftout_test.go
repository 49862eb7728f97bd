package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/project/needs"
)

func TestLeftOut(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	out := leftOut{missing: []needs.Need{needs.Kafka, needs.Compiler}, dir: dir}
	ran := false
	for _, variable := range out.environment() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	for range 2 {
		t.Run("left out", func(t *testing.T) {
			needs.Kafka.Require(t)
			ran = true
		})
	}
	t.Run("not left out", func(t *testing.T) { needs.Prometheus.Require(t) })
	if ran {
		t.Error("a test ran without what it needs")
	}
	if err := out.write(); err != nil {
		t.Fatal(err)
	}
	const want = "left out: 2 tests on a real Kafka, which need Java 17 and Maven; on Debian install: openjdk-17-jdk-headless maven\n" +
		"left out: tests and binary of the driver librdkafka, which need a C compiler; on Debian install: gcc libc6-dev\n"
	if got, err := os.ReadFile(leftOutFile); err != nil || string(got) != want {
		t.Errorf("the file has\n%s(%v), want\n%s", got, err, want)
	}
}

func TestNothingIsLeftOutInCI(t *testing.T) {
	var b strings.Builder
	lacking := leftOut{missing: []needs.Need{needs.Kafka, needs.Prometheus}, dir: t.TempDir()}
	err := lacking.check(&b, true)
	if err == nil || !strings.HasSuffix(err.Error(), "on Debian install: openjdk-17-jdk-headless maven prometheus") || b.Len() > 0 {
		t.Errorf("the error is %v, after %q", err, b.String())
	}
	if err := lacking.check(&b, false); err != nil || strings.Count(b.String(), "will be left out") != 2 {
		t.Errorf("%q (%v)", b.String(), err)
	}
	if err := (leftOut{}).check(&b, true); err != nil {
		t.Error(err)
	}
}

var measured = regexp.MustCompile(`^out\n\d+\.\d CPU minutes in 0 min \d+ s; the load before was \d+\.\d+\n$`)

func TestMeasured(t *testing.T) {
	out, err := exec.Command("./measured.sh", "sh", "-c", "echo out; exit 3").CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 3 || !measured.Match(out) {
		t.Errorf("%v:\n%s", err, out)
	}
}
