//go:build proof

package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

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

func TestPortTaken(t *testing.T) {
	listener, taken := takePort(t)
	defer listener.Close()
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
}

func TestKilledBrokerComesBack(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{Config: map[string]string{
		"broker.session.timeout.ms": "2000", // otherwise the broker could not register again so soon
	}})
	broker := k.Brokers()[0]
	pid, endpoint := broker.PID(), k.MetricsEndpoints()[0]
	_, topic := testTopic(t, k, "one", 2, 1)
	produce(t, k, topic.Name, "before")
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
	if again := k.MetricsEndpoints(); again[0] != endpoint {
		t.Errorf("after a restart: %+v", again)
	}
	wantMetrics(t, k)
	if err := k.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestStartInterrupted(t *testing.T) {
	home := testHome(t)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	var pid identity
	_, err := home.StartKafka(ctx, KafkaOptions{pickPorts: func(n int) ([]int, error) {
		go func() {
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

func TestBrokerWithoutAgent(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{NoMetrics: true})
	if endpoints := k.MetricsEndpoints(); len(endpoints) != 0 {
		t.Errorf("endpoints %+v", endpoints)
	}
	if line, err := commandLine(k.Brokers()[0].PID()); err != nil || strings.Contains(line, "-javaagent") {
		t.Errorf("the broker runs with an agent: %s, %v", line, err)
	}
	if err := k.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
}
