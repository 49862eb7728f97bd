package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// childVariable is the environment variable that makes the test binary run the program, for tests
// that kill the program. Its value is the arguments, one in each line.
const childVariable = "KAFKA_BENCH_CHILD"

// userCache has Kafka's jars and the cluster that test runs share.
var userCache string

// The tests have their own cache folder, so that no test finds or stops a user's cluster.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{pagesName, workerName, "agent"}, os.Args[1]) { // started by a run of a test
		os.Exit(program(os.Args[1:]))
	}
	if arguments := os.Getenv(childVariable); arguments != "" {
		os.Exit(program(strings.Split(arguments, "\n")))
	}
	userCache, _ = os.UserCacheDir() // "" without a home; then there is no Kafka either
	cache, err := os.MkdirTemp("", "kafka-bench-test-")
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", cache)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(cache)
	os.Exit(code)
}

type invoked struct {
	stdout, stderr string
	code           int
}

// A test that hangs must fail with its name.
const invokeTimeout = time.Minute

func invoke(t *testing.T, args ...string) invoked {
	t.Helper()
	return invokeIn(t, surroundings{}, args...)
}

func invokeIn(t *testing.T, in surroundings, args ...string) invoked {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), invokeTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := exitCode(&stderr, in.run(ctx, args, &stdout, &stderr))
	return invoked{stdout: stdout.String(), stderr: stderr.String(), code: code}
}

// Mistakes of a scenario have no prefix.
func (i invoked) message() string {
	for line := range strings.Lines(i.stderr) {
		if said, ok := strings.CutPrefix(line, "kafka-bench: "); ok {
			return strings.TrimSuffix(said, "\n")
		}
	}
	if i.code == exitBadInput {
		first, _, _ := strings.Cut(i.stderr, "\n")
		return first
	}
	return ""
}

const tiny = `
topic: {partitions: 1}
load: {rate: 200/s, linger: 0s, record: {payload: random}}
phases: {warmup: 100ms, measure: 300ms, drain: 10s}
sampling: {interval: 100ms}
`

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func topics(t *testing.T, client ...kgo.Opt) []string {
	t.Helper()
	c, err := kgo.NewClient(client...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listed, err := kadm.NewClient(c).ListTopics(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return listed.Names()
}

func wantNothing(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		entries, _ := os.ReadDir(path)
		t.Errorf("%s was left behind, with %v", path, entries)
	}
}
