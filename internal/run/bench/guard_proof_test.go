//go:build proof && linux

package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/needs"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

func existing(t *testing.T, k *cluster.Kafka) cluster.Cluster {
	t.Helper()
	c, err := cluster.Connect(t.Context(), k.Bootstrap(), "", access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parsed(t *testing.T, yaml string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("guarded.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// killer kills a broker at the first event of a run that begins so.
type killer struct {
	event  string
	broker *cluster.Broker
	killed time.Time
}

func (k *killer) Began(string)             {}
func (k *killer) Interval(result.Interval) {}
func (k *killer) Event(e result.Event) {
	if k.killed.IsZero() && strings.HasPrefix(e.What, k.event) {
		k.killed = time.Now()
		k.broker.Kill()
	}
}

// A run on a cluster of others ends within 3 s after a broker there was killed. Before the warm-up there is no run to save, and
// the error has the guard's reason.
func TestAKilledBrokerEndsTheRun(t *testing.T) {
	k := clustertest.Own(t, 2, nil)
	isReason := func(text string) bool {
		return strings.Contains(text, "broker 2 accepts no connections") || strings.Contains(text, "broker 2 has left")
	}
	for _, c := range []struct{ event, fill, warmup string }{
		{"filling: ", ", fill: 100MB", "1s"}, {"warm-up", "", "60s"}, {"measure", "", "1s"},
	} {
		t.Run(c.event, func(t *testing.T) {
			kills := &killer{event: c.event, broker: k.Brokers()[1]}
			cfg := bench.Config{
				Scenario: parsed(t, `
topic: {partitions: 4`+c.fill+`}
load: {rate: 200/s, max_rate: 1k/s, delivery_timeout: 5s}
phases: {warmup: `+c.warmup+`, measure: 60s, drain: 2s}
`), Cluster: existing(t, k), Driver: franz.New(), Out: t.TempDir(), Tool: result.Tool{Version: "test"}, Watch: kills,
			}
			awaitHealthy(t, cfg)
			o, err := bench.Run(t.Context(), cfg)
			switch {
			case c.fill != "":
				if !errors.Is(err, bench.ErrGuarded) || !isReason(err.Error()) {
					t.Errorf("ended by %v", err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				if reason := o.Run.Run.EndedByGuard; !isReason(reason) {
					t.Errorf("ended by %q", reason)
				}
				ended := o.Run.Run.StartedAt.Add(time.Duration(o.Run.Run.Phases[1].EndNs))
				if late := ended.Sub(kills.killed); late < 0 || late > 3*time.Second {
					t.Errorf("the load ended %v after the kill", late)
				}
			}
			if err := k.Brokers()[1].Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// awaitHealthy waits until the partitions have all replicas since a broker was started again.
func awaitHealthy(t *testing.T, cfg bench.Config) {
	t.Helper()
	var err error
	for range 240 {
		if _, err = bench.Ask(t.Context(), cfg); err == nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatal(err)
}

// A quota is named as the bottleneck without the brokers' metrics, and ends a run unless --anyway is given.
func TestAQuotaOnKafka(t *testing.T) {
	k := clustertest.Own(t, 1, nil)
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	everyClient := kadm.AlterClientQuotaEntry{
		Entity: kadm.ClientQuotaEntity{{Type: "client-id"}}, Ops: []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 70_000}},
	}
	if _, err := kadm.NewClient(client).AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{everyClient}); err != nil {
		t.Fatal(err)
	}
	for _, anyway := range []bool{false, true} {
		o, err := bench.Run(t.Context(), bench.Config{
			Scenario: parsed(t, `
topic: {partitions: 1}
load: {rate: 500/s, compression: none, record: {size: 512B}, delivery_timeout: 60s}
phases: {warmup: 1s, measure: 20s, drain: 2s}
cluster: {metrics: none}
`), Cluster: existing(t, k), Driver: franz.New(), Out: t.TempDir(), Tool: result.Tool{Version: "test"},
			Guards: bench.Guards{Anyway: anyway},
		})
		if err != nil {
			t.Fatal(err)
		}
		run := o.Run
		if ended := strings.HasPrefix(run.Run.EndedByGuard, "quotas of the cluster throttled the run"); ended == anyway {
			t.Errorf("anyway %t: ended by %q", anyway, run.Run.EndedByGuard)
		}
		if p := run.Clients.Produce; p == nil || p.ThrottledS <= 0 {
			t.Errorf("anyway %t: the throttle is not in the result: %+v", anyway, p)
		}
		if anyway && run.Bottleneck.Resource != bottleneck.Quota {
			t.Errorf("%s because of %q; the bottleneck is %+v", run.Verdict.Status, run.Verdict.Reasons, run.Bottleneck)
		}
	}
}

const (
	diskBytes = 1_400_000_000 // a local cluster starts only with 1 GiB free
	leftBytes = 150_000_000
)

// It mounts a loop device, so only root can run it. Runs that would fill a disk of which 150 MB are free are refused or ended, and the broker lives.
func TestAFullDiskOnKafka(t *testing.T) {
	needs.Kafka.Require(t)
	disk := loopDisk(t)
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{Disks: []string{disk}, Config: clustertest.Settings()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	fillDisk(t, disk)
	tests := map[string]struct {
		cluster cluster.Cluster
		load    string
		refused string // "": a guard ends it
	}{
		"rate × time, remote":      {existing(t, k), "rate: 20k/s, compression: none", "the run stores up to "},
		"rate × time, local":       {k, "rate: 20k/s, compression: none", "load: the records of its schedule are "},
		"less than planned, local": {k, "rate: 20k/s, compression: snappy", ""},
		"less than planned":        {existing(t, k), "rate: 20k/s, compression: snappy", ""},
		"as fast as it goes":       {k, "rate: max, compression: none", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			floor := int64(70_000_000)
			o, err := bench.Run(t.Context(), bench.Config{
				Scenario: parsed(t, fmt.Sprintf(`
topic: {partitions: 2, config: {segment.bytes: "16777216", file.delete.delay.ms: "1000"}}
load: {%s, record: {size: 1kB, payload: random}}
phases: {warmup: 0s, measure: 30s, drain: 10s}
`, test.load)), Cluster: test.cluster, Driver: franz.New(), Out: t.TempDir(), Tool: result.Tool{Version: "test"},
				Guards: bench.Guards{MinFreeBytes: &floor},
			})
			switch {
			case test.refused != "":
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("%v, want %s", err, test.refused)
				}
			case err != nil:
				t.Error(err)
			case !strings.Contains(o.Run.Run.EndedByGuard, "the disk of broker 1 has "):
				t.Errorf("ended by %q after %+v", o.Run.Run.EndedByGuard, o.Run.Load)
			}
			if !k.Brokers()[0].Alive() {
				t.Fatal("the broker died")
			}
			awaitRoom(t, disk)
		})
	}
}

func loopDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	image, disk := filepath.Join(dir, "image"), filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, diskBytes); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"mkfs.ext4", "-q", "-m", "0", image}, {"mount", "-o", "loop", image, disk}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", command, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return disk
}

func fillDisk(t *testing.T, disk string) {
	t.Helper()
	free, err := cluster.FreeDisk(disk)
	if err != nil {
		t.Fatal(err)
	}
	ballast, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer ballast.Close()
	if err := unix.Fallocate(int(ballast.Fd()), 0, 0, free-leftBytes); err != nil {
		t.Fatal(err)
	}
}

// awaitRoom waits until the broker has deleted the files of the run's topic.
func awaitRoom(t *testing.T, disk string) {
	t.Helper()
	for range 240 {
		free, err := cluster.FreeDisk(disk)
		if err != nil {
			t.Fatal(err)
		}
		if free > leftBytes-10_000_000 {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatal("the files of the run's topic stay on the disk")
}
