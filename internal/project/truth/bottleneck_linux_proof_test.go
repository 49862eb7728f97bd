//go:build proof && linux

package truth

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
)

func TestBottleneckIsBrokerCPU(t *testing.T) {
	k := clustertest.Own(t, 1, nil)
	cores := confineBroker(t, k.Brokers()[0])
	s := smallScenario(t, "broker", "load.rate=max", "load.producers=3", "topic.partitions=3", "load.in_flight=5", "load.linger=0s",
		"load.batch=1KiB", "load.max_buffered=1000", "consume.consumers=0", "phases.warmup=2s", "phases.measure=3s")
	r := run(t, config(t, k, s))
	wantBottleneck(t, r, bottleneck.BrokerCPU)
	if allowed := r.Run.Broker[0].CoresAllowed; allowed == nil || *allowed != cores {
		t.Errorf("the broker may use %v cores, want %v", allowed, cores)
	}
}

// The host's CPU is the bottleneck if others used the tool's core.
func TestBottleneckIsClientCPU(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := smallScenario(t, "client", "load.rate=max", "load.producers=1", "topic.partitions=1", "load.linger=0s", "load.compression=zstd",
		"load.record.payload=json", "load.record.size=1kB", "consume.consumers=0", "phases.warmup=500ms", "phases.measure=2s")
	r := run(t, config(t, loopback(t), s))
	want := bottleneck.ClientCPU
	if *r.Run.Process.CPUCores < bottleneck.Saturated {
		t.Logf("others took of the core: %v used, and %v of its time waited", *r.Run.Process.CPUCores, *r.Run.Process.CPUWaitRatio)
		want = bottleneck.HostCPU
	}
	wantBottleneck(t, r, want)
}

// The bottleneck is the host's CPU although all allowed requests are in flight.
func TestBottleneckIsTheMachine(t *testing.T) {
	k := clustertest.Own(t, 1, nil)
	for range 4 * runtime.NumCPU() {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
	}
	s := smallScenario(t, "machine", "load.rate=max", "load.producers=1", "topic.partitions=1", "load.in_flight=1", "load.linger=0s",
		"load.batch=4KiB", "load.acks=all", "consume.consumers=0", "phases.warmup=500ms", "phases.measure=2s")
	r := run(t, config(t, k, s))
	wantBottleneck(t, r, bottleneck.HostCPU)
	if waited := r.Run.Broker[0].CPUWaitRatio; waited == nil || *waited < 0.2 || *waited > 1 {
		t.Errorf("the broker waited for a core in %v of its time", waited)
	}
}

// Without permission for a quota, confineBroker binds the broker to one core. It returns the number
// of cores.
func confineBroker(t *testing.T, b *cluster.Broker) (cores float64) {
	t.Helper()
	const quota = 0.5
	group := fmt.Sprintf("/sys/fs/cgroup/cpu/kafka-bench-truth-%d", os.Getpid())
	if err := os.Mkdir(group, 0o755); err != nil {
		bind(t, b)
		return 1
	}
	// Only a cgroup without processes can be removed, and the cluster is stopped later: kill the
	// broker.
	t.Cleanup(func() {
		b.Kill()
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	for name, value := range map[string]int{
		"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": quota * 100_000,
		"cpu.shares":   1 << 16, // priority over other processes of the machine
		"cgroup.procs": b.PID(),
	} {
		if err := os.WriteFile(filepath.Join(group, name), []byte(strconv.Itoa(value)), 0o644); err != nil {
			bind(t, b)
			return 1
		}
	}
	return quota
}

func bind(t *testing.T, b *cluster.Broker) {
	t.Helper()
	var allowed, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	for core := 0; only.Count() == 0; core++ {
		if allowed.IsSet(core) {
			only.Set(core)
		}
	}
	// A thread that starts in the first round may not be bound; the second round binds it.
	for range 2 {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", b.PID()))
		if err != nil || len(threads) == 0 {
			t.Fatalf("the threads of the broker: %v, %v", threads, err)
		}
		for _, path := range threads {
			thread, err := strconv.Atoi(filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.SchedSetaffinity(thread, &only); err != nil && !errors.Is(err, unix.ESRCH) {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}
