//go:build full

package truth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/needs"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// childVariable makes the test binary a tool that will be killed; its value is the tool's folder.
const childVariable = "KAFKA_BENCH_TRUTH_CHILD"

// The run of a killed tool can be rendered, the next start removes its broker, and its other
// processes end.
func TestKilledTool(t *testing.T) {
	t.Parallel()
	needs.Kafka.Require(t)
	dir := t.TempDir()
	tool := exec.Command(os.Args[0])
	tool.Env = append(os.Environ(), childVariable+"="+dir)
	tool.Stderr = os.Stderr
	stdout, err := tool.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tool.Process.Kill() })
	var broker int
	if _, err := fmt.Fscan(bufio.NewReader(stdout), &broker); err != nil {
		t.Fatalf("the tool did not get as far as measuring: %v", err)
	}
	if err := tool.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tool.Wait()

	r := onlyRun(t, filepath.Join(dir, "runs"))
	wantUnfinished(t, r)
	wantProcessesGone(t, r, 2)
	if s, err := scenario.Read(filepath.Join(r.Dir, result.ScenarioFile)); err != nil || s.Name != "killed" {
		t.Errorf("the resolved scenario is %q, %v", s.Name, err)
	}
	home, err := childHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := home.Reap(context.Background(), nil); err != nil { // as every start does
		t.Error(err)
	}
	if alive(broker) {
		t.Errorf("the broker, process %d, still runs", broker)
	}
	if left, err := filepath.Glob(filepath.Join(home.Clusters, "cluster-*")); err != nil || len(left) > 0 {
		t.Errorf("of the cluster is left: %v, %v", left, err)
	}
}

func alive(pid int) bool {
	for range 100 {
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

func zombie(pid int) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func childHome(dir string) (cluster.Home, error) {
	home, err := cluster.UserHome()
	home.Clusters = filepath.Join(dir, "clusters")
	return home, err
}

// runUntilKilled prints the broker's process when it measures.
func runUntilKilled(dir string) error {
	home, err := childHome(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{HeapBytes: 256 << 20})
	if err != nil {
		return err
	}
	s, err := scenario.Parse("killed.yaml", []byte(small), "phases.measure=10m", "load.processes=2")
	if err != nil {
		return err
	}
	measuring := interruptIn(bench.Config{
		Scenario: s, Cluster: k, Driver: franz.New(), Out: filepath.Join(dir, "runs"),
	}, "measure", time.Second)
	go func() {
		<-measuring.Interrupt
		fmt.Println(k.Brokers()[0].PID())
	}()
	_, err = bench.Run(ctx, bench.Config{
		Scenario: s, Cluster: k, Driver: measuring.Driver, Out: measuring.Out, Watch: measuring.Watch, Worker: workerCommand,
	})
	return errors.Join(err, errors.New("the run ended before it was killed"))
}
