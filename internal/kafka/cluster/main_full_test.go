//go:build full

package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/project/needs"
)

const helperVariable = "KAFKA_BENCH_TEST_HELPER"

func TestMain(m *testing.M) {
	if part, dir, ok := strings.Cut(os.Getenv(helperVariable), ":"); ok {
		if err := play(part, dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func play(part, dir string) error {
	home, err := UserHome()
	if err != nil {
		return err
	}
	home.Clusters = dir
	ctx := context.Background()
	switch part {
	case "owner", "orphaning owner":
		k, err := home.StartKafka(ctx, KafkaOptions{orphaned: part != "owner"})
		if err != nil {
			return err
		}
		fmt.Println(k.Dir(), k.Brokers()[0].PID())
		select {}
	case "up":
		n, err := home.Up(ctx, DefaultName, KafkaOptions{})
		if err != nil {
			return err
		}
		fmt.Println(n.Dir())
		return nil
	case "bystander":
		time.Sleep(time.Minute)
		return nil
	case "watchdog":
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return home.Down(ctx, DefaultName)
	}
	return fmt.Errorf("no part %q", part)
}

func startHelper(t *testing.T, part string, home Home) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	needs.Kafka.Require(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+part+":"+home.Clusters)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, stdin, bufio.NewReader(stdout)
}
