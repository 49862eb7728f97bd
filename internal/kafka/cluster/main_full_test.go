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
)

// helperVariable makes the test binary a helper process. Its value is a part and the clusters folder.
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

// play runs a helper process. It prints a line when its part is done.
func play(part, dir string) error {
	home, err := UserHome()
	if err != nil {
		return err
	}
	home.Clusters = dir
	ctx := context.Background()
	switch part {
	case "owner", "orphaning owner": // starts a cluster and waits to be killed
		k, err := home.StartKafka(ctx, KafkaOptions{orphaned: part != "owner"})
		if err != nil {
			return err
		}
		fmt.Println(k.Dir(), k.Brokers()[0].PID())
		select {}
	case "up": // starts a long-lived cluster and ends
		n, err := home.Up(ctx, DefaultName, KafkaOptions{})
		if err != nil {
			return err
		}
		fmt.Println(n.Dir())
		return nil
	case "bystander": // does nothing
		time.Sleep(time.Minute)
		return nil
	case "watchdog": // ends the long-lived cluster when its parent has ended
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return home.Down(ctx, DefaultName)
	}
	return fmt.Errorf("no part %q", part)
}

// startHelper starts the test binary in another part, and kills it when the test ends.
func startHelper(t *testing.T, part string, home Home) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
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
