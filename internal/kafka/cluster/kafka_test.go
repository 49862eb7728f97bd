package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// testHome has the Kafka of the user's cache and clusters of its own.
func testHome(t *testing.T) Home {
	t.Helper()
	home, err := UserHome()
	if err != nil {
		t.Fatal(err)
	}
	home.Clusters = t.TempDir()
	return home
}

// testContext ends a test that hangs before the test binary's own timeout does,
// so that its clean-up runs.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// startKafka starts a cluster that the test's end stops.
func startKafka(t *testing.T, home Home, opts KafkaOptions) *Kafka {
	t.Helper()
	opts.Progress = func(s string) { t.Log(s) }
	k, err := home.StartKafka(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Stop(context.Background()) })
	return k
}

// testTopic creates a topic on the cluster.
func testTopic(t *testing.T, c Cluster, name string, partitions, replication int) (*Admin, Topic) {
	t.Helper()
	admin, err := NewAdmin(c.Bootstrap(), access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	topic, err := admin.CreateTopic(testContext(t), name, partitions, replication, nil)
	if err != nil {
		t.Fatal(err)
	}
	return admin, topic
}

// produce sends one record, acknowledged by all in-sync replicas.
func produce(t *testing.T, c Cluster, topic, value string) {
	t.Helper()
	client, err := newClient(c.Bootstrap(), access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(testContext(t), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		t.Fatalf("produce %q: %v", value, err)
	}
}

// consume reads n values of a topic, in any order.
func consume(t *testing.T, c Cluster, topic string, n int) map[string]int {
	t.Helper()
	client, err := newClient(c.Bootstrap(), access.Access{}, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, values, got := testContext(t), make(map[string]int), 0
	for got < n && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			values[string(r.Value)]++
			got++
		})
	}
	return values
}

func TestOneBroker(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{Config: map[string]string{
		"broker.session.timeout.ms": "2000", // a killed broker may come back sooner
		"num.io.threads":            "3",
	}})
	broker := k.Brokers()[0]

	info := k.Info()
	if info.Kind != KindKafka || info.Version != KafkaVersion || info.Brokers != 1 || info.Note != "" {
		t.Errorf("Info() = %+v", info)
	}
	if got := info.Settings["num.io.threads"]; got != "3" {
		t.Errorf("num.io.threads = %q, want the override", got)
	}
	found, err := Connect(testContext(t), k.Bootstrap(), info.ID, access.Access{})
	if err != nil || found.Info().ID != info.ID {
		t.Errorf("Connect(own cluster ID) = %+v, %v", found, err)
	}
	wantShareGroups(t, k)

	admin, topic := testTopic(t, k, "one", 2, 1)
	produce(t, k, topic.Name, "before")
	t.Run("killed broker comes back with what it acknowledged", func(t *testing.T) {
		pid := broker.PID()
		broker.Kill()
		if broker.Alive() || len(k.Processes()) != 0 {
			t.Error("alive after Kill")
		}
		if err := broker.Restart(testContext(t)); err != nil {
			t.Fatal(err)
		}
		if p := k.Processes(); len(p) != 1 || p[0].PID == pid || p[0].HeapMaxBytes != heapAloneBytes {
			t.Errorf("Processes() after restart = %+v, PID before %d", p, pid)
		}
		produce(t, k, topic.Name, "after")
		if got := consume(t, k, topic.Name, 2); got["before"] != 1 || got["after"] != 1 {
			t.Errorf("consumed %v", got)
		}
	})
	t.Run("topic is deleted by ID", func(t *testing.T) {
		if err := admin.DeleteTopic(testContext(t), topic); err != nil {
			t.Fatal(err)
		}
		if _, err := admin.UseExisting(testContext(t), topic.Name); !errors.Is(err, ErrInput) {
			t.Errorf("the deleted topic: %v", err)
		}
	})
	t.Run("refusals are explained", func(t *testing.T) {
		_, err := admin.CreateTopic(testContext(t), "wide", 1, 3, nil)
		wantError(t, err, ErrRefused, "topic.replication", "from 3")
		_, err = admin.CreateTopic(testContext(t), "odd", 1, 1, map[string]string{"retention.ms": "soon"})
		wantError(t, err, ErrRefused, "topic.config")
	})
	wantClassArchive(t, k)
	if err := k.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantGone(t, k)
}

