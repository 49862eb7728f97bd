//go:build full

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/project/needs"
)

func startKafka(t *testing.T, home Home, opts KafkaOptions) *Kafka {
	t.Helper()
	needs.Kafka.Require(t)
	opts.Progress = func(s string) { t.Log(s) }
	k, err := home.StartKafka(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Stop(context.Background()) })
	return k
}

func TestOneBroker(t *testing.T) {
	k := startKafka(t, testHome(t), KafkaOptions{Config: map[string]string{"num.io.threads": "3"}})
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
	produce(t, k, topic.Name, "here")
	if got := consume(t, k, topic.Name, 1); got["here"] != 1 {
		t.Errorf("consumed %v", got)
	}
	wantMetrics(t, k)
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

func wantClassArchive(t *testing.T, k *Kafka) {
	t.Helper()
	if k.classes == "" {
		t.Error("the broker started without a class archive")
	}
	if runtime.GOOS != "linux" {
		return // only Linux shows what a process has mapped
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", k.Brokers()[0].PID()))
	if err != nil || !strings.Contains(string(maps), k.classes) {
		t.Errorf("the class archive %s does not fit (%v)", k.classes, err)
	}
}

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

func TestFindJava(t *testing.T) {
	needs.Kafka.Require(t)
	java, err := FindJava(testContext(t))
	if err != nil || java.Version == "" {
		t.Errorf("FindJava() = %+v, %v", java, err)
	}
}

func TestAskedPortTaken(t *testing.T) {
	needs.Kafka.Require(t)
	listener, taken := takePort(t)
	defer listener.Close()
	home := testHome(t)
	_, err := home.StartKafka(testContext(t), KafkaOptions{Ports: []int{taken}})
	wantError(t, err, ErrUnavailable, fmt.Sprintf("port %d on 127.0.0.1 is taken", taken), "stop the process")
	wantEmpty(t, home)
}

func takePort(t *testing.T) (listener net.Listener, port int) {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	return listener, listener.Addr().(*net.TCPAddr).Port
}