// wantClassArchive fails if the broker does not make use of the class archive.
func wantClassArchive(t *testing.T, k *Kafka) {
	t.Helper()
	if k.classes == "" {
		t.Error("the broker started without a class archive")
	}
	if runtime.GOOS != "linux" {
		return // only there can be seen what a process has mapped
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", k.Brokers()[0].PID()))
	if err != nil || !strings.Contains(string(maps), k.classes) {
		t.Errorf("the class archive %s does not fit (%v)", k.classes, err)
	}
}

func TestStopFrozenBroker(t *testing.T) {
	home := testHome(t)
	k := startKafka(t, home, KafkaOptions{Keep: true})
	broker := k.Brokers()[0]
	if err := broker.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !broker.Alive() {
		t.Error("a frozen broker counts as dead")
	}
	if err := k.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	if removed, err := home.Reap(testContext(t), nil); err != nil || len(removed) != 0 {
		t.Errorf("Reap() = %v, %v; the folder was to be kept", removed, err)
	}
	log, err := os.ReadFile(broker.LogPath())
	if err != nil || !strings.Contains(string(log), "shut down completed") {
		t.Errorf("the broker was not stopped gracefully (%v)", err)
	}
}

// wantShareGroups fails unless the cluster offers share groups (KIP-932).
func wantShareGroups(t *testing.T, c Cluster) {
	t.Helper()
	client, err := newClient(c.Bootstrap(), access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(testContext(t), client)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range resp.FinalizedFeatures {
		if f.Name == "share.version" && f.MaxVersionLevel >= 1 {
			return
		}
	}
	t.Errorf("share groups are off: %+v", resp.FinalizedFeatures)
}

// wantGone fails if anything is left of a stopped cluster.
func wantGone(t *testing.T, k *Kafka) {
	t.Helper()
	if p := k.Processes(); len(p) != 0 {
		t.Errorf("running after Stop: %+v", p)
	}
	if _, err := os.Stat(k.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder after Stop: %v", err)
	}
	for _, addr := range k.Bootstrap() {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Errorf("somebody listens on %s after Stop", addr)
		}
	}
}

func TestThreeBrokers(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{Brokers: 3, Config: map[string]string{"broker.session.timeout.ms": "3000"}})
	if p := k.Processes(); len(p) != 3 || p[2].ID != 3 || p[2].HeapMaxBytes != heapSharedBytes {
		t.Errorf("Processes() = %+v", p)
	}
	_, topic := testTopic(t, k, "three", 3, 3)
	k.Brokers()[1].Kill()
	produce(t, k, topic.Name, "with one broker less")
	if err := k.Brokers()[1].Restart(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if n := len(k.Processes()); n != 3 {
		t.Errorf("%d brokers after the restart", n)
	}
	if got := consume(t, k, topic.Name, 1); got["with one broker less"] != 1 {
		t.Errorf("consumed %v", got)
	}
	if err := k.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantGone(t, k)
}

func TestBrokerThatDies(t *testing.T) {
	home := testHome(t)
	start := func(opts KafkaOptions) error {
		k, err := home.StartKafka(testContext(t), opts)
		if err == nil {
			_ = k.Stop(context.Background())
		}
		wantEmpty(t, home)
		return err
	}
	t.Run("while starting", func(t *testing.T) {
		err := start(KafkaOptions{Config: map[string]string{"metric.reporters": "no.such.Reporter"}})
		wantError(t, err, ErrUnavailable, "broker 1 died while starting", "no.such.Reporter", "config")
	})
	t.Run("in the formatter", func(t *testing.T) {
		err := start(KafkaOptions{Config: map[string]string{"num.io.threads": "none"}})
		wantError(t, err, ErrUnavailable, "format broker 1", "num.io.threads", "config")
	})
	t.Run("for a JVM option", func(t *testing.T) {
		err := start(KafkaOptions{JVM: []string{"-XX:NoSuchOption"}})
		wantError(t, err, ErrUnavailable, "broker 1 died while starting", "NoSuchOption", "jvm")
	})
	t.Run("in the middle", func(t *testing.T) {
		k := startKafka(t, home, KafkaOptions{})
		// As the kernel would, and not through the cluster's own Kill.
		if err := syscall.Kill(k.Brokers()[0].PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for k.Brokers()[0].Alive() {
			time.Sleep(time.Millisecond)
		}
		wantError(t, k.Stop(testContext(t)), ErrUnavailable, "broker 1 died during the run (signal: killed)", "logs", k.Dir())
		if _, err := os.Stat(k.Brokers()[0].LogPath()); err != nil {
			t.Errorf("the log is not kept: %v", err)
		}
		if _, err := home.Reap(testContext(t), nil); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(k.Dir()); err != nil {
			t.Errorf("Reap removed logs that were to be kept: %v", err)
		}
	})
}

// wantEmpty fails if there is a cluster's folder in home.
func wantEmpty(t *testing.T, home Home) {
	t.Helper()
	entries, err := os.ReadDir(home.Clusters)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), folderPrefix) {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

// wantError fails unless err is of that kind and says all of these words.
func wantError(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v, want one of kind %q", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not mention %q:\n%v", word, err)
		}
	}
}

func TestPortTaken(t *testing.T) {
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port

	t.Run("that was found free", func(t *testing.T) {
		picks := 0
		k := startKafka(t, testHome(t), KafkaOptions{pickPorts: func(n int) ([]int, error) {
			ports, err := freePorts(n)
			if picks++; picks == 1 {
				ports[0] = taken
			}
			return ports, err
		}})
		if picks != 2 {
			t.Errorf("ports were picked %d times", picks)
		}
		if err := k.Stop(testContext(t)); err != nil {
			t.Error(err)
		}
	})
	t.Run("that was asked for", func(t *testing.T) {
		home := testHome(t)
		_, err := home.StartKafka(testContext(t), KafkaOptions{Ports: []int{taken}})
		wantError(t, err, ErrUnavailable, fmt.Sprintf("port %d on 127.0.0.1 is taken", taken), "another port")
		wantEmpty(t, home)
	})
}

func TestStartInterrupted(t *testing.T) {
	home := testHome(t)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	var pid identity
	_, err := home.StartKafka(ctx, KafkaOptions{pickPorts: func(n int) ([]int, error) {
		go func() { // interrupt when the broker runs, but is not ready
			for ctx.Err() == nil {
				paths, _ := filepath.Glob(filepath.Join(home.Clusters, folderPrefix+"*", "broker-1.pid"))
				if len(paths) == 1 {
					pid, _ = readPID(paths[0])
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		return freePorts(n)
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("StartKafka() = %v", err)
	}
	if pid.PID == 0 || pid.running() {
		t.Errorf("the broker %+v still runs", pid)
	}
	wantEmpty(t, home)
}
